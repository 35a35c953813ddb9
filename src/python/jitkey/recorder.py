"""Records a program's own calls: what each was given, in the words of a case, and which layers it missed.

`with jitkey.recording(file):` or `python -m jitkey record script.py`. Nothing of the program is wrapped or replaced: the
`__call__` of the classes that `jax.jit` and `equinox.filter_jit` return is hooked, so that functions that were jitted before
are recorded as well, and keep their identity. A recording is JSON lines: the first says what runs, and each other is a call
that was made outside of any trace, or what is known no longer. Arrays are written as avals, never their contents.

Objects are named, and held weakly: the end of each is recorded. Those whose class has an `__eq__` of its own are written as
values, which are the same if `==` and hash said so when they were met.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import inspect
import json
import math
import os
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import jax
import numpy as np
from jax._src import config as jax_config
from jax._src import core, pjit
from jax._src.tree_util import default_registry

from . import environment, flags
from .dtypes import dtype_name
from .errors import Unsupported, describe
from .imports import when_imported
from .observe import EVENTS, LAYERS
from .record import Recorder

VERSION = 1
"""Of the format of recordings."""

KNOWN = 4096
"""Signatures that are known, at most."""

TEXT = 60
"""Characters of an object's text, at most."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)

_JAX = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep

_VECTORCALL = 1 << 11
"""Py_TPFLAGS_HAVE_VECTORCALL"""

_A_JIT = jax.jit(lambda: None)

_active: Recording | None = None


class _Local(threading.local):
    """Of each thread: whether it is inside of a recorded call, and what that call has missed so far."""

    inside = False
    missed: set[str] | None = None
    inferring = 0
    """How many frames of `_infer_params` are open: what is traced outside of them is no body of the program's."""
    codes: frozenset[types.CodeType] = frozenset()
    """Those of the functions under the call. If there are none, jax's own trace event has to do, which fires for less."""


_local = _Local()


@contextlib.contextmanager
def recording(file: str | os.PathLike[str] = "recording.jsonl") -> Iterator[Recording]:
    """Records the calls that are made inside, to a file that `jitkey explain` reads.

    Raises `RuntimeError` if a recording is under way already.
    """
    global _active
    if _active is not None:
        raise RuntimeError("a recording is under way already")
    _install()
    with open(file, "w", encoding="utf-8") as stream:
        _active = Recording(stream)
        put_back = _replace()
        try:
            yield _active
        finally:
            _active = None
            put_back()


