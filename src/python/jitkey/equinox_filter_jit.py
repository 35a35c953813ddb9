"""The target `equinox.filter_jit`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import equinox
import jax

from . import jax_jit, observe
from .errors import Unsupported

name = "equinox.filter_jit"


def _asks_unobserved() -> None:
    """Keeps apart what in equinox 0.11 each call does to find out whether it is being traced: it adds 1 to an array.

    That is a program of equinox's own. jax 0.4 compiles it anew in every call under `jax_check_tracer_leaks`, which bypasses
    `jax._src.util.cache`; the function under test is found all the same.
    """
    asks = getattr(equinox._jit, "currently_jitting", None)
    if asks is None:
        return

    def currently_jitting() -> bool:
        with observe.unobserved():
            return asks()

    equinox._jit.currently_jitting = currently_jitting


_asks_unobserved()


def wrap(function: Any, options: dict[str, Any]) -> Any:
    """The function under `equinox.filter_jit`; options of `jax.jit` are passed on, and it refuses what it must."""
    for option in ("in_shardings", "out_shardings"):
        if option in options:
            raise Unsupported(f"the option {option}, whose trees are those of the wrapper inside")
    return equinox.filter_jit(function, **jax_jit.placed(options))


def entry(wrapper: Any, via: str) -> Callable[..., Any]:
    """What is called for that use of the function."""
    if via == "call":
        return wrapper
    if via == "lower":
        return wrapper.lower
    if via == "trace":
        return _tracing(wrapper).lower
    if via == "compile":
        return lambda *args, **kwargs: wrapper.lower(*args, **kwargs).compile()
    if via == "eval_shape":
        return lambda *args, **kwargs: equinox.filter_eval_shape(wrapper, *args, **kwargs)
    if via == "vmap":
        return equinox.filter_vmap(wrapper)
    if via == "grad":
        return lambda *args, **kwargs: equinox.filter_vjp(wrapper, *args, **kwargs)[0]
    raise Unsupported(f"via {via}")


def _tracing(wrapper: Any) -> Any:
    """The wrapper, but its `lower` goes no further than the jaxpr: equinox has no `trace`."""
    copy = object.__new__(type(wrapper))
    for name, value in vars(wrapper).items():
        object.__setattr__(copy, name, value)
    cached = wrapper._cached
    trace = getattr(cached, "trace", None) or functools.partial(jax.eval_shape, cached)
    object.__setattr__(copy, "_cached", types.SimpleNamespace(lower=trace))
    return copy


def cold(function: Any, _options: dict[str, Any], args: Any, kwargs: Any) -> None:
    """Traces the function with these arguments as if nothing were cached: under a function of its own."""
    dynamic, static = equinox.partition((function, args, kwargs), equinox.is_array)

    def fresh(dynamic: Any) -> Any:
        function, args, kwargs = equinox.combine(dynamic, static)
        return equinox.filter(function(*args, **kwargs), equinox.is_array)

    wrapper: Any = jax.jit(fresh)
    # Not inside of a trace, in which arrays among aux data can't be compared.
    trace = wrapper.trace if hasattr(wrapper, "trace") else wrapper.eval_shape
    trace(dynamic)


def clear_function(wrapper: Any) -> None:
    """filter_jit has no such thing."""
    raise Unsupported("clearing one function")
