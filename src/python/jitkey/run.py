"""Runs cases, one after the other, so that none can notice that another was there."""

from __future__ import annotations

import builtins
import functools
import gc
import importlib
import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax

from . import classes, contexts, control_flow, digest, environment, flags, functions, memo, observe, outputs
from .build import NOTHING, Builder
from .errors import Malformed, Unsupported, describe

MODULES = {"jax.jit": "jax_jit", "equinox.filter_jit": "equinox_filter_jit", "flax.nnx.jit": "flax_nnx_jit"}

CLEARED_EVERY = 250
"""Cases between two clearings of all caches, which bound memory and give the lent classes back."""

ERRORS_PER_THREAD = 20
"""Calls that raise before their thread is replaced. For each container around what jaxlib can't flatten, the thread loses one
level of Python's recursion limit for good (`FlattenImpl` in `jaxlib/pytree.cc` throws past `Py_LeaveRecursiveCall`), until
everything raises RecursionError."""

STACK = 256 * 2**20
"""Bytes of the thread's stack, of which the system gives what is used: as deep as cases are, so deep is what builds them."""

SET_UP_ANEW = ("flags", "x64", "default_device", "mesh", "mesh_devices", "mesh_explicit")
"""The parts of a context under which jax sets up its own operations again."""

VIAS_ON_THE_FAST_PATH = ("call", "vmap", "grad", "jvp")


class Runner:
    """Runs cases on one target."""

    def __init__(self, target: str) -> None:
        self.target: Any = control_flow.TARGETS.get(target)
        if self.target is None:
            self.target = importlib.import_module(f".{MODULES[target]}", __package__)
        else:
            functions.bodies_return(self.target.body)
        # Importing them empties caches of jax, which the warm-up fills.
        environment.about()
        observe.install(converts=target in control_flow.TARGETS)
        memo.install()
        self.run_since_clearing = 0
        self.warm: set[str] = set()
        self.errors = 0
        self.settled = False
        """Whether what was there before the first case is left alone by the garbage collector."""

    def in_threads(self, answers: Callable[[], bool]) -> None:
        """Calls `answers`, which runs cases until this thread is worn out or there are no more, and says whether there are."""
        threading.stack_size(STACK)
        more = True
        while more:
            with ThreadPoolExecutor(max_workers=1, initializer=self._enter) as thread:
                more = thread.submit(answers).result()

    @property
    def is_worn_out(self) -> bool:
        """Whether the cases to come need another thread."""
        return self.errors > ERRORS_PER_THREAD

    def _enter(self) -> None:
        observe.watch_this_thread()
        self.errors = 0
        self._warm_up({})
        if not self.settled:
            gc.collect()
            gc.freeze()
            gc.set_threshold(100_000, 50, 100)
            self.settled = True

    def _steps(self, case: dict[str, Any], recursion_limit: int, *, shared: bool) -> list[dict[str, Any]]:
        calls = _Run(self.target, case, recursion_limit, shared=shared).steps()
        self.errors += sum("error" in call for call in calls)
        return calls

    def _warm_up(self, context: dict[str, Any], via: str = "call") -> None:
        """A call of each form that the target needs, so that what jax sets up lazily is not put down to a case."""
        for args in getattr(self.target, "examples", [["f32[2]"]]):
            call: dict[str, Any] = {"args": args, "context": context, "via": via}
            self._steps({"steps": [{"call": call}]}, sys.getrecursionlimit(), shared=True)

    def _warm_up_in(self, context: dict[str, Any], via: str) -> None:
        """The same in a context that brings more of it: without jit, or with constants folded, filter_jit's own operations
        run one by one, and up to equinox 0.11 some always do. Each is compiled when it is first met there."""
        key = json.dumps([context, via])
        if context and key not in self.warm:
            self.warm.add(key)
            self._warm_up(context, via)

    def introduce(self) -> dict[str, Any]:
        """What the target is, for the reply to `hello`."""
        features = [f"devices:{len(jax.devices())}", "x64", "source", "mesh", "flags", "vmap", "grad", "stale"]
        features += [name for name in ("equinox", "optax") if environment.optional(name) is not None]
        features += ["compiler_options"] if jax.__version_info__ >= (0, 4, 36) else []
        return {
            "implementation": self.target.name,
            "version": jax.__version__,
            "layers": list(observe.LAYERS),
            "features": features,
            "flags": flags.registry(),
            "about": environment.about(),
        }

    def run(self, case: dict[str, Any], recursion_limit: int, text: bytes) -> dict[str, Any]:
        """The result of one case, which `text` is."""
        if case.get("devices", 1) > len(jax.devices()):
            raise Unsupported(f"devices:{case['devices']}")
        meets_strangers = _compares_with_anything(case, text)
        # A case that donates destroys the buffers that it is given. That can also hide in the source of a function.
        donates = b"donate" in text or b"delete" in text
        if self.run_since_clearing >= CLEARED_EVERY or meets_strangers or _calls_a_global(case):
            self.clear()
        # What is traced only sets up less.
        traced = all("call" in step and step["call"].get("via") == "trace" for step in case["steps"])
        for context in [case.get("context", {}), *filter(None, map(_context, case["steps"]))]:
            set_up = {name: context[name] for name in SET_UP_ANEW if name in context}
            self._warm_up_in(set_up, "trace" if traced else "call")
        self.run_since_clearing += 1
        try:
            return {"result": {"calls": self._steps(case, recursion_limit, shared=not donates)}}
        finally:
            if meets_strangers or any("clear" in step or "fill" in step for step in case["steps"]):
                self.run_since_clearing = CLEARED_EVERY

    def clear(self) -> None:
        """Empties every cache, so that nothing remembers the cases before."""
        equinox: Any = sys.modules.get("equinox")
        if equinox is not None:
            equinox.clear_caches()
        jax.clear_caches()
        gc.collect()
        classes.reclaim()
        self.warm.clear()
        self._warm_up({})
        self.run_since_clearing = 0