class Recording:
    """A recording under way."""

    def __init__(self, stream: TextIO) -> None:
        self.calls = 0
        """How many calls were recorded."""
        self._stream = stream
        self._lock = threading.RLock()
        self._objects = _Objects()
        self._known: dict[Any, int] = {}
        self._wrappers: dict[int, dict[str, Any] | None] = {}
        self._flags = {name: _flag(name) for name in jax.config._value_holders}
        self._usual = len(jax_config.trace_context())
        self._contexts: dict[Any, dict[str, Any] | None] = {}
        # The backend is the program's to choose: it isn't asked for.
        self._write({"recording": VERSION, "about": environment.versions()})

    def call(self, api: str, wrapper: Any, args: Any, kwargs: Any, original: Callable[..., Any], via: str = "call") -> Any:
        """Makes the call and records it, if the function is the program's own."""
        key = id(wrapper)
        with self._lock:
            if key not in self._wrappers:
                weakref.finalize(wrapper, self._wrappers.pop, key, None).atexit = False
                self._wrappers[key] = self._describe(api, wrapper)
            wrapped = self._wrappers[key]
        if wrapped is None:
            return original(wrapper, *args, **kwargs)
        return self._watched(
            {"api": api, "name": wrapped["name"], "at": wrapped["at"]},
            lambda: {**self._call_of(wrapped, args, kwargs), "via": via},
            lambda: original(wrapper, *args, **kwargs),
            wrapped["codes"],
            via,
            self._signature((key, via), wrapped["options"], args, kwargs),
        )

    def loop(self, name: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Makes an eager call of a function of `jax.lax` and records it."""
        try:
            given = inspect.signature(original).bind(*args, **kwargs)
        except TypeError:
            return original(*args, **kwargs)
        functions = [value for value in given.args if callable(value)]
        functions += [value for values in given.args if isinstance(values, (list, tuple)) for value in values if callable(value)]
        last = _code(functions[-1]) if functions else None
        return self._watched(
            {"api": f"lax.{name}", "name": f"lax.{name}", "at": _place(last)},
            lambda: self._loop_of(given),
            lambda: _profiled(lambda: original(*args, **kwargs)),
            _codes(functions),
        )

    def _loop_of(self, given: inspect.BoundArguments) -> dict[str, Any]:
        parameters = given.signature.parameters
        behind = list(parameters).index("length") if "length" in parameters else len(parameters)
        others = [
            name
            for i, (name, parameter) in enumerate(parameters.items())
            if (i > behind or parameter.kind is parameter.KEYWORD_ONLY)
            and name in given.arguments
            and repr(given.arguments[name]) != repr(parameter.default)
        ]
        if others:
            raise Unsupported(f"recording the option {', '.join(others)}")
        given.apply_defaults()
        args = given.args[:4] if "length" in given.arguments else given.args
        values = [self._objects.value(arg) for arg in args]
        if "cond_fun" in given.arguments:
            self._objects.returns_a_truth_value(values[0])
        return {"args": values, "context": self._context()}

    def _watched(
        self,
        line: dict[str, Any],
        describes: Callable[[], dict[str, Any]],
        runs: Callable[[], Any],
        codes: frozenset[types.CodeType],
        via: str = "call",
        signature: Any = None,
    ) -> Any:
        """Describes the call before it runs, since it may donate or change what it is given; one like an earlier call, by that."""
        with self._lock:
            line["from"] = _caller()
            if self._objects.lost_some():
                self._known.clear()
            try:
                signature, earlier = self._earlier(signature)
                if earlier is None:
                    line["call"] = describes()
                else:
                    line["again"] = earlier
            except Unsupported as error:
                line["unrecorded"] = str(error)
            except Exception as error:  # What a program passes can raise whatever it likes when it is looked at.
                line["unrecorded"] = f"{type(error).__name__} while the arguments were looked at"
            line |= self._objects.news()
            if "dropped" in line:
                self._known.clear()
        _local.inside, _local.missed, _local.inferring, _local.codes = True, set(), 0, codes
        try:
            return runs()
        except BaseException as error:
            line["error"] = describe(error)
            raise
        finally:
            missed = _local.missed or set()
            if via != "call":
                missed.discard("dispatch")
            _local.inside, _local.missed = False, None
            line["missed"] = [layer for layer in LAYERS if layer in missed]
            with self._lock:
                self.calls += 1
                if self._write(line) and signature is not None and "call" in line and "dropped" not in line:
                    if len(self._known) >= KNOWN:
                        self._known.clear()
                    self._known[signature] = self.calls

    def _signature(self, what: Any, options: dict[str, Any], args: Any, kwargs: Any) -> Any:
        """What calls have in common that are described alike; None if that can't be said quickly."""
        numbers, names = _statics(options, args)
        try:
            statics = [args[i] for i in numbers if i < len(args)] + [kwargs[name] for name in names if name in kwargs]
            traced = [arg for i, arg in enumerate(args) if i not in numbers] if numbers else args
            named = {name: arg for name, arg in kwargs.items() if name not in names} if names else kwargs
            leaves, treedef = jax.tree_util.tree_flatten((traced, named))
            parts = map(self._leaf_signature, [*statics, *leaves])
            signature = (what, len(args), tuple(kwargs), treedef, tuple(parts))
            hash(signature)
        except Exception:  # Flattening and hashing run the program's own code.
            return None
        return signature

    def _leaf_signature(self, leaf: Any) -> Any:
        """Raises `Unsupported` for an object that isn't known yet."""
        if isinstance(leaf, jax.Array):
            if leaf.is_deleted():
                raise Unsupported("recording an array that was deleted")
            return (leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False), leaf._committed, leaf.sharding)
        kind = type(leaf)
        if kind is np.ndarray:
            return (kind, leaf.shape, leaf.dtype)
        if _is_plain(leaf):
            # Equal numbers of one type can differ: 0.0 and -0.0.
            return (kind, repr(leaf))
        if not self._objects.knows(leaf):
            raise Unsupported("an object that is not known")
        return (kind, id(leaf))

    def _earlier(self, signature: Any) -> tuple[Any, int | None]:
        """The signature with what surrounds the call, and the number of the call that had the same; nothing where that can't
        be said."""
        if signature is None:
            return None, None
        try:
            signature = (signature, jax_config.trace_context())
            return signature, self._known.get(signature)
        except Exception:  # Comparing runs the program's own code.
            return None, None

    def cleared(self, scope: str) -> None:
        """Records that caches were cleared."""
        with self._lock:
            self._known.clear()
            self._write({"clear": scope})

    def _call_of(self, wrapped: dict[str, Any], args: Any, kwargs: Any) -> dict[str, Any]:
        if "unknown" in wrapped:
            raise Unsupported(wrapped["unknown"])
        options = wrapped["options"]
        numbers, names = _statics(options, args)
        if not all(map(_NAME.match, kwargs)):
            raise Unsupported("recording a keyword that isn't ASCII")
        value, static = self._objects.value, self._objects.static
        return {
            "function": value(wrapped["function"]()),
            "wrapper": wrapped["wrapper"],
            "args": [static(arg) if i in numbers else value(arg) for i, arg in enumerate(args)],
            "kwargs": {name: static(arg) if name in names else value(arg) for name, arg in kwargs.items()},
            "options": options,
            "context": self._context(),
        }

    def _describe(self, api: str, wrapper: Any) -> dict[str, Any] | None:
        """What belongs to the wrapper; None if it is a library's own."""
        fun = getattr(wrapper, "__wrapped__", None)
        body, code = _body(fun), _code(fun)
        file = os.path.abspath(code.co_filename) if code is not None else ""
        if fun is None or file.startswith((_JAX, _HERE)):
            return None
        known = {"name": getattr(body, "__name__", type(body).__name__), "at": _place(code), "wrapper": self._objects.fresh("wrapper")}
        # What is held for a wrapper must not hold its function.
        known["function"] = functools.partial(_wrapped, weakref.ref(wrapper))
        known["codes"] = _codes([fun])
        try:
            known["options"] = _jit_options(wrapper) if api == "jax.jit" else _filter_jit_options(wrapper)
        except Exception as error:  # A version of jax that keeps them elsewhere.
            known["options"], known["unknown"] = {}, f"recording the options of a wrapper ({type(error).__name__})"
        return known

    def _context(self) -> dict[str, Any]:
        """What surrounds the call and isn't as it was when the recording began.

        Raises `Unsupported` for what a case has no words for.
        """
        now = jax_config.trace_context()
        while len(now) > self._usual and (now[-1] is None or now[-1] is False):
            # Each kind of context that a library makes adds one, which says nothing before it is entered.
            now = now[:-1]
        if now not in self._contexts:
            context = self._described(now)
            known = [other for other in self._contexts.values() if other is not None]
            self._contexts[now] = None if context in known else context
        found = self._contexts[now]
        if found is None:
            raise Unsupported("recording what surrounds the call")
        return found

    def _described(self, now: tuple[Any, ...]) -> dict[str, Any]:
        values = {name: _flag(name) for name in self._flags}
        changed = {name: value for name, value in values.items() if value != self._flags[name]}
        context: dict[str, Any] = {"x64": True} if values["jax_enable_x64"] else {}
        device = values.get("jax_default_device")
        if device is not None:
            context["default_device"] = device if isinstance(device, str) else device.id
        forms = {name: flags.form(value) for name, value in changed.items() if name not in flags.OUTSIDE}
        if forms:
            context["flags"] = forms
        meshes = [mesh for part in now if isinstance(part, tuple) for mesh in part if isinstance(mesh, jax.sharding.Mesh)]
        if len(meshes) == 1:
            context["mesh"] = dict(meshes[0].shape)
            context["mesh_devices"] = [device.id for device in meshes[0].devices.flat]
        of_users = [value for value in now[self._usual :] if value is not None and value is not False]
        if len(of_users) == 1:
            context["user"] = self._objects.static(of_users[0])
        return context

    def _write(self, line: dict[str, Any]) -> bool:
        """Writes a line, and says whether all of it could be written."""
        whole = True
        try:
            text = json.dumps(line, allow_nan=False)
        except (TypeError, ValueError) as error:
            said = {name: part for name, part in line.items() if name != "call"}
            text = json.dumps({**said, "unrecorded": f"the call can't be written: {error}"})
            whole = False
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # The disk is full, or the recording is over and a thread still runs: nothing of that is the program's.
            whole = False
        return whole


