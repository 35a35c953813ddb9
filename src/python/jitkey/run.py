"""Runs cases, one after the other, so that none can notice that another was there."""

from __future__ import annotations

import gc
import importlib
import json
import sys
from typing import Any

import jax

from . import classes, contexts, control_flow, environment, functions, memo, observe, outputs
from .build import NOTHING, Builder
from .errors import Malformed, Unsupported, describe

MODULES = {"jax.jit": "jax_jit", "equinox.filter_jit": "equinox_filter_jit"}

CLEARED_EVERY = 250
"""Cases between two clearings of all caches, which bound memory and give the lent classes back."""

VIAS_ON_THE_FAST_PATH = ("call", "vmap", "grad")


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
        observe.install()
        memo.install()
        self.run_since_clearing = 0
        self._warm_up()
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)

    def _warm_up(self) -> None:
        """Two calls, so that what jax sets up lazily is not put down to a case.

        Without jit, filter_jit's own operations run one by one, and each is compiled when it is first met.
        """
        for args in getattr(self.target, "examples", [["f32[2]"]]):
            call: dict[str, Any] = {"args": args}
            bare = {**call, "context": {"flags": {"jax_disable_jit": True}}}
            _Run(self.target, {"steps": [{"call": call}, {"call": bare}]}, sys.getrecursionlimit(), shared=True).steps()

    def introduce(self) -> dict[str, Any]:
        """What the target is, for the reply to `hello`."""
        features = [f"devices:{len(jax.devices())}", "x64", "source", "mesh", "flags", "vmap"]
        features += [name for name in ("equinox", "optax") if environment.optional(name) is not None]
        features += ["compiler_options"] if jax.__version_info__ >= (0, 4, 36) else []
        return {
            "implementation": self.target.name,
            "version": jax.__version__,
            "layers": list(observe.LAYERS),
            "features": features,
            "about": environment.about(),
        }

    def run(self, case: dict[str, Any], recursion_limit: int, *, donates: bool = False) -> dict[str, Any]:
        """The result of one case. A case that donates destroys the buffers that it is given."""
        if case.get("devices", 1) > len(jax.devices()):
            raise Unsupported(f"devices:{case['devices']}")
        if self.run_since_clearing >= CLEARED_EVERY or _calls_a_global(case):
            self.clear()
        self.run_since_clearing += 1
        try:
            return {"result": {"calls": _Run(self.target, case, recursion_limit, shared=not donates).steps()}}
        finally:
            if any("clear" in step for step in case["steps"]):
                self.run_since_clearing = CLEARED_EVERY

    def clear(self) -> None:
        """Empties every cache, so that nothing remembers the cases before."""
        equinox: Any = sys.modules.get("equinox")
        if equinox is not None:
            equinox.clear_caches()
        jax.clear_caches()
        gc.collect()
        classes.reclaim()
        self._warm_up()
        self.run_since_clearing = 0


class _Run:
    """One run of one case."""

    def __init__(self, target: Any, case: dict[str, Any], recursion_limit: int, *, shared: bool) -> None:
        self.target, self.case, self.recursion_limit = target, case, recursion_limit
        self.options = case.get("options", {})
        self.builder = Builder(case, shared=shared)
        self.function = case.get("function", {"def": {}})
        self.own = None if _is_ref(self.function) else self.builder.value(self.function)
        self.wrappers: dict[tuple[int, str], tuple[Any, Any]] = {}
        """A wrapper with its function, by the function's identity and the options: user code makes each once."""

    def steps(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        for step in self.case["steps"]:
            ((kind, content),) = step.items()
            if kind == "call":
                calls.append(self._call(content, len(calls) + 1))
                if "error" in calls[-1] and not self._is_kept(content):
                    # Up to 0.6 an error's traceback and the function form a cycle, in which it would outlive the call.
                    gc.collect()
            elif kind == "drop":
                self._drop(content)
            elif kind == "mutate":
                self.builder.mutate(content)
            elif kind == "clear":
                self._clear(content)
            else:
                raise Unsupported(f"the step {kind}")
        return calls

    @staticmethod
    def _is_kept(call: dict[str, Any]) -> bool:
        """Whether the function of the call lives on after it."""
        return call.get("function") is None or _is_ref(call["function"])

    def _function(self, form: Any) -> Any:
        if form is None:
            return self.builder.value(self.function) if self.own is None else self.own
        return self.builder.value(form)

    def _call(self, call: dict[str, Any], number: int) -> dict[str, Any]:
        function = self._function(call.get("function"))
        args = self.builder.all(call.get("args", []))
        kwargs = self.builder.named(call.get("kwargs", {}))
        options = self._options(self.options if call.get("options") is None else call["options"])
        context = contexts.merged(self.case.get("context", {}), call.get("context", {}))
        via = call.get("via", "call")
        if via == "grad":
            raise Unsupported("via grad")
        missed: list[str] = []
        result: dict[str, Any] = {"missed": missed}
        output: Any = NOTHING
        limit = sys.getrecursionlimit()
        with contexts.entered(context, self.builder.value):
            counted = functions.is_counted(function)
            try:
                wrapper = self._wrapper(function, options, kept=self._is_kept(call))
                entry = self.target.entry(wrapper, via)
                sys.setrecursionlimit(self.recursion_limit)
                with observe.observed(missed, counted=counted, dispatched=via in VIAS_ON_THE_FAST_PATH):
                    output = entry(*args, **kwargs)
            except Unsupported:
                raise
            except Exception as error:
                result["error"] = describe(error)
            finally:
                sys.setrecursionlimit(limit)
        if call.get("returns") is not None and output is not NOTHING:
            outputs.check_returns(number, output, self.builder.value(call["returns"]))
        self.builder.outputs.append(output)
        return result

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        built = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        if "compiler_options" in built:
            built["compiler_options"] = self.builder.named(built["compiler_options"])
        return built

    def _wrapper(self, function: Any, options: dict[str, Any], *, kept: bool) -> Any:
        if not kept:
            return self.target.wrap(function, options)
        key = (id(function), json.dumps(options, default=repr))
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

    def _clear(self, scope: str) -> None:
        if scope == "jax":
            jax.clear_caches()
        elif scope == "equinox":
            equinox: Any = environment.optional("equinox")
            if equinox is None:
                raise Unsupported("equinox")
            equinox.clear_caches()
        elif scope == "function":
            function = self._function(None)
            wrapper = self._wrapper(function, self._options(self.options), kept=True)
            self.target.clear_function(wrapper)
        else:
            raise Malformed(f"there is no cache {scope!r} to clear")


def _is_ref(form: Any) -> bool:
    return isinstance(form, dict) and "ref" in form


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
