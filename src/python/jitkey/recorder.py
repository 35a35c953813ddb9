"""Records a program's own calls: what each was given, in the words of a case, and which layers it missed.

`with jitkey.recording(file):` or `python -m jitkey record script.py`. A recording is JSON lines: the first says what runs, and
each other is a call that was made outside of any trace, a clearing, an aside: a call that is none of these and leaves something
in the caches, or a compile beside the calls, of what jax and libraries jit themselves. Arrays are written as avals, never their
contents, but for the bounds of a `fori_loop`, whose distance is part of the program. Objects are named, and held weakly: the end
of each is recorded. Those whose class has an `__eq__` of its own are written as values, which are the same if `==` and hash said
so when they were met.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import inspect
import itertools
import json
import os
import pathlib
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Iterator
from operator import attrgetter
from typing import Any, TextIO

import jax
import numpy as np
from jax._src import config as jax_config
from jax._src.array import ArrayImpl
from jax.sharding import NamedSharding

from . import environment, flags, hooks
from .errors import Unsupported, describe
from .hooks import local
from .objects import A_JIT, Objects, is_cell, taken
from .observe import LAYERS
from .options import OfTheCall, filter_jit_options, jit_options, set_mesh
from .parameters import NAME
from .record import explicit_axes, is_module
from .source import (
    asked_by,
    attributes,
    body,
    caller,
    code,
    codes,
    has_public,
    is_called_by_program,
    is_made,
    is_program,
    is_wrapper,
    own_name,
    place,
    programs_line,
    transformation_name,
    transformations,
    wrapper_name,
    written_at,
)
from .texts import is_plain

VERSION = 1
"""Of the format of recordings."""

KNOWN = 4096
"""Signatures that are known, and contexts, at most."""
ALIKE = 4096
"""Avals and shardings that are known by their ids, and kinds of them, at most."""
PATIENCE = 2.0
"""Seconds that a call waits while another thread's arguments are looked at, which can run code of the program's that waits for
this thread."""
LOOP_OPTIONS = ("reverse", "unroll")
"""Options of loops that a case has words for."""
GOES_TO = {"trace": {"trace"}, "eval_shape": {"trace"}, "lower": {"trace", "lower"}}
"""The layers to which what is done ahead of time goes."""
_Signature = Hashable
"""What calls have in common that are described alike."""
_encode = json.JSONEncoder(allow_nan=False).encode


_one = threading.Lock()
"""Held while a recording is under way."""


@contextlib.contextmanager
def recording(file: str | os.PathLike[str] = "recording.jsonl") -> Iterator[Recording]:
    """Records the calls that are made inside, to a file that `jitkey explain` reads.

    Raises `RuntimeError` if a recording is under way already.
    """
    if not _one.acquire(blocking=False):
        raise RuntimeError("a recording is under way already")
    with contextlib.ExitStack() as undone:
        undone.callback(_one.release)
        hooks.install()
        stream = undone.enter_context(open(file, "w", encoding="utf-8"))
        begun = Recording(stream)
        undone.callback(hooks.replace())
        hooks.active = begun
        try:
            yield begun
        finally:
            hooks.active = None


@dataclasses.dataclass
class _Wrapper:
    """What is known of a jitted function, without holding it."""

    name: str
    at: str | None
    ref: str
    """Its own name in the recording."""
    function: Callable[[], Any]
    codes: frozenset[types.CodeType]
    options: dict[str, Any]
    of_call: Callable[[Any], dict[str, Any]] | None = None
    """What the options are of a call with these dynamic positional arguments, if they speak of what isn't there before."""
    unknown: str | None = None
    """Why its options can't be recorded."""
    known_reads: weakref.WeakKeyDictionary[type, tuple[str, ...]] = dataclasses.field(default_factory=weakref.WeakKeyDictionary)

    @functools.cached_property
    def donates(self) -> bool:
        """Whether it takes the buffers of what it is given."""
        return any(name.startswith("donate") for name in self.options)

    def reads(self, made: type) -> tuple[str, ...]:
        """The attributes of an instance of the class of which the functions under the call speak."""
        names = self.known_reads.get(made)
        if names is None:
            names = self.known_reads[made] = tuple(sorted(attributes(self.codes, made)))
        return names

    def statics(self, args: Any) -> tuple[list[int], list[str]]:
        """The positions and names of its static arguments."""
        numbers = self.options.get("static_argnums", ())
        return [number if number >= 0 else number + len(args) for number in numbers], self.options.get("static_argnames", [])