class _Objects(Recorder):
    """The names of classes and objects, with the ends of those that are held weakly."""

    def __init__(self) -> None:
        super().__init__()
        self._by_id: dict[int, tuple[str, Any]] = {}
        self._by_hash: dict[tuple[type, int], list[tuple[str, Any]]] = {}
        self._texts: set[tuple[type, str]] = set()
        self._dropped: list[str] = []
        self._count = 0
        self._told: set[str] = set()

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{re.sub(r'[^A-Za-z0-9_]', '_', stem)}_{self._count}"

    def news(self) -> dict[str, Any]:
        """What was not said yet: new classes and objects, and which are gone."""
        said: dict[str, Any] = {}
        for word, all_of_them in (("classes", self.classes), ("objects", self.objects)):
            fresh = {name: form for name, form in all_of_them.items() if name not in self._told}
            self._told.update(fresh)
            if fresh:
                said[word] = fresh
        self.objects.clear()
        gone, self._dropped = self._dropped, []
        if gone:
            said["dropped"] = gone
        return said

    def returns_a_truth_value(self, written: Any) -> None:
        """Says of a function, if it is new, that it is the condition of a loop."""
        form = self.objects.get(written.get("ref"), {})
        if "def" in form:
            form["def"]["returns"] = False

    def knows(self, value: Any) -> bool:
        """Whether the object has a name already."""
        known = self._by_id.get(id(value))
        return known is not None and known[1]() is value

    def lost_some(self) -> bool:
        """Whether an object is gone that no line has said so of."""
        return bool(self._dropped)

    def static(self, value: Any) -> Any:
        """A value that is compared and hashed as a whole."""
        return self._named(value)

    def _named(self, value: Any) -> Any:
        if _is_plain(value):
            return self.value(value)
        if type(value) in (tuple, list) or (type(value) is dict and all(type(key) is str for key in value)):
            # Compared part by part, each by identity first.
            if type(value) is dict:
                return {"dict": {key: self._named(part) for key, part in value.items()}}
            parts = [self._named(part) for part in value]
            return {"tuple": parts} if type(value) is tuple else parts
        if isinstance(value, types.MethodType):
            of, function = self._named(value.__self__), self._named(value.__func__)
            return {"ref": self._stand_in((types.MethodType, of.get("ref"), function.get("ref")), value)}
        if self.knows(value):
            return {"ref": self._by_id[id(value)][0]}
        return {"ref": self._weakly(value)}

    def _stand_in(self, key: Any, value: Any) -> str:
        """The name for all that have one key of this module's own."""
        entries = self._by_hash.setdefault((type(key), hash(key)), [])
        for name, known in entries:
            if known == key:
                return name
        name = self._add(value)
        entries.append((name, key))
        return name

    def _weakly(self, value: Any) -> str:
        key = id(value)
        name = self._add(value)

        def gone(_: Any) -> None:
            known = self._by_id.get(key)
            if known is not None and known[0] == name:
                del self._by_id[key]
            self._dropped.append(name)

        self._by_id[key] = (name, _held(value, gone))
        return name

    def _add(self, value: Any) -> str:
        name = self.fresh(getattr(value, "__name__", type(value).__name__))
        if isinstance(value, types.FunctionType):
            self.objects[name] = {"def": {"name": _function_text(value), **_params(self, value)}}
        elif type(value) is type(_A_JIT):
            self.objects[name] = {"wrap": {"by": "jit", "func": self._named(value.__wrapped__)}}
        elif type(value).__eq__ is object.__eq__ or _has_arrays(value):
            # To compare arrays is to run a program of jax's, which a recording must not.
            self.objects[name] = {"object": {"called": _text(value)}}
        else:
            self.objects[name] = self._equal_to_others(value)
        return name

    def _equal_to_others(self, value: Any) -> dict[str, Any]:
        """An instance whose value says which others it is equal to."""
        try:
            key, hashed = (type(value), hash(value)), "value"
        except Exception:  # It can't be hashed, or its hash raises: it is compared with all of its class.
            key, hashed = (type(value), 0), "none"
        entries = self._by_hash.setdefault(key, [])
        entries[:] = [(text, held) for text, held in entries if held() is not None]
        for text, held in entries:
            try:
                if bool(held() == value):
                    break
            except Exception:  # What can't be compared is not the same.
                continue
        else:
            text, number = _text(value), 1
            while (type(value), text) in self._texts:
                number += 1
                text = f"{_text(value)} ({number})"
            self._texts.add((type(value), text))
            entries.append((text, _held(value, None)))
        form = {"plain": {"eq": "value", "hash": hashed, "callable": callable(value)}}
        return {"new": {"class": self._class(value, form), "value": {"str": text}}}

    def _instance(self, value: Any) -> Any:
        """A registered dataclass by its fields, so that its leaves have their names; a number of a class of its own."""
        for base in (int, float, str):
            if isinstance(value, base) and not isinstance(value, np.generic):
                form = {"subclass": {"of": base.__name__}}
                return {"new": {"class": self._class(value, form), "value": self.value(base(value))}}
        if dataclasses.is_dataclass(value) and not _is_module(value):
            try:
                children, _ = default_registry.flatten_one_level(value)
            except (TypeError, ValueError):
                return self._named(value)
            fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
            data = [name for name, part in fields.items() if any(part is child for child in children)]
            if len(data) == len(list(children)) and not (set(data) & {name for name in fields if not _NAME.match(name)}):
                meta = [name for name in fields if name not in data]
                form = {"dataclass": {"data": data, "meta": meta}}
                parts = {name: self.value(fields[name]) if name in data else self._named(fields[name]) for name in fields}
                return {"new": {"class": self._class(value, form), "fields": parts}}
        return super()._instance(value)


