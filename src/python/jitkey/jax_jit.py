"""The target `jax.jit`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from . import arrays, digest
from .errors import Unsupported

name = "jax.jit"


def wrap(function: Any, options: dict[str, Any]) -> Any:
    """The function under `jax.jit`, as a user writes it."""
    if "donate" in options:
        raise Unsupported("the option donate, which is equinox.filter_jit's")
    return jax.jit(function, **placed(options))


def placed(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the shardings that they ask for."""
    made = dict(options)
    asked = options.get("in_shardings")
    if isinstance(asked, tuple):
        made["in_shardings"] = tuple(map(_shardings, asked))
    elif asked is not None:
        made["in_shardings"] = arrays.sharding(asked)
    returned = options.get("out_shardings")
    if returned is not None:
        leaves = returned.get("leaves")
        made["out_shardings"] = arrays.sharding(returned) if leaves is None else digest.of_each(map(_shardings, leaves))
    if "device" in options:
        made["device"] = jax.devices()[options["device"]]
    return made


def _shardings(form: dict[str, Any] | None) -> Any:
    """The shardings of one argument; those of its leaves are in a list."""
    if form is None:
        return None
    return [_shardings(leaf) for leaf in form["leaves"]] if "leaves" in form else arrays.sharding(form)


def entry(wrapper: Any, via: str, *, eval_shape: Callable[..., Any] = jax.eval_shape) -> Callable[..., Any]:
    """What is called for that use of the function."""
    if via == "call":
        return wrapper
    if via == "compile" and hasattr(wrapper, "lower"):
        return lambda *args, **kwargs: wrapper.lower(*args, **kwargs).compile()
    if via == "eval_shape" or (via == "trace" and not hasattr(wrapper, "trace")):
        return lambda *args, **kwargs: eval_shape(wrapper, *args, **kwargs)
    if via == "vmap":
        return jax.vmap(wrapper)
    if via == "grad":
        return lambda *args, **kwargs: jax.vjp(wrapper, *args, **kwargs)[0]
    if via == "jvp":
        return lambda *args: jax.jvp(wrapper, args, args)
    if via == "make_jaxpr":
        return lambda *args, **kwargs: jax.make_jaxpr(wrapper)(*args, **kwargs)
    if via in ("trace", "lower") and hasattr(wrapper, via):
        return getattr(wrapper, via)
    raise Unsupported(f"via {via}")


def cold(function: Any, options: dict[str, Any], args: Any, kwargs: Any) -> None:
    """Traces the function with these arguments as if nothing were cached: under a function of its own."""

    @functools.wraps(function)
    def fresh(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    wrapper = jax.jit(fresh, **placed(options))
    if hasattr(wrapper, "trace"):
        wrapper.trace(*args, **kwargs)
    else:
        wrapper.eval_shape(*args, **kwargs)


def clear_function(wrapper: Any) -> None:
    """Clears what is cached for one function."""
    wrapper.clear_cache()