class _Run:
    """One run of one case."""

    def __init__(self, target: Any, case: dict[str, Any], recursion_limit: int, *, shared: bool) -> None:
        self.target, self.case, self.recursion_limit = target, case, recursion_limit
        self.options = case.get("options", {})
        self.incomparable = not shared or any(map(_raises_in_comparison, case.get("classes", {}).values()))
        """Whether a second call would be another one: the buffers are gone, or comparing with what the first call left
        raises."""
        self.builder = Builder(case, shared=shared)
        self.function = case.get("function", {"def": {}})
        self.own = None if _is_ref(self.function) else self.builder.value(self.function)
        self.wrappers: dict[tuple[int, str], tuple[Any, Any]] = {}
        """A wrapper with its function, by the function's identity and the options: user code makes each once."""
        self.later: list[Callable[[], None]] = []
        """Comparisons with an empty cache that wait for the last step, so that no call of the case sees what they leave."""

    def steps(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        contexts.begin()
        digest.begin(
            wanted=any("call" in step and step["call"].get("via", "call") == "call" for step in self.case["steps"]),
            probing="flags" in json.dumps([self.case.get("context"), *map(_context, self.case["steps"])]),
        )
        for step in self.case["steps"]:
            ((kind, content),) = step.items()
            if kind == "call":
                calls.append(self._call(content, len(calls) + 1))
                if "error" in calls[-1] and not self._is_kept(content):
                    # Up to 0.6 an error's traceback and the function form a cycle, in which it would outlive the call.
                    gc.collect()
            elif kind == "fill":
                self._fill(content)
            elif kind == "drop":
                self._drop(content)
            elif kind == "mutate":
                self.builder.mutate(content)
            elif kind == "delete":
                self.builder.delete(content)
            elif kind == "donate":
                self.builder.donate(content)
            elif kind == "clear":
                self._clear(content)
            else:
                raise Unsupported(f"the step {kind}")
        for compare in self.later:
            compare()
        return calls

    def _fill(self, fill: dict[str, Any]) -> None:
        """Many calls of which nothing is asked but that they leave something in the caches."""
        call = fill["call"]
        options = self._options(self.options if call.get("options") is None else call["options"])
        context = contexts.merged(self.case.get("context", {}), call.get("context", {}))
        for nth in range(fill["calls"]):
            self.builder.nth = nth
            function = self._function(call.get("function"))
            args, kwargs = self.builder.all(call.get("args", [])), self.builder.named(call.get("kwargs", {}))
            with contexts.entered(context, self.builder.value):
                wrapper = self._wrapper(function, options, kept=self._is_kept(call), name=call.get("wrapper"))
                entry = self.target.entry(wrapper, call.get("via", "call"))
                entry = observe.in_thread(entry) if call.get("thread") == "other" else entry
                try:
                    entry(*args, **kwargs)
                except Unsupported:
                    raise
                except Exception as error:
                    raise Malformed(f"a call that fills the caches raises {type(error).__name__}: {error}") from None

    def _waits(self) -> bool:
        """Whether comparisons can wait: they hold arguments and functions, whose state and life a case may be about."""
        steps = self.case["steps"]
        return all("call" in step and self._is_kept(step["call"]) for step in steps)

    @staticmethod
    def _is_kept(call: dict[str, Any]) -> bool:
        """Whether the function of the call lives on after it."""
        return call.get("function") is None or _is_ref(call["function"])

    def _function(self, form: Any) -> Any:
        if form is None:
            return self.builder.value(self.function) if self.own is None else self.own
        return self.builder.value(form)

    def _call(self, call: dict[str, Any], number: int) -> dict[str, Any]:
        made_by = None if call.get("compiled") is None else self._maker(call["compiled"])
        function = self._function((made_by or call).get("function"))
        args = self.builder.all(call.get("args", []))
        kwargs = self.builder.named(call.get("kwargs", {}))
        options = (made_by or call).get("options")
        options = self._options(self.options if options is None else options)
        context = contexts.merged(self.case.get("context", {}), call.get("context", {}))
        via = call.get("via", "call")
        missed: list[str] = []
        result: dict[str, Any] = {"missed": missed}
        output: Any = NOTHING
        limit = sys.getrecursionlimit()
        with contexts.entered(context, self.builder.value):
            counted = functions.is_counted(function)
            try:
                if made_by is None:
                    wrapper = self._wrapper(function, options, kept=self._is_kept(call), name=call.get("wrapper"))
                    entry = self.target.entry(wrapper, via)
                else:
                    entry = self.builder.outputs[call["compiled"] - 1]
                if call.get("thread") == "other":
                    entry = observe.in_thread(entry)
                functions.raising, functions.unused = _exception(call.get("raises")), frozenset(call.get("unused", ()))
                sys.setrecursionlimit(self.recursion_limit)
                with observe.observed(missed, counted=counted, dispatched=via in VIAS_ON_THE_FAST_PATH):
                    output = entry(*args, **kwargs)
            except Unsupported:
                raise
            except Exception as error:
                result["error"] = describe(error)
            finally:
                functions.raising, functions.unused = None, frozenset()
                sys.setrecursionlimit(limit)
        if call.get("returns") is not None and output is not NOTHING:
            outputs.check_returns(number, output, self.builder.value(call["returns"]))
        self.builder.outputs.append(output)
        if via == "call" and "trace" in missed:
            result["served"] = "sound"
        elif made_by is not None and any(name.startswith("static") for name in options):
            pass  # The static arguments were not passed again.
        elif via == "call" and not self._waits() and functions.looks_up(function):
            pass  # Tracing it again would fill the caches of what it wraps, which later calls look into.
        elif via == "call" and digest.text_of(output) is not None:
            cold = observe.in_thread(self.target.cold) if call.get("thread") == "other" else self.target.cold
            compare = functools.partial(self._compare, result, output, context, cold, (function, options, args, kwargs))
            if self._waits():
                self.later.append(compare)
            else:
                compare()
        return result

    def _maker(self, number: int) -> dict[str, Any]:
        """The call that made a compiled object."""
        calls = [step["call"] for step in self.case["steps"] if "call" in step]
        if not 1 <= number <= len(self.builder.outputs) or self.builder.outputs[number - 1] is NOTHING:
            raise Malformed(f"call {number} has made no compiled object here")
        if not self._is_kept(calls[number - 1]):
            raise Unsupported("a compiled object whose function is gone")
        return calls[number - 1]

    def _compare(self, result: dict[str, Any], output: Any, context: dict[str, Any], make: Any, call: Any) -> None:
        """Compares the trace that served a call with that of the same call on an empty cache, which `make` makes."""
        warm = digest.text_of(output)
        if warm is None or self.incomparable or "jax_no_tracing" in context.get("flags", {}):
            return
        before, _ = digest.latest()
        try:
            # Some targets compile what they trace, which is no file of the case's.
            with contexts.entered({**context, "persistent_cache": False}, self.builder.value):
                make(*call)
        except Unsupported:  # What the case asks for can't be had a second time.
            return
        except Exception as error:
            result["served"] = {"stale": {"warm": warm[:80], "cold": type(error).__name__}}
            return
        number, cold = digest.latest()
        if number == before:  # The body did not run: what it is wrapped in has a cache of its own.
            return
        if warm == cold:
            result["served"] = "sound"
        else:
            result["served"] = {"stale": dict(zip(("warm", "cold"), digest.differing(warm, cold), strict=True))}

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        built: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        if isinstance(built.get("static_argnames"), tuple):
            # From 0.4.31 to 0.4.35 `jax_jit.parse_arguments` takes names by identity, as a program has them that writes them.
            built["static_argnames"] = tuple(map(sys.intern, built["static_argnames"]))
        if "compiler_options" in built:
            built["compiler_options"] = self.builder.named(built["compiler_options"])
        return built

    def _wrapper(self, function: Any, options: dict[str, Any], *, kept: bool, name: str | None = None) -> Any:
        if not kept:
            return self.target.wrap(function, options)
        key = (id(function), json.dumps([options, name], default=repr) if options or name else "")
        if key not in self.wrappers:
            self.wrappers[key] = (function, self.target.wrap(function, options))
        return self.wrappers[key][1]

    def _drop(self, name: str) -> None:
        dropped = self.builder.ref(name)
        del self.builder.objects[name]
        if not any(dropped is held for held in (self.own, *self.builder.objects.values())):
            self.wrappers = {key: pair for key, pair in self.wrappers.items() if pair[0] is not dropped}
        del dropped
        gc.collect()

    def _clear(self, scope: Any) -> None:
        if isinstance(scope, dict):
            raise Unsupported("clearing what a recorded wrapper has cached")
        if scope == "jax":
            jax.clear_caches()
        elif scope == "equinox":
            equinox: Any = environment.optional("equinox")
            if equinox is None:
                raise Unsupported("equinox")
            equinox.clear_caches()
        elif scope == "function":
            function = self._function(None)
            options = self._options(self.options)
            try:
                wrapper = self._wrapper(function, options, kept=True)
            except (Unsupported, Malformed):
                raise
            except Exception:  # The calls raise it again, and nothing is cached.
                return
            self.target.clear_function(wrapper)
        else:
            raise Malformed(f"there is no cache {scope!r} to clear")


def _context(step: dict[str, Any]) -> Any:
    return step["call"].get("context") if "call" in step else None


def _raises_in_comparison(form: dict[str, Any]) -> bool:
    return form.get("plain", {}).get("eq") in ("raises", "array")


def _is_ref(form: Any) -> bool:
    return isinstance(form, dict) and "ref" in form


def _compares_with_anything(case: dict[str, Any], text: bytes) -> bool:
    """Whether the case, which `text` is, has objects whose `==` raises, or answers with an array, beside whatever it meets.

    jax 0.9 and 0.10 compare statics without looking at their hashes first, in tables that functions of other cases share.
    There such an object would fail the calls of strangers, or its own because of theirs. A NumPy scalar is one, where it
    meets a tuple. On other versions one case in hundreds of thousands has met what an earlier one left. A decimal raises beside
    an equal integer of NumPy's.
    """
    if any(form.get("plain", {}).get("eq") in ("raises", "array") for form in case.get("classes", {}).values()):
        return True
    if b"decimal.Decimal" in text:
        return True
    if not (0, 9) <= jax.__version_info__ < (0, 11):
        return False
    return b"numpy_scalar" in text and b"static_arg" in text


def _exception(name: str | None) -> type[Exception] | None:
    """The exception of that name, if Python has one."""
    found = getattr(builtins, name, None) if name is not None else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def _calls_a_global(case: dict[str, Any]) -> bool:
    """Whether a function under test is or wraps a library's own, whose cache entries other cases may have left."""
    objects = case.get("objects", {})

    def reaches(form: Any) -> bool:
        if isinstance(form, list):
            return any(map(reaches, form))
        if not isinstance(form, dict):
            return False
        if "global" in form or "make" in form:
            return True
        if "ref" in form and len(form) == 1:
            return reaches(objects.get(form["ref"]))
        return any(map(reaches, form.values()))

    forms = [case.get("function"), *(step["call"].get("function") for step in case["steps"] if "call" in step)]
    return any(map(reaches, forms))
