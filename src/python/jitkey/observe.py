"""Which layers a call missed.

| layer    | how a miss is seen                                                                          |
|----------|---------------------------------------------------------------------------------------------|
| dispatch | the C++ fast path handed the call to Python, which begins at `jax._src.pjit._infer_params` (0.9.0: `_trace_for_jit`) |
| trace    | a counter in the body; for functions whose body isn't ours, jax's trace event and, since    |
|          | that is timed around the look-up of the jaxpr (0.9), its test event of tracing, too          |
| lower    | the monitoring event of MLIR lowering                                                       |
| compile  | the monitoring event of XLA compilation, unless the program came from a file                |

jax's trace event alone is not "the body ran": it also fires for functions that the body calls. Nothing here takes part
in a cache key: the hook passes its arguments on, and the rest only listens.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax._src import pjit, util
from jax._src.array import ArrayImpl

from . import environment
from .source import stored

LAYERS = ("dispatch", "trace", "lower", "compile")

HELPERS = ("_multi_slice", "jit(_multi_slice)")
"""What jax runs to move an argument to its devices; it is no part of the program. Events have its name since 0.6."""

CONVERSIONS = ("convert_element_type", "jit(convert_element_type)")
"""What jax runs to convert an argument of a loop or conditional, by the name of the function or that of its events."""

INFERS = "_infer_params" if hasattr(pjit, "_infer_params") else "_trace_for_jit"
"""What the fast path hands a call to in `jax._src.pjit`; 0.9.0 has it by the other name."""

EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace event",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}


TIMES_THE_LOOK_UP = jax.__version_info__ >= (0, 9)
"""Whether the trace event comes for a jaxpr that is found, too (`jax/_src/pjit.py`, `_trace_for_jit`)."""

TRACED = "trace_to_jaxpr"
"""The test event of a jaxpr that is made (`jax/_src/interpreters/partial_eval.py`)."""

LOADED = "/jax/compilation_cache/cache_hits"
"""The event of a program that was in a file of the persistent cache; the one of its compilation comes all the same."""


class _Watch:
    """What happened since the watch was started."""

    def __init__(self) -> None:
        self.on = False
        self.seen: set[str] = set()
        self.loaded = False
        """Whether the next compilation is none, but a program that was loaded."""
        self.thread = threading.get_ident()
        self.helpers: tuple[str, ...] = HELPERS
        """What runs beside the program, and is no part of it."""
        self.beside = False
        """Whether a helper was called last, so that events without a name are its own."""

    def note(self, what: str) -> None:
        if self.on and threading.get_ident() == self.thread:
            self.seen.add(what)


_watch = _Watch()


def body_ran() -> None:
    """Called by every body that a case makes."""
    _watch.note("trace")


@contextlib.contextmanager
def observed(missed: list[str], *, counted: bool, dispatched: bool) -> Iterator[None]:
    """Fills `missed` with the layers that are missed inside, also when the call raises.

    `counted` says that the body counts its runs itself, `dispatched` that the call goes through the fast path at all
    (ahead-of-time lowering doesn't, and a miss of what isn't consulted would be none).
    """
    _watch.seen = set()
    _watch.loaded = False
    _watch.beside = False
    _watch.on = True
    try:
        yield
    finally:
        _watch.on = False
        seen = _watch.seen
        if not counted and "trace event" in seen and (not TIMES_THE_LOOK_UP or TRACED in seen):
            seen.add("trace")
        if not dispatched:
            seen.discard("dispatch")
        missed.extend(layer for layer in LAYERS if layer in seen)


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """What is done inside is no part of the call."""
    on, _watch.on = _watch.on, False
    try:
        yield
    finally:
        _watch.on = on


def watch_this_thread() -> None:
    """From now on what happens in this thread is watched, and no other."""
    _watch.thread = threading.get_ident()


def in_thread(entry: Callable[..., Any]) -> Callable[..., Any]:
    """`entry`, called in a thread of its own, which the watch follows."""

    def entered(*args: Any, **kwargs: Any) -> Any:
        results: list[Any] = []
        errors: list[Exception] = []

        def run() -> None:
            watch_this_thread()
            try:
                results.append(entry(*args, **kwargs))
            except Exception as error:
                errors.append(error)

        here = _watch.thread
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        _watch.thread = here
        if errors:
            raise errors.pop()
        return results.pop()

    return entered


def name_of(function: Any) -> str | None:
    """The name of a function that jax jits; up to 0.4 it is passed with what belongs to it. An object isn't asked for what it hasn't."""
    if type(function) is not types.FunctionType:
        function = function.__func__ if type(function) is types.MethodType else stored(function, "fun", function)
    return function.__name__ if type(function) is types.FunctionType else stored(function, "__name__")


def _compares_unobserved(kind: Any) -> None:
    """What the `==` of arrays, and of Modules with arrays, runs and compiles is no part of the call whose key has them."""
    for name in ("__eq__", "__ne__"):
        compares = getattr(kind, name)

        def compared(self: Any, other: Any, compares: Any = compares) -> Any:
            with unobserved():
                return compares(self, other)

        setattr(kind, name, functools.wraps(compares)(compared))


def install(*, converts: bool = False) -> None:
    """Puts the hook and the listener in place, once for the process; `converts` says that conversions are no part of a program."""
    infer_params = getattr(pjit, INFERS)
    equinox: Any = environment.optional("equinox")
    for kind in (ArrayImpl, *([] if equinox is None else [equinox.Module])):
        _compares_unobserved(kind)
    _watch.helpers = (*HELPERS, *CONVERSIONS) if converts else HELPERS

    def hook(*args: Any, **kwargs: Any) -> Any:
        _watch.beside = name_of(args[0]) in _watch.helpers
        if not _watch.beside:
            _watch.note("dispatch")
        return infer_params(*args, **kwargs)

    setattr(pjit, INFERS, hook)

    def listen(event: str, _duration: float, **about: Any) -> None:
        what = EVENTS.get(event)
        # A helper that was loaded isn't compiled either.
        if what == "compile" and _watch.loaded:
            _watch.loaded = False
        elif what is not None and not (about["fun_name"] in _watch.helpers if "fun_name" in about else _watch.beside):
            _watch.note(what)

    def listen_to_files(event: str, **_about: Any) -> None:
        if event == LOADED and threading.get_ident() == _watch.thread:
            _watch.loaded = True

    def listen_to_tests(name: str, *_about: Any) -> None:
        if name == TRACED:
            _watch.note(TRACED)

    if TIMES_THE_LOOK_UP:
        util.test_event_listener = listen_to_tests
    jax.monitoring.register_event_duration_secs_listener(listen)
    jax.monitoring.register_event_listener(listen_to_files)
