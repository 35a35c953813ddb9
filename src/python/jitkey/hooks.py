"""The hooks of a recording: what stands between a program and the libraries whose caches it uses.

The `__call__` of the classes that `jax.jit` and `equinox.filter_jit` return is hooked, so that functions that were jitted before
are recorded as well, and keep their identity. The loops of `jax.lax` and `jax.clear_caches` are replaced in every module that has
them while a recording is under way.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
from jax._src import callback, debugging, pjit, source_info_util, traceback_util, util
from jax._src.interpreters import mlir, pxla

from .imports import when_imported
from .objects import A_JIT
from .observe import CONVERSIONS, EVENTS, HELPERS, INFERS, LOADED, TIMES_THE_LOOK_UP, TRACED, name_of
from .script import without_own
from .source import is_outside, stored, transformed

if TYPE_CHECKING:
    from .recorder import Recording

active: Recording | None = None
"""The recording that is under way."""

_VECTORCALL = 1 << 11
"""Py_TPFLAGS_HAVE_VECTORCALL"""


class Local(threading.local):
    """Of each thread: whether it is inside of a recorded call, and what that call has missed so far."""

    inside = False
    number: int | None = None
    """Which call that is, or was the last one."""
    describing = False
    """Whether a call inside of a trace is looked at."""
    missed: set[str] | None = None
    begins: tuple[Any, Callable[[], None]] | None = None
    """Describes the call, if the fast path doesn't serve it: the function is handed to Python."""
    effect: str | None = None
    """The kind of effect that keeps the call off the fast path."""
    inferring = 0
    """How many frames of `_infer_params` are open: what is traced outside of them is no body of the program's."""
    lowering = 0
    """How many jaxprs are lowered, for which jax can jit some more."""
    inferred: str | None = None
    """The function that was handed to Python last, outside of the recorded calls: events have no names before jax 0.6."""
    in_loop = False
    """Whether that call is one of a loop or conditional of `jax.lax`."""
    given: tuple[Any, ...] = ()
    """The functions that it is given."""
    profiler: Any = None
    """The recorder's own, while it watches for a body."""
    beside = False
    """Whether what jax runs to move or to convert an argument was called last, so that events without a name are its own."""
    loaded = False
    """Whether the next compilation is none, but a program from a file of the persistent cache."""
    spent: tuple[tuple[float, float], ...] = ()
    """When what was traced, lowered and compiled for that call began, and the seconds that it took; what was done inside of one
    of them is part of it."""
    traced: tuple[Any, int] | None = None
    """What that call's function was traced to, with the number of its leaves."""
    codes: frozenset[types.CodeType] = frozenset()
    """Those of the functions under the call. If there are none, jax's own trace event has to do, which fires for less."""

    def watch(self, codes: frozenset[types.CodeType]) -> None:
        """From now on the layers are noted that a call of these functions misses."""
        self.inside, self.missed, self.inferring, self.codes, self.effect, self.beside = True, set(), 0, codes, None, False
        self.spent, self.traced = (), None


local = Local()

_dropped: weakref.WeakKeyDictionary[Any, list[int]] = weakref.WeakKeyDictionary()
"""By jaxpr the numbers of the inputs that its program doesn't have."""


