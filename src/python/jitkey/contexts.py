"""The configuration and context managers around a call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax

from .arrays import enable_x64, mesh
from .errors import Unsupported


def merged(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    """The context of a call inside that of its case."""
    flags = {**outer.get("flags", {}), **inner.get("flags", {})}
    return {**outer, **inner, "flags": flags} if flags else {**outer, **inner}


def entered(context: dict[str, Any], build: Callable[[Any], Any]) -> contextlib.ExitStack:
    """The context, entered; `build` makes the values of flags."""
    stack = contextlib.ExitStack()
    try:
        for name, value in context.get("flags", {}).items():
            stack.enter_context(_flag(name, build(value)))
        if context.get("x64") is not None:
            stack.enter_context(enable_x64(context["x64"]))
        if context.get("default_device") is not None:
            number = context["default_device"]
            if number >= len(jax.devices()):
                raise Unsupported(f"devices:{number + 1}")
            stack.enter_context(jax.default_device(jax.devices()[number]))
        if context.get("mesh"):
            stack.enter_context(mesh(context["mesh"]))
    except BaseException:
        stack.close()
        raise
    return stack


@contextlib.contextmanager
def _flag(name: str, value: Any) -> Iterator[None]:
    try:
        before = jax.config._read(name)
    except (AttributeError, KeyError):
        raise Unsupported(f"flag {name}") from None
    try:
        jax.config.update(name, value)
    except (AttributeError, TypeError, ValueError) as error:
        raise Unsupported(f"flag {name}: {error}") from error
    try:
        yield
    finally:
        jax.config.update(name, before)
