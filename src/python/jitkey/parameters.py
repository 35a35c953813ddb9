"""The parameters of functions, by which jax names arguments."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable
from typing import Any

from .source import is_program, stored

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
"""A name that a case can have."""


def _signature(function: Callable[..., Any], given: tuple[Any, Any] | None) -> inspect.Signature | None:
    """The parameters by which jax names arguments: those of what `functools.wraps` says that the function stands around, if that
    is called alike. A loop gives its functions what it likes, so that they are called by their own."""
    called = stored(type(function), "__call__")
    if isinstance(called, types.FunctionType) and not any(stored(function, name) for name in ("__wrapped__", "__signature__")):
        # To look for what isn't there is to run its `__getattr__`.
        function = types.MethodType(called, function)
    try:
        inner = inspect.signature(function)
        if not hasattr(function, "__wrapped__"):
            return inner
        own = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    if given is None:
        return own
    written = stored(function, "__code__")
    kinds = {parameter.kind for parameter in own.parameters.values()}
    if written is not None and is_program(written) and kinds != {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return own
    args, kwargs = given
    try:
        inner.bind(*args, **kwargs)
    except TypeError:
        return own
    return inner


def names_of(function: Callable[..., Any], given: tuple[Any, Any]) -> list[str]:
    """The names of the parameters that take positional arguments, each one."""
    signature = _signature(function, given)
    named = () if signature is None else signature.parameters.values()
    return [it.name for it in named if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]


def params_of(function: Callable[..., Any], given: tuple[Any, Any] | None, default: Callable[[Any], Any]) -> dict[str, Any]:
    """The parameters of a function, a bound method or another callable; nothing if a case has no words for them.

    It is called with what is `given`, if that is known; `default` writes the value of one that has one."""
    params: list[Any] = []
    signature = _signature(function, given)
    if signature is None:
        return {}
    starred = False
    by_position = [it for it in signature.parameters.values() if it.kind is it.POSITIONAL_ONLY]
    for i, parameter in enumerate(signature.parameters.values()):
        if not NAME.match(parameter.name):
            return {}
        if by_position and i == len(by_position):
            params.append("/")
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
                params.append({"name": parameter.name, "default": default(parameter.default)})
    if by_position and len(by_position) == len(signature.parameters):
        params.append("/")
    return {"params": params}