def profiled(runs: Callable[[], Any]) -> Any:
    """What `runs` returns; whether one of the functions under the call runs meanwhile is seen by Python's profiler, unless the
    program has one."""
    codes, missed = local.codes, local.missed
    if missed is not None and "trace" in missed:
        # What is jitted inside of the body is traced without a profiler.
        return runs()
    current = sys.getprofile()
    if not codes or missed is None or current is not None:
        if current is not local.profiler:
            # The program has a profiler itself: jax's own event has to do.
            local.codes = frozenset()
        return runs()

    def profile(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            missed.add("trace")
            if sys.getprofile() is profile:
                sys.setprofile(None)

    local.profiler = profile
    sys.setprofile(profile)
    try:
        return runs()
    finally:
        if sys.getprofile() is profile:
            sys.setprofile(None)
        local.profiler = None


def watched_loop(runs: Callable[[], Any], functions: Iterable[Any]) -> Any:
    """The same of a loop or conditional of these functions, whose arguments jax may convert."""
    local.in_loop, local.given = True, tuple(functions)
    try:
        return profiled(runs)
    finally:
        local.in_loop, local.given = False, ()


def _hooked(api: str, original: Callable[..., Any], via: str = "call") -> Callable[..., Any]:
    @functools.wraps(original, updated=())
    def hook(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        recording = active
        if recording is None or jax.config.jax_disable_jit:
            return original(self, *args, **kwargs)
        is_under = not is_outside()
        untouched = transformed() if is_under and via == "call" and not local.inside else None
        if is_under and (untouched is None or not _has_tracers((args, kwargs))):
            made = original(self, *args, **kwargs)
            if not local.describing:
                recording.traced(api, self, args, kwargs, untouched or ("lower" if via == "lower" else "trace"))
            return made
        if local.inside:
            return original(self, *args, **kwargs)
        try:
            return recording.call(api, self, args, kwargs, original, "transformed" if is_under else via)
        except BaseException as error:
            error.__traceback__ = without_own(error.__traceback__)
            raise error

    return hook


def _has_tracers(tree: Any) -> bool:
    try:
        return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(tree))
    except Exception:  # Flattening runs the program's own code.
        return True


class _OfEach:
    """Before jax 0.6 each wrapper has its own `lower`, `trace` and `eval_shape`, behind which this stands."""

    def __init__(self, via: str) -> None:
        self.via = via

    def __get__(self, wrapper: Any, _: type | None = None) -> Any:
        own = None if wrapper is None else wrapper.__dict__.get(self.via)
        if own is None:
            raise AttributeError(f"{type(wrapper).__name__!r} object has no attribute {self.via!r}")

        def original(_: Any, *args: Any, **kwargs: Any) -> Any:
            return own(*args, **kwargs)

        return functools.wraps(own)(functools.partial(_hooked("jax.jit", original, self.via), wrapper))

    def __set__(self, wrapper: Any, own: Any) -> None:
        wrapper.__dict__[self.via] = own


LOOPS = ("while_loop", "fori_loop", "scan", "map", "cond", "switch")
"""The functions of `jax.lax` that have caches where they are called outside of jit."""


def replace() -> Callable[[], None]:
    """Puts hooks into every module that has one of jax.lax's loops or clears caches, but for jax's own; what is returned takes
    them out."""
    hooks = {id(original): _loop_hooked(name, original) for name in LOOPS if (original := getattr(jax.lax, name))}
    hooks[id(jax.clear_caches)] = _clearing_hooked("jax", jax.clear_caches)
    replaced: list[tuple[dict[str, Any], str, Any, Any]] = []
    for module in list(sys.modules.values()):
        namespace = getattr(module, "__dict__", None)
        name = getattr(module, "__name__", None)
        if not isinstance(namespace, dict) or not isinstance(name, str):
            continue
        if name not in ("jax", "jax.lax") and name.partition(".")[0] == "jax":
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
        recording = active
        if recording is None or local.inside or not is_outside() or jax.config.jax_disable_jit:
            return original(*args, **kwargs)
        try:
            return recording.loop(name, original, args, kwargs)
        except BaseException as error:
            error.__traceback__ = without_own(error.__traceback__)
            raise error

    # Where it can be found while the recording is under way, so that it can be pickled.
    hook.__module__, hook.__qualname__ = "jax.lax", name
    return hook


def _fast_path_hooked(original: Callable[..., Any]) -> Callable[..., Any]:
    """Sees why a program gets no fast path."""

    def hook(executable: Any, *args: Any, **kwargs: Any) -> Any:
        data = original(executable, *args, **kwargs)
        if data is None and local.missed is not None:
            runs = getattr(executable, "unsafe_call", None)
            if getattr(runs, "ordered_effects", False):
                local.effect = "ordered"
            elif getattr(runs, "has_unordered_effects", False) or getattr(runs, "has_host_callbacks", False) or _uses_refs(args):
                local.effect = "unordered"
        return data

    return hook


def _jaxpr_of(made: Any) -> tuple[Any, int] | None:
    """The jaxpr that `_infer_params` returned, and how many leaves the call has, which come after the constants."""
    first, *rest = made
    if hasattr(first, "params"):
        return first.params["jaxpr"], len(rest[0])
    # Before jax 0.4.31.
    params = next((part for part in rest if isinstance(part, dict) and "jaxpr" in part), None)
    return None if params is None else (params["jaxpr"], len(first))


def _pruning_hooked(original: Callable[..., Any]) -> Callable[..., Any]:
    """Sees which inputs of a jaxpr are in no program."""

    def hook(jaxpr: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(jaxpr, *args, **kwargs)
        kept = made[2]
        _dropped[jaxpr] = [i for i in range(len(jaxpr.invars)) if i not in kept]
        return made

    return hook


def _lowering_hooked(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        local.lowering += 1
        try:
            return original(*args, **kwargs)
        finally:
            local.lowering -= 1

    return hook


def unused() -> list[int]:
    """The numbers of the leaves that the program of the call that has just been made doesn't have, as far as that was seen."""
    traced, local.traced = local.traced, None
    if traced is None:
        return []
    jaxpr, leaves = traced
    # Before jax 0.8 it is closed.
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    constants = len(jaxpr.invars) - leaves
    return [i - constants for i in _dropped.get(jaxpr, ()) if i >= constants]


def _uses_refs(parts: tuple[Any, ...]) -> bool:
    """Whether one of the parts of a program are effects of which one is on a reference to an array."""
    effects = [effect for part in parts if isinstance(part, (set, frozenset)) for effect in part]
    return any(base.__name__ == "RefEffect" for effect in effects for base in type(effect).__mro__)


def _clearing_hooked(scope: str, original: Callable[[], None]) -> Callable[[], None]:
    @functools.wraps(original)
    def hook() -> None:
        if active is not None:
            active.cleared(scope)
        original()

    return hook


def _evicting_hooked(original: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(original)
    def hook(self: Any) -> None:
        if active is not None:
            active.evicted(self)
        original(self)

    return hook


def _callback_hooked(original: Callable[..., Any]) -> Callable[..., Any]:
    """Sees that a program calls back: what runs until it goes on is none of the call that runs the program, in whichever thread it is."""

    @functools.wraps(original)
    def hook(*args: Any, **kwargs: Any) -> Any:
        around, here = dict(vars(local)), vars(local)
        here.clear()
        try:
            return original(*args, **kwargs)
        finally:
            here.clear()
            here.update(around)

    return hook


def _stage_hooked(original: Callable[..., Any], via: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def hook(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        if active is not None and all(option is None for option in (*args, *kwargs.values())):
            active.went_on(self, via, made)
        return made

    return hook


_installed: list[str] = []


def install() -> None:
    """Puts the hooks in place, once for the process."""
    if not _installed:
        _installed.append("hooks")
        # What an error of the program's says of where it comes from is the same with and without the recorder.
        here = os.path.dirname(os.path.abspath(__file__)) + os.sep
        source_info_util.register_exclusion(here)
        traceback_util.register_exclusion(here)
        made = type(A_JIT)
        made.__call__ = _hooked("jax.jit", made.__call__)
        _calls_go_through(made)
        for via in ("trace", "lower", "eval_shape"):
            if hasattr(pjit, f"jit_{via}"):
                # Every jax.jit puts these into the class again.
                method = _hooked("jax.jit", getattr(pjit, f"jit_{via}"), via)
                setattr(pjit, f"jit_{via}", method)
                setattr(made, via, method)
            else:
                setattr(made, via, _OfEach(via))
        evict = "jit_evict_fn" if hasattr(pjit, "jit_evict_fn") else "_cpp_pjit_evict_fn"
        evicting = _evicting_hooked(getattr(pjit, evict))
        setattr(pjit, evict, evicting)
        made.clear_cache = evicting
        infer_params = getattr(pjit, INFERS)

        def hook(*args: Any, **kwargs: Any) -> Any:
            name = name_of(args[0])
            if local.missed is None:
                # What it jits itself is part of its program.
                if is_outside():
                    local.inferred = name
                return infer_params(*args, **kwargs)
            local.beside = name in HELPERS or (local.in_loop and (name in CONVERSIONS or _stages(args[0], name)))
            # What a function of a loop calls, `c + x` too, is part of its jaxpr.
            if local.beside or (local.in_loop and not is_outside()):
                return infer_params(*args, **kwargs)
            if local.begins is not None:
                # Up to 0.4 it is passed with what belongs to it. A function that jax differentiates otherwise has its `fun` itself.
                if all(local.begins[0] is not fun for fun in (args[0], stored(args[0], "fun"))):
                    # What is run to take arguments apart and to compare them is none of the function's.
                    return infer_params(*args, **kwargs)
                local.begins[1]()
            local.missed.add("dispatch")
            local.inferring += 1
            try:
                made = profiled(lambda: infer_params(*args, **kwargs))
            finally:
                local.inferring -= 1
            if not (local.inferring or local.lowering or local.in_loop):
                local.traced = _jaxpr_of(made)
            return made

        setattr(pjit, INFERS, hook)
        stages: Any = jax.stages
        stages.Traced.lower = _stage_hooked(stages.Traced.lower, "lower")
        stages.Lowered.compile = _stage_hooked(stages.Lowered.compile, "compile")
        to_mlir: Any = mlir
        to_mlir.lower_jaxpr_to_module = _lowering_hooked(mlir.lower_jaxpr_to_module)
        lowering: Any = pxla
        if hasattr(lowering, "prune_unused_inputs"):
            lowering.prune_unused_inputs = _pruning_hooked(lowering.prune_unused_inputs)
        called_back: list[tuple[Any, str]] = [
            (callback, "pure_callback_impl"), (callback, "io_callback_impl"),
            (debugging, "debug_callback_impl"), (debugging.debug_callback_p, "impl"),
        ]  # fmt: skip
        for holder, name in called_back:
            setattr(holder, name, _callback_hooked(getattr(holder, name)))
        pjit._get_fastpath_data = _fast_path_hooked(pjit._get_fastpath_data)
        jax.monitoring.register_event_listener(_listen_for_files)
        jax.monitoring.register_event_duration_secs_listener(_listen)
        if TIMES_THE_LOOK_UP:
            listeners: Any = util
            listeners.test_event_listener = _listens_to_tests(listeners.test_event_listener)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forked)
        when_imported("equinox", hook_equinox)


def hook_equinox() -> None:
    """Puts the hooks of equinox in place, once for the process."""
    if "equinox" in _installed:
        return
    _installed.append("equinox")
    equinox: Any = sys.modules["equinox"]
    made = type(equinox.filter_jit(lambda: None))
    made.__call__ = _hooked("equinox.filter_jit", made.__call__)
    made.lower = _hooked("equinox.filter_jit", made.lower, "lower")
    equinox.clear_caches = _clearing_hooked("equinox", equinox.clear_caches)


def _stages(function: Any, name: str | None) -> bool:
    """Whether it is what jax makes an array of a NumPy scalar with, from 0.10 on, and no function of the program's that is called so."""
    return name == "stage" and (stored(function, "__module__") or "").startswith("jax.")


def _forked() -> None:
    """A child would write to the file of its parent, what waits to be written first."""
    global active
    if active is not None:
        active.abandon()
        active = None


def _listen_for_files(event: str, **_: Any) -> None:
    if event == LOADED:
        local.loaded = True


def _listen(event: str, duration: float, **about: Any) -> None:
    missed, what = local.missed, EVENTS.get(event)
    name = about.get("fun_name")
    if what == "compile" and local.loaded:
        local.loaded, what = False, "loaded"
    if missed is None and what == "compile" and active is not None and not local.inside:
        active.compiled_beside(name or local.inferred)
    if missed is not None and what == "compile" and local.begins is not None and active is not None:
        # Nothing of the call has begun: it is compiled for what takes its arguments apart, or puts together what it returns.
        active.compiled_beside(name or local.inferred)
    if missed is None or what is None or local.begins is not None:
        return
    is_helper = local.beside if name in (None, "stage", "jit(stage)") else name in HELPERS
    if is_helper or (local.in_loop and name in CONVERSIONS):
        return
    _spend(duration)
    # What lowering traces is no body of the program's.
    if what != "trace event":
        missed.add(what)
    elif local.inferring and not local.codes and not TIMES_THE_LOOK_UP:
        missed.add("trace")


def _spend(seconds: float) -> None:
    """So much was spent for the call until now. Of two of these one is inside of the other or they have nothing in common."""
    begun = time.perf_counter() - seconds
    apart = itertools.takewhile(lambda known: known[0] + known[1] / 2 < begun, local.spent)
    local.spent = (*apart, (begun, seconds))


def _listens_to_tests(other: Callable[..., None] | None) -> Callable[..., None]:
    """Sees that a jaxpr is made, and hands on what happens to who listened before."""

    def listen(name: str, *about: Any) -> None:
        if name == TRACED and local.missed is not None and local.inferring and not local.codes:
            local.missed.add("trace")
        if other is not None:
            other(name, *about)

    return listen


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
    for offset in range(0, sys.getsizeof(made), size):
        if ctypes.c_ulong.from_address(id(made) + offset).value == made.__flags__:
            return offset
    raise RuntimeError("this Python's types have no flags where they should be")