def _held(value: Any, gone: Callable[[Any], None] | None) -> Callable[[], Any]:
    """A weak reference, or the object itself where it has none: a tuple or a dict that belongs to a class."""
    try:
        return weakref.ref(value, gone)
    except TypeError:
        return functools.partial(_itself, value)


def _itself(value: Any) -> Any:
    return value


def _has_arrays(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_arrays, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(_has_arrays, value))
    return isinstance(value, jax.Array)


def _wrapped(wrapper: Callable[[], Any]) -> Any:
    return wrapper().__wrapped__


def _statics(options: dict[str, Any], args: Any) -> tuple[list[int], list[str]]:
    """The positions and names of static arguments."""
    numbers = options.get("static_argnums", ())
    return [number if number >= 0 else number + len(args) for number in numbers], options.get("static_argnames", [])


def _is_module(value: Any) -> bool:
    equinox: Any = sys.modules.get("equinox")
    return equinox is not None and isinstance(value, equinox.Module)


def _is_plain(value: Any) -> bool:
    if value is None or type(value) in (bool, int, str):
        return True
    if type(value) is float:
        # Each nan is an object of its own.
        return not math.isnan(value)
    return type(value) is tuple and all(_is_plain(item) for item in value)


def _text(value: Any) -> str:
    """An object for a reader, without what its `__repr__` would do."""
    if isinstance(value, (np.dtype, type)):
        return str(value)[:TEXT]
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
        shown = [f"{name}={part!r}" if _is_plain(part) else f"{name}=…" for name, part in fields.items()]
        return f"{type(value).__name__}({', '.join(shown)})"[:TEXT]
    body = _body(value)
    if isinstance(body, types.FunctionType) and body is not value:
        return f"<{type(value).__name__} of {_function_text(body)}>"
    if type(value) in (list, dict, set, frozenset) and len(value) <= 4:
        parts = [item for pair in value.items() for item in pair] if type(value) is dict else list(value)
        if all(_is_plain(part) for part in parts):
            return repr(value)[:TEXT]
    return f"<{type(value).__name__}>"


