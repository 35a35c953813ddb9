"""Settings that a program keeps in a class, a module or a library's config object, and that its functions read by name."""

from __future__ import annotations

import types
import weakref
from typing import Any

from .instructions import instructions
from .source import NOTHING, body, held_by, is_of_program, is_of_the_program, of_class, stored

_CONFIGS = {
    ("absl", "FlagValues"): "__flags",
    ("collections", "UserDict"): "data",
    ("ml_collections", "ConfigDict"): "_fields",
    ("omegaconf", "DictConfig"): "_content",
}
"""By library and class the attribute in which an object has what it is asked for by name."""

_VALUES = ("_value", "_val")
"""The attributes in which what stands there has its value, if it is an object of the library's."""


def of_config(value: Any) -> dict[Any, Any] | None:
    """What a library's config object is asked for, by name; None of anything else."""
    held = held_by(value)
    if held is None or held.keys().isdisjoint(_CONFIGS.values()):
        return None
    places = (_CONFIGS.get((_library(base), base.__name__)) for base in type(value).__mro__)
    place = next((place for place in places if place is not None), None)
    inside = None if place is None else held.get(place)
    return inside if type(inside) is dict else None


_named_in: weakref.WeakKeyDictionary[type, dict[str, frozenset[str]]] = weakref.WeakKeyDictionary()


def asked_in(value: Any, way: str) -> dict[Any, Any] | None:
    """The dict in which an object has what it is asked for by `__getattr__` or `__getitem__`: a library's config, or one of the program's
    whose method names just one dict that it holds; None of anything else."""
    config = of_config(value)
    if config is not None:
        return config
    made = type(value)
    asked = of_class(made, way)
    if asked is NOTHING:
        return None
    known = _named_in.setdefault(made, {})
    if way not in known:
        written = getattr(body(asked), "__code__", None)
        is_own = isinstance(written, types.CodeType) and is_of_program(written.co_filename)
        known[way] = frozenset(step.argval for step in instructions(written) if type(step.argval) is str) if is_own else frozenset()
    held = held_by(value) or {}
    inside = [held[name] for name in known[way] if type(held.get(name)) is dict]
    return inside[0] if len(inside) == 1 else None


def of_frozen_config(value: Any) -> dict[Any, Any] | None:
    """The values of one that is compared by what it holds."""
    config = of_config(value) if type(value).__name__ == "FrozenConfigDict" else None
    return None if config is None else {name: setting(config, name) for name in config}


def setting(config: dict[Any, Any], name: Any) -> Any:
    """What a config object has under a name, which can stand in an object of the library's; `NOTHING` if there is none."""
    part = config.get(name, NOTHING)
    held = held_by(part) if any(_library(type(part)) == library for library, _ in _CONFIGS) else None
    return part if held is None else next((held[name] for name in _VALUES if name in held), part)


def of_namespace(value: Any, name: str) -> Any:
    """What a class or a module has under a name, a class's functions and a library's classes aside; `NOTHING` if there is none."""
    found = of_class(value, name) if isinstance(value, type) else (held_by(value) or {}).get(name, NOTHING)
    is_part = isinstance(value, type) and (hasattr(type(found), "__get__") or isinstance(found, types.BuiltinFunctionType))
    return NOTHING if is_part or (is_namespace(found) and not is_of_the_program(found)) else found


def is_namespace(value: Any) -> bool:
    """Whether it is a class or a module."""
    return issubclass(type(value), (type, types.ModuleType))


def _library(made: type) -> str:
    return str(stored(made, "__module__")).partition(".")[0]