def _wrapped(wrapper: Any) -> Any:
    """The function that is jitted. What `copy` makes of a wrapper has it, too, but no attributes."""
    if type(wrapper) is type(A_JIT) and not hasattr(wrapper, "__wrapped__"):
        return wrapper.__getstate__().get("fun")
    return getattr(wrapper, "__wrapped__", None)


def _twice(leaves: list[Any]) -> set[int]:
    """The ids of the arrays that are among the leaves more than once."""
    if len(set(map(id, leaves))) == len(leaves):
        return set()
    counts = collections.Counter(id(leaf) for leaf in leaves if type(leaf) is ArrayImpl)
    return {key for key, count in counts.items() if count > 1}


class Recording:
    """A recording under way."""

    def __init__(self, stream: TextIO) -> None:
        self.calls = 0
        """How many calls were recorded."""
        self.file = pathlib.Path(stream.name)
        self.thread = threading.get_ident()
        """Which thread has begun it."""
        self._stream = stream
        self._describing, self._writing = threading.RLock(), threading.RLock()
        self._objects = Objects()
        self._known = _Known()
        self._alike = _Alike()
        self._wrappers: dict[int, _Wrapper | None] = {}
        self._ended: list[str] = []
        self._begun = 0
        self._stages: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()
        """What `trace` and `lower` made, with the API and the number of the call, since caches were cleared."""
        self._flags = {name: _flag(name) for name in jax.config._value_holders}
        self._untraced = [holder for name, holder in jax.config._value_holders.items() if name in flags.UNTRACED]
        self._usual = len(jax_config.trace_context())
        self._contexts: dict[Any, dict[str, Any] | None] = {}
        # The backend is the program's to choose: it isn't asked for.
        self._write({"recording": VERSION, "about": environment.versions()})

    @property
    def begun(self) -> int:
        """The number of the call that was begun last."""
        return self._begun

    def flush(self) -> None:
        """Writes down what was recorded so far."""
        with self._writing:
            self._stream.flush()

    def call(self, api: str, wrapper: Any, args: Any, kwargs: Any, original: Callable[..., Any], via: str = "call") -> Any:
        """Makes the call and records it, if the function is the program's own."""
        wrapped = self._wrapper(api, wrapper)
        by = asked_by() if wrapped is not None and via in ("trace", "eval_shape") else None
        if by == "library":
            # It is no call of the program's, and can leave the jaxpr of one of its functions.
            self.traced(api, wrapper, args, kwargs, via)
        if wrapped is None or by is not None:
            return original(wrapper, *args, **kwargs)
        local.inside = True
        try:
            reads = self._reads(wrapped, args, kwargs)
            signature = self._signature((wrapped.ref, via, reads), wrapped, args, kwargs, by_type=api == "jax.jit")
        finally:
            local.inside = False
        line: dict[str, Any] = {"api": api, "name": wrapped.name, "at": wrapped.at, "wrapper": wrapped.ref}
        made = self._watched(
            line,
            lambda: {**self._call_of(api, wrapped, args, kwargs), "via": via, **_said(reads)},
            lambda: original(wrapper, *args, **kwargs),
            wrapped.codes,
            via,
            signature,
        )
        if via in ("trace", "lower"):
            self._stage_is(made, (api, line["number"]))
        return made

    def traced(self, api: str, wrapper: Any, args: Any, kwargs: Any, via: str) -> None:
        """Records a call that was made inside of a trace, as an aside: the jaxpr that it left serves later calls."""
        inside, local.inside, local.describing = local.inside, True, True
        try:
            # What is looked at raises whatever it likes, and nothing of that is the program's.
            with contextlib.suppress(Exception):
                wrapped = self._wrapper(api, wrapper)
                if wrapped is not None and self._describing.acquire(timeout=PATIENCE):
                    try:
                        self._describe_traced(api, wrapped, args, kwargs, "lower" if via == "lower" else "trace")
                    finally:
                        self._describing.release()
        finally:
            local.inside, local.describing = inside, False

    def _describe_traced(self, api: str, wrapped: _Wrapper, args: Any, kwargs: Any, via: str) -> None:
        reads = self._reads(wrapped, args, kwargs)
        signature = self._signature((wrapped.ref, "inside", via, reads), wrapped, args, kwargs, by_type=api == "jax.jit")
        self._known.forget(self._objects.dropped)
        if self._known.call(signature) is not None:
            return
        self._objects.begin()
        aside: dict[str, Any] | None = None
        with contextlib.suppress(Exception):  # A case has no words for it, or what is looked at raises.
            call = {**self._call_of(api, wrapped, args, kwargs), "via": via, **_said(reads)}
            aside = {"api": api, "wrapper": wrapped.ref, "call": call}
        news = self._objects.news()
        self._known.forget(news.get("dropped", []))
        if (aside or news) and self._aside(aside, news) and signature is not None:
            self._known.remember(signature, self._begun, frozenset(self._objects.used))

    def went_on(self, stage: Any, via: str, made: Any) -> None:
        """Records that what `trace` made was lowered, or what `lower` made compiled."""
        with contextlib.suppress(TypeError):
            call = self._stages.pop(_stage(stage), None)
            if call is not None:
                self._aside({"api": call[0], "again": call[1], "via": via}, {})
                self._stage_is(made, call)

    def _stage_is(self, stage: Any, call: tuple[str, int]) -> None:
        with contextlib.suppress(TypeError):
            self._stages[_stage(stage)] = call

    def _aside(self, aside: dict[str, Any] | None, news: dict[str, Any]) -> bool:
        return self._write({"aside": aside, "after": self._begun, **news})

    def compiled_beside(self, name: str | None) -> None:
        """Records that something was compiled outside of the recorded calls: an operation, or a function that a library jits."""
        named = {} if name is None else {"name": name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name}
        self._write({"beside": {**named, "from": programs_line()}, "after": self._begun})

    def loop(self, name: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Makes an eager call of a function of `jax.lax` and records it."""
        try:
            given = inspect.signature(original).bind(*args, **kwargs)
        except TypeError:
            return original(*args, **kwargs)
        if name == "switch":
            functions = list(given.args[1]) if isinstance(given.args[1], (list, tuple)) else []
        else:
            # What is given to them can be callable as well: a Module.
            functions = [value for value in given.args if callable(value)][: 2 if name in ("while_loop", "cond") else 1]
        last = code(functions[-1]) if functions else None
        return self._watched(
            {"api": f"lax.{name}", "name": f"lax.{name}", "at": place(last)},
            lambda: self._loop_of(given),
            lambda: hooks.watched_loop(lambda: original(*args, **kwargs)),
            codes(functions),
        )

    def lead_to(self, file: str) -> None:
        """From now on this process writes to another file."""
        other = os.open(file, os.O_WRONLY)
        os.dup2(other, self._stream.fileno())
        os.close(other)

    def evicted(self, wrapper: Any) -> None:
        """Records that the caches of one function were cleared, if it was called before."""
        wrapped = self._wrappers.get(id(wrapper))
        if wrapped is not None:
            self.cleared({"wrapper": wrapped.ref})

    def cleared(self, scope: Any) -> None:
        """Records that caches were cleared."""
        self._known.forget_all()
        self._stages.clear()
        self._write({"clear": scope, "after": self._begun})

    def _watched(
        self,
        line: dict[str, Any],
        describes: Callable[[], dict[str, Any]],
        runs: Callable[[], Any],
        codes: frozenset[types.CodeType],
        via: str = "call",
        signature: _Signature | None = None,
    ) -> Any:
        """Describes the call before it runs, since it may donate or change what it is given; one like an earlier call, by that."""
        # What describing runs of the program's own is no call of it.
        local.inside = True
        line["from"] = caller()
        used: frozenset[str] = frozenset()
        try:
            if self._describing.acquire(timeout=PATIENCE):
                try:
                    used = self._describe_into(line, describes, signature)
                finally:
                    self._describing.release()
            else:
                self._begin(line)
                line["unrecorded"] = "recording it while what another thread passes was looked at"
        except BaseException:
            # The program was interrupted.
            local.inside = False
            raise
        local.inside, local.missed, local.inferring, local.codes, local.effect, local.beside = True, set(), 0, codes, None, False
        try:
            return runs()
        except BaseException as error:
            line["error"] = describe(error)
            raise
        finally:
            missed = local.missed or set()
            # What else is made meanwhile is made for an operation outside of the program.
            missed &= GOES_TO.get(via, missed)
            if local.effect is not None:
                line["effect"] = local.effect
            local.inside, local.missed = False, None
            line["missed"] = [layer for layer in LAYERS if layer in missed]
            is_whole = self._write(line)
            if is_whole and signature is not None and "call" in line and self._describing.acquire(timeout=PATIENCE):
                try:
                    self._known.remember(signature, line["number"], used)
                finally:
                    self._describing.release()

    def _describe_into(
        self, line: dict[str, Any], describes: Callable[[], dict[str, Any]], signature: _Signature | None
    ) -> frozenset[str]:
        """Adds to the line what the call is given, or the number of the call that was given the same. Returns the names of the
        objects of which it speaks."""
        self._begin(line)
        self._known.forget(self._objects.dropped)
        earlier = self._known.call(signature)
        self._objects.begin()
        if earlier is not None:
            line["again"] = earlier
        else:
            try:
                line["call"] = describes()
            except Unsupported as error:
                line["unrecorded"] = str(error)
            except Exception as error:  # What a program passes can raise whatever it likes when it is looked at.
                line["unrecorded"] = f"{type(error).__name__} while the arguments were looked at"
        line |= self._objects.news()
        self._known.forget(line.get("dropped", []))
        ended = taken(self._ended)
        if ended:
            line["ended"] = ended
        return frozenset(self._objects.used)

    def _begin(self, line: dict[str, Any]) -> None:
        """Numbers the call: lines are written as calls end, which threads do in another order."""
        with self._writing:
            self._begun += 1
            line["number"] = self._begun

    def _signature(self, what: Any, wrapped: _Wrapper, args: Any, kwargs: Any, *, by_type: bool) -> _Signature | None:
        """What calls have in common that are described alike; None if that can't be said quickly. `by_type` leaves out the values
        of numbers, which are none of the key of a jaxpr that is given them as arrays."""
        numbers, names = wrapped.statics(args)
        try:
            statics = [args[i] for i in numbers if i < len(args)] + [kwargs[name] for name in names if name in kwargs]
            traced = [arg for i, arg in enumerate(args) if i not in numbers] if numbers else args
            named = {name: arg for name, arg in kwargs.items() if name not in names} if names else kwargs
            leaves, treedef = jax.tree_util.tree_flatten((traced, named))
            if wrapped.donates and _twice(leaves):
                return None
            parts: list[Any] = [self._leaf_signature(static) for static in statics]
            add, known, number_of = parts.append, self._alike.by_id.get, self._alike.number
            last = looks = sharding = mesh = spec = kind = stands = None
            for leaf in leaves:
                if type(leaf) is ArrayImpl and not leaf.is_deleted():
                    # Most are like the one before, stand where it does, and aren't committed. What was made anew for each of them is
                    # compared with that one, which is faster than to look for it.
                    aval = leaf.aval
                    if aval is not last:
                        found = known(id(aval))
                        if found is not None:
                            looks = found[1]
                        elif last is None or aval != last:
                            looks = number_of(aval)
                        last = aval
                    add(looks)
                    here = leaf.sharding
                    if here is not sharding:
                        sharding, is_named = here, type(here) is NamedSharding
                        # As `_parts_of_sharding` compares them.
                        if not (
                            is_named
                            and here.mesh is mesh
                            and (here.spec is spec or here.spec == spec)
                            and getattr(here, _MEMORY_KIND) == kind
                        ):
                            found = known(id(here))
                            number = number_of(here) if found is None else found[1]
                            mesh, spec, kind = _parts_of_sharding(here) if is_named else (None, None, None)
                            if number != stands:
                                add(number)
                                stands = number
                    if leaf._committed:
                        add(True)
                elif isinstance(leaf, jax.core.Tracer):
                    aval = leaf.aval
                    # Up to jax 0.4 it can have the value, and comparing two of these runs programs.
                    add((type(aval), aval.shape, aval.dtype, aval.weak_type, getattr(aval, "sharding", None)))
                elif by_type and _is_known_by_type(leaf):
                    add(type(leaf))
                else:
                    add(self._leaf_signature(leaf))
            key = (what, len(args), tuple(kwargs), treedef, tuple(parts), jax_config.trace_context(), self._beside())
            hash(key)
        except Exception:  # Flattening, comparing and hashing run the program's own code.
            return None
        return key

    def _reads(self, wrapped: _Wrapper, args: Any, kwargs: Any) -> tuple[tuple[str, str], ...]:
        """What the function reads of its static arguments and of the object whose method it is, where no key sees it."""
        function = wrapped.function()
        owners = [function.__self__] if type(function) is types.MethodType else []
        numbers, names = wrapped.statics(args)
        if not (owners or numbers or names):
            return ()
        statics = [args[i] for i in numbers if i < len(args)] + [kwargs[name] for name in names if name in kwargs]
        try:
            cells = [cell for cell in [*owners, *statics] if is_cell(cell)]
            return tuple(read for cell in cells for read in self._objects.reads(cell, wrapped.reads(type(cell))))
        except Exception:  # What is looked at raises.
            return ()

    def _leaf_signature(self, leaf: Any) -> Any:
        """Raises `Unsupported` for what can't be said quickly."""
        kind = type(leaf)
        if isinstance(leaf, np.ndarray):
            return (kind, leaf.shape, leaf.dtype)
        if is_plain(leaf):
            # Equal numbers of one type can differ: 0.0 and -0.0.
            return (kind, repr(leaf))
        name = self._objects.name_of(leaf)
        if name is None:
            raise Unsupported("an object that is not known")
        return (kind, name)

    def _call_of(self, api: str, wrapped: _Wrapper, args: Any, kwargs: Any) -> dict[str, Any]:
        if wrapped.unknown is not None:
            raise Unsupported(wrapped.unknown)
        numbers, names = wrapped.statics(args)
        if not all(map(NAME.match, kwargs)):
            raise Unsupported("recording a keyword that isn't ASCII")
        value, static, function = self._objects.value, self._objects.static, self._objects.as_called(wrapped.function())
        dynamic = [arg for i, arg in enumerate(args) if i not in numbers]
        self._objects.donates |= wrapped.donates
        self._objects.converts = self._objects.asks = api == "jax.jit"
        if wrapped.donates:
            self._objects.twice = _twice(jax.tree_util.tree_leaves((args, kwargs)))
        self._objects.given = args, kwargs
        if api == "equinox.filter_jit" and not wrapped.options and is_module(function):
            args, kwargs = _by_name(function, args, kwargs)
        try:
            return {
                # A method of a Module is made anew each time that it is asked for.
                "function": self._objects.one(function) if function is wrapped.function() else value(function),
                "args": [static(arg) if i in numbers else value(arg) for i, arg in enumerate(args)],
                "kwargs": {name: static(arg) if name in names else value(arg) for name, arg in kwargs.items()},
                "options": wrapped.options if wrapped.of_call is None else wrapped.of_call(dynamic),
                "context": self._context(),
            }
        finally:
            # What the program lets go of is gone.
            self._objects.given = None

    def _loop_of(self, given: inspect.BoundArguments) -> dict[str, Any]:
        parameters = given.signature.parameters
        behind = list(parameters).index("length") if "length" in parameters else len(parameters)
        others = [
            name
            for i, (name, parameter) in enumerate(parameters.items())
            if (i > behind or parameter.kind is parameter.KEYWORD_ONLY)
            and name in given.arguments
            and name != "operand"
            and repr(given.arguments[name]) != repr(parameter.default)
        ]
        options = {name: given.arguments[name] for name in others}
        if type(options.get("batch_size")) is int:
            # lax.map wraps its function anew each time, whatever it is made to take at once.
            del options["batch_size"]
        for name, option in options.items():
            if name not in LOOP_OPTIONS or type(option) not in (bool, int):
                raise Unsupported(f"recording the option {name}")
        self._objects.converts, self._objects.asks = True, False
        # As a branch was given its only operand once.
        operand = [given.arguments["operand"]] if "operand" in given.arguments else []
        given.apply_defaults()
        args = given.args[:4] if "length" in given.arguments else (*given.args, *operand)
        written = {"lower": self._bound, "upper": self._bound}
        # There are more operands than names.
        named = zip(itertools.chain(parameters, itertools.repeat("")), args, strict=False)
        values = [written.get(name, self._objects.value)(self._objects.as_called(arg)) for name, arg in named]
        if any("array_ref" in form for form in self._objects.objects.values() if isinstance(form, dict)):
            raise Unsupported("recording a loop over a reference")
        if "cond_fun" in given.arguments:
            self._objects.returns_a_truth_value(values[0])
        return {"args": values, "kwargs": options, "context": self._context()}

    def _wrapper(self, api: str, wrapper: Any) -> _Wrapper | None:
        """What belongs to the wrapper; None if it is a library's own."""
        key = id(wrapper)
        if key not in self._wrappers:
            described = self._describe(api, wrapper)
            if self._wrappers.setdefault(key, described) is described:
                end: Any = weakref.finalize(wrapper, self._end, key)
                end.atexit = False
        return self._wrappers[key]

    def _end(self, key: int) -> None:
        wrapped = self._wrappers.pop(key)
        if wrapped is not None:
            self._ended.append(wrapped.ref)

    def _describe(self, api: str, wrapper: Any) -> _Wrapper | None:
        fun = _wrapped(wrapper)
        inner, written = body(fun), code(fun)
        of_library = written is not None and not is_program(written)
        if fun is None or (of_library and not has_public(fun) and not (is_made(inner) and is_called_by_program())):
            return None
        name = own_name(inner)
        by = transformations(fun)
        if by:
            name = " of ".join([*map(transformation_name, by), name])
        elif isinstance(fun, functools.partial):
            name = f"partial of {name}"
        elif api == "equinox.filter_jit" and is_wrapper(fun):
            name = f"{wrapper_name(fun)} of {name}"
        options, unknown, of_call = {}, None, None
        held = weakref.ref(wrapper)
        try:
            if not hasattr(wrapper, "__wrapped__"):
                raise Unsupported("recording a copy of a jitted function")
            options = jit_options(wrapper) if api == "jax.jit" else filter_jit_options(wrapper)
        except OfTheCall as error:
            options, of_call = error.others, lambda args: jit_options(held(), args)
        except Unsupported as error:
            unknown = str(error)
        except Exception as error:  # A version of jax that keeps them elsewhere.
            unknown = f"recording the options of a wrapper ({type(error).__name__})"
        return _Wrapper(
            name=name,
            at=place(written_at(fun)),
            ref=self._objects.fresh("wrapper"),
            function=lambda: _wrapped(held()),
            # jax's own functions keep what they were traced to.
            codes=frozenset() if of_library else codes([fun]),
            options=options,
            of_call=of_call,
            unknown=unknown,
        )

    def _context(self) -> dict[str, Any]:
        """What surrounds the call and isn't as it was when the recording began.

        Raises `Unsupported` for what a case has no words for.
        """
        now = jax_config.trace_context()
        while len(now) > self._usual and (now[-1] is None or now[-1] is False):
            # Each kind of context that a library makes adds one, which says nothing before it is entered.
            now = now[:-1]
        key = (now, self._beside())
        if key not in self._contexts:
            if len(self._contexts) >= KNOWN:
                self._contexts.clear()
            context = self._described(now)
            known = [other for other in self._contexts.values() if other is not None]
            self._contexts[key] = None if context in known else context
        found = self._contexts[key]
        if found is None:
            raise Unsupported("recording what surrounds the call")
        return found

    def _beside(self) -> tuple[Any, ...]:
        """What surrounds the call and is no part of the trace context."""
        return (set_mesh(), *[holder.value for holder in self._untraced])

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
        concrete = set_mesh()
        for word, mesh in [("mesh", mesh) for mesh in meshes[:1]] + [("set_mesh", concrete)] * (concrete is not None):
            explicit = explicit_axes(mesh)
            if explicit is not None:
                context[word] = dict(mesh.shape)
                context["mesh_devices"] = [device.id for device in mesh.devices.flat]
                context |= {"mesh_explicit": explicit} if explicit else {}
        of_users = [value for value in now[self._usual :] if value is not None and value is not False]
        if len(of_users) == 1:
            context["user"] = self._objects.static(of_users[0])
        return context

    def _write(self, line: dict[str, Any]) -> bool:
        """Writes a line, and says whether all of it could be written."""
        whole = True
        try:
            text = _encode(line)
        except (TypeError, ValueError, RecursionError) as error:
            said = {name: part for name, part in line.items() if name not in ("call", "aside")}
            try:
                text = _encode({**said, "unrecorded": f"the call can't be written: {error}"})
            except (TypeError, ValueError, RecursionError):
                return False
            whole = False
        with self._writing:
            self.calls += "api" in line
            try:
                self._stream.write(text + "\n")
                if "again" not in line and "beside" not in line:
                    # A program that is killed loses no more than the hits after its last miss.
                    self._stream.flush()
            except (OSError, ValueError):
                # The disk is full, or the recording is over and a thread still runs: nothing of that is the program's.
                whole = False
            return whole


    def _bound(self, value: Any) -> Any:
        """The bound of a loop: how many steps there are is part of the program, whatever holds the number."""
        form = self._objects.value(value)
        is_number = isinstance(value, (jax.Array, np.ndarray)) and value.ndim == 0 and value.dtype.kind in "iu"
        return f"{form}={int(value)}" if is_number and isinstance(form, str) else form


def _by_name(module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """What a Module is called with by name, if all of it has one: `filter_jit` binds it so, and cases have no parameters of Modules."""
    try:
        signature = inspect.signature(module)
        named = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return args, kwargs
    kinds = {signature.parameters[name].kind for name in named}
    has_names = kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return ((), named) if has_names and all(map(NAME.match, named)) else (args, kwargs)


def _is_known_by_type(leaf: Any) -> bool:
    """Whether a call that is given a number as an array does with it what it does with each of its type. An int that no 32 bits
    hold can be too large for its dtype."""
    kind = type(leaf)
    if kind is int:
        return -(2**31) <= leaf < 2**31
    return kind in (float, bool, complex) or (isinstance(leaf, np.generic) and leaf.dtype.kind in "biufc")


_MEMORY_KIND = "_memory_kind" if "_memory_kind" in NamedSharding.__annotations__ else "memory_kind"
"""Where a sharding has it; `memory_kind` is a property, which takes longer."""

_parts_of_sharding = attrgetter("mesh", "spec", _MEMORY_KIND)
"""What tells two of them apart."""


class _Alike:
    """Avals and shardings, each with the number of all that are equal to it: their ids are found faster than they compare."""

    def __init__(self) -> None:
        self.by_id: dict[int, tuple[Any, int]] = {}
        """They are held, so that their ids are theirs alone."""
        self._numbers: dict[Any, int] = {}
        # A number is never given again, and 1 is equal to True.
        self._count = itertools.count(2)

    def number(self, value: Any) -> int:
        """That of an aval or a sharding that isn't known by its id."""
        # Up to jax 0.4 a sharding of P("x") and one of P(("x",)) are equal, and they are written otherwise.
        kind = _parts_of_sharding(value) if type(value) is NamedSharding else value
        number = self._numbers.get(kind)
        if number is None:
            if len(self._numbers) >= ALIKE:
                self._numbers.clear()
            number = self._numbers[kind] = next(self._count)
        if len(self.by_id) >= ALIKE:
            self.by_id.clear()
        self.by_id[id(value)] = value, number
        return number


class _Known:
    """The calls that were described, by their signatures."""

    def __init__(self) -> None:
        self._calls: dict[Any, int] = {}
        self._using: dict[str, list[Any]] = {}

    def call(self, signature: _Signature | None) -> int | None:
        """The number of the call that had the same."""
        if signature is None:
            return None
        try:
            return self._calls.get(signature)
        except Exception:  # Comparing runs the program's own code.
            return None

    def remember(self, signature: _Signature, number: int, used: frozenset[str]) -> None:
        """That call `number` had it, whose description names the objects `used`."""
        if len(self._calls) >= KNOWN:
            self.forget_all()
        try:
            self._calls[signature] = number
        except Exception:  # As above.
            return
        for name in used:
            self._using.setdefault(name, []).append(signature)

    def forget(self, names: list[str]) -> None:
        """The objects of these names are gone."""
        for name in names:
            for key in self._using.pop(name, ()):
                with contextlib.suppress(Exception):
                    self._calls.pop(key, None)

    def forget_all(self) -> None:
        """Nothing is known any more."""
        self._calls.clear()
        self._using.clear()


def _said(reads: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {"reads": dict(reads)} if reads else {}


def _stage(stage: Any) -> Any:
    """What is the same of a stage in whatever it is wrapped: equinox wraps what jax's `lower` makes, and jax what does it."""
    stage = getattr(stage, "lowered", stage)
    return getattr(stage, "_lowering", stage)


def _flag(name: str) -> Any:
    """The value of a flag in this thread, contexts included."""
    holder = jax.config._value_holders[name]
    return getattr(holder, "value", None)
