"""What was made alike: a function that is defined again, an optimizer that is created again, a module of the same settings."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

from .source import NOTHING, closed_over, is_of_dataclasses, stored
from .texts import array_text, is_array, is_plain

LOOKED_AT = 256
"""So many objects inside of one are looked at."""


def is_made(value: Any) -> bool:
    """Whether it is made of functions and settings, and told from others by these: a function, a named tuple of such, a dataclass whose
    `==` is that of its fields, and that has a hash."""
    made = type(value)
    if made is types.FunctionType:
        return True
    if issubclass(made, tuple) and made is not tuple:
        return any(type(part) is types.FunctionType for part in tuple.__iter__(value))
    return dataclasses.is_dataclass(made) and is_of_dataclasses(made.__eq__) and made.__hash__ is not None


def likeness(value: Any) -> str:
    """A text that is the same for what was made alike. Of an array that is its form, and of an object that can't be looked into its
    class: what isn't seen to be another is none."""
    said: list[str] = []
    _look_into(value, said, set())
    return "\n".join(said)


def _look_into(value: Any, said: list[str], known: set[int]) -> None:
    made = type(value)
    if is_plain(value):
        said.append(repr(value))
    elif is_array(value):
        said.append(array_text(value))
    elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
        said.append(f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value.__name__)}")
    elif id(value) in known or len(known) >= LOOKED_AT:
        said.append("…")
    else:
        known.add(id(value))
        said.append(f"{made.__qualname__}(")
        for part in _parts(value):
            _look_into(part, said, known)
        said.append(")")


def _parts(value: Any) -> list[Any]:
    made = type(value)
    if made is types.FunctionType:
        code = value.__code__
        return [_written(code), *closed_over(value).items(), *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if made is types.MethodType:
        return [value.__func__, value.__self__]
    if made is functools.partial:
        return [value.func, *value.args, *value.keywords.items()]
    if issubclass(made, (tuple, list)):
        return list((tuple if issubclass(made, tuple) else list).__iter__(value))
    if made is dict:
        return list(value.items())
    if dataclasses.is_dataclass(made) and is_of_dataclasses(made.__eq__):
        return [stored(value, field.name, NOTHING) for field in dataclasses.fields(made) if field.compare]
    return []


def _written(code: types.CodeType) -> str:
    """What the code does, wherever it stands."""
    parts = [_written(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {code.co_varnames} {parts}"