def _function_text(function: types.FunctionType) -> str:
    return f"{function.__qualname__} at {_place(function.__code__)}"


def _body(function: Any) -> Any:
    """The Python function inside partials, methods and wrappers."""
    for _ in range(16):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif not isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return function


def _code(function: Any) -> types.CodeType | None:
    """The code that runs when the function is called, if it is Python's."""
    body = _body(function)
    if not isinstance(body, types.FunctionType):
        body = _body(getattr(type(body), "__call__", None))
    return body.__code__ if isinstance(body, types.FunctionType) else None


def _codes(functions: list[Any]) -> frozenset[types.CodeType]:
    return frozenset(code for function in functions if (code := _code(function)) is not None)


def _profiled(runs: Callable[[], Any]) -> Any:
    """What `runs` returns; whether one of the functions under the call runs meanwhile is seen by Python's profiler, unless the
    program has one."""
    codes, missed = _local.codes, _local.missed
    if not codes or missed is None or sys.getprofile() is not None:
        return runs()

    def profile(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            missed.add("trace")
            if sys.getprofile() is profile:
                sys.setprofile(None)

    sys.setprofile(profile)
    try:
        return runs()
    finally:
        if sys.getprofile() is profile:
            sys.setprofile(None)


def _place(code: types.CodeType | None) -> str | None:
    return None if code is None else f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"


def _caller() -> str | None:
    """Where the program makes the call: the first frame that is neither this package's nor a library's hook."""
    frame: Any = sys._getframe(1)
    equinox: Any = sys.modules.get("equinox")
    inside = [_HERE, _JAX] + ([os.path.dirname(equinox.__file__) + os.sep] if equinox is not None else [])
    while frame is not None:
        if not frame.f_code.co_filename.startswith(tuple(inside)):
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def _params(objects: _Objects, function: types.FunctionType) -> dict[str, Any]:
    """The parameters of a function; nothing if a case has no words for them."""
    params: list[Any] = []
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return {}
    starred = False
    for parameter in signature.parameters.values():
        if not _NAME.match(parameter.name):
            return {}
        if parameter.kind is parameter.VAR_POSITIONAL:
            params.append(f"*{parameter.name}")
            starred = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            params.append(f"**{parameter.name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not starred:
                params.append("*")
                starred = True
            if parameter.default is parameter.empty:
                params.append(parameter.name)
            else:
                params.append({"name": parameter.name, "default": objects.value(parameter.default)})
    return {"params": params}


def _jit_options(wrapper: Any) -> dict[str, Any]:
    """The options of a `jax.jit`. Raises nothing: what a case has no word for is left out."""
    info = getattr(wrapper, "_jit_info", None)
    if info is None:  # jax 0.4 has it in the closure of what a miss calls.
        miss = inspect.unwrap(wrapper._cache_miss)
        cells = dict(zip(miss.__code__.co_freevars, miss.__closure__ or (), strict=True))
        info = cells["jit_info"].cell_contents
    options: dict[str, Any] = {}
    for name in ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"):
        if getattr(info, name):
            options[name] = list(getattr(info, name))
    for name in ("keep_unused", "inline"):
        if getattr(info, name) is True:
            options[name] = True
    if getattr(info, "compiler_options_kvs", ()):
        options["compiler_options"] = {name: {"str": value} if isinstance(value, str) else value for name, value in info.compiler_options_kvs}
    return options


def _filter_jit_options(wrapper: Any) -> dict[str, Any]:
    donated = (getattr(wrapper, "donate_first", False), getattr(wrapper, "donate_rest", False))
    word = {(True, True): "all", (False, True): "all-except-first"}.get(donated)
    if word is None:
        return {}
    return {"donate": word if wrapper.filter_warning else word.replace("all", "warn", 1)}


def _flag(name: str) -> Any:
    """The value of a flag in this thread, contexts included."""
    holder = jax.config._value_holders[name]
    return getattr(holder, "value", None)


def _hooked(api: str, original: Callable[..., Any], via: str = "call") -> Callable[..., Any]:
    @functools.wraps(original, updated=())
    def hook(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        recording = _active
        if recording is None or _local.inside or not core.trace_state_clean():
            return original(self, *args, **kwargs)
        return recording.call(api, self, args, kwargs, original, via)

    return hook


LOOPS = ("while_loop", "fori_loop", "scan", "map", "cond", "switch")
"""The functions of `jax.lax` that have caches where they are called outside of jit."""


def _replace() -> Callable[[], None]:
    """Puts hooks into every module that has one of jax.lax's loops or clears caches, but for jax's own; what is returned takes
    them out."""
    hooks = {id(original): _loop_hooked(name, original) for name in LOOPS if (original := getattr(jax.lax, name))}
    hooks[id(jax.clear_caches)] = _clearing_hooked("jax", jax.clear_caches)
    replaced: list[tuple[dict[str, Any], str, Any, Any]] = []
    for module in list(sys.modules.values()):
        namespace = getattr(module, "__dict__", None)
        name = getattr(module, "__name__", "")
        if not isinstance(namespace, dict) or (name not in ("jax", "jax.lax") and name.partition(".")[0] == "jax"):
            continue
        for attribute, value in list(namespace.items()):
            hook = hooks.get(id(value))
            if hook is not None:
                replaced.append((namespace, attribute, value, hook))
                namespace[attribute] = hook

    def put_back() -> None:
        for namespace, attribute, value, hook in replaced:
            # The program may have put something else there.
            if namespace.get(attribute) is hook:
                namespace[attribute] = value

    return put_back


def _loop_hooked(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        recording = _active
        if recording is None or _local.inside or not core.trace_state_clean():
            return original(*args, **kwargs)
        return recording.loop(name, original, args, kwargs)

    return hook


def _clearing_hooked(scope: str, original: Callable[[], None]) -> Callable[[], None]:
    @functools.wraps(original)
    def hook() -> None:
        if _active is not None:
            _active.cleared(scope)
        original()

    return hook


_installed: list[str] = []


def _install() -> None:
    """Puts the hooks in place, once for the process."""
    if not _installed:
        _installed.append("hooks")
        made = type(_A_JIT)
        made.__call__ = _hooked("jax.jit", made.__call__)
        _calls_go_through(made)
        for via in ("trace", "lower", "eval_shape"):
            # Every jax.jit puts these into the class again. Before jax 0.6 each wrapper has its own, which are not recorded.
            if hasattr(pjit, f"jit_{via}"):
                method = _hooked("jax.jit", getattr(pjit, f"jit_{via}"), via)
                setattr(pjit, f"jit_{via}", method)
                setattr(made, via, method)
        infer_params = pjit._infer_params

        def hook(*args: Any, **kwargs: Any) -> Any:
            missed = _local.missed
            if missed is None:
                return infer_params(*args, **kwargs)
            missed.add("dispatch")
            _local.inferring += 1
            try:
                return _profiled(lambda: infer_params(*args, **kwargs))
            finally:
                _local.inferring -= 1

        pjit._infer_params = hook
        jax.monitoring.register_event_duration_secs_listener(_listen)
        when_imported("equinox", hook_equinox)


def hook_equinox() -> None:
    """Puts the hooks of equinox in place, once for the process."""
    if "equinox" in _installed:
        return
    _installed.append("equinox")
    equinox: Any = sys.modules["equinox"]
    made = type(equinox.filter_jit(lambda: None))
    made.__call__ = _hooked("equinox.filter_jit", made.__call__)
    equinox.clear_caches = _clearing_hooked("equinox", equinox.clear_caches)


def _listen(event: str, _duration: float, **_: Any) -> None:
    missed, what = _local.missed, EVENTS.get(event)
    if missed is None or what is None:
        return
    # What lowering traces is no body of the program's.
    if what != "trace event":
        missed.add(what)
    elif _local.inferring and not _local.codes:
        missed.add("trace")


def _calls_go_through(made: type) -> None:
    """Before Python 3.12 a class goes on being called by its vectorcall, whatever its `__call__` is assigned."""
    if sys.version_info >= (3, 12):
        return
    word = ctypes.c_ulong.from_address(id(made) + _flags_offset(made))
    word.value &= ~_VECTORCALL
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))


def _flags_offset(made: type) -> int:
    """Where `tp_flags` stands in a type object: the word that `__flags__` shows."""
    size = ctypes.sizeof(ctypes.c_ulong)
    for offset in range(0, type.__basicsize__, size):
        if ctypes.c_ulong.from_address(id(made) + offset).value == made.__flags__:
            return offset
    raise RuntimeError("this Python's types have no flags where they should be")
