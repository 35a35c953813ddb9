"""The target `flax.nnx.jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from flax import nnx

from . import jax_jit
from .errors import Unsupported

name = "flax.nnx.jit"


def wrap(function: Any, options: dict[str, Any]) -> Any:
    """The function under `nnx.jit`, as a user writes it."""
    for option in ("donate", "compiler_options"):
        if option in options:
            raise Unsupported(f"the option {option}")
    return nnx.jit(function, **jax_jit.placed(options))


def entry(wrapper: Any, via: str) -> Callable[..., Any]:
    """What is called for that use of the function."""
    if via in ("jvp", "make_jaxpr"):
        raise Unsupported(f"via {via}")
    return jax_jit.entry(wrapper, via, eval_shape=nnx.eval_shape)


def cold(function: Any, options: dict[str, Any], args: Any, kwargs: Any) -> None:
    """Traces the function with these arguments as if nothing were cached: under a wrapper of its own."""
    if any(map(_is_module, jax.tree_util.tree_leaves((args, kwargs), is_leaf=_is_module))):
        # A hit writes the graphdef of the program that served it into the Module, which is then no longer what was passed.
        return
    wrapper = nnx.jit(function, **jax_jit.placed(options))
    # Before it had `trace` nothing but a call keeps the statics apart.
    getattr(wrapper, "trace", wrapper)(*args, **kwargs)


def _is_module(value: Any) -> bool:
    return isinstance(value, nnx.Module)


def clear_function(wrapper: Any) -> None:
    """Clears what is cached for one function."""
    # Up to flax 0.10.2 the wrapper is a function that has the other by another name.
    (wrapper.jitted_fn if hasattr(wrapper, "jitted_fn") else wrapper.inner).clear_cache()
