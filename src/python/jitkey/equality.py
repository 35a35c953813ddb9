"""What objects are equal to: those whose class says so, and by what."""

from __future__ import annotations

import contextlib
import dataclasses
import types
import weakref
from typing import Any

import numpy as np

from .parameters import NAME
from .record import equal, is_module
from .settings import of_frozen_config
from .source import NOTHING, compared, held_by, is_generated, of_class, stored
from .taken import seen_by
from .texts import has_arrays


def hash_of(value: Any) -> int | None:
    """What an object is found by whose class says so."""
    if type(value).__hash__ in (object.__hash__, None) or has_arrays(value):
        return None
    try:
        return hash(value)
    except Exception:  # It runs the program's own code.
        return None


def is_compared(value: Any) -> bool:
    """Whether the object's class says what it is equal to, and its arrays don't: to compare those is to run a program of
    jax's, which a recording must not."""
    if type(value).__eq__ is object.__eq__ or has_arrays(value):
        return False
    return not is_hashed_by_identity(value) or _equals_its_like(value)


def is_hashed_by_identity(value: Any) -> bool:
    """Whether what looks for the object by its hash finds itself alone, whatever its `==` says."""
    try:
        return hash(value) in (id(value), object.__hash__(value))
    except Exception:  # It runs the program's own code.
        return False


def _equals_its_like(value: Any) -> bool:
    """Whether `==` of the object's class looks at what it holds: at its attributes, in another instance."""
    made = type(value)
    if made.__new__ is not object.__new__ or hasattr(made, "__del__") or (held := held_by(value)) is None:
        return True
    like = object.__new__(made)
    with contextlib.suppress(Exception):  # What isn't in its slot is nowhere.
        for name, part in held.items():
            slot = of_class(made, name)
            if type(slot) is types.MemberDescriptorType:
                slot.__set__(like, part)
            else:
                object.__getattribute__(like, "__dict__")[name] = part
    return equal(value, like)


def overlooks(made: type, name: str) -> bool:
    """Whether `==` of the class, as it is written, looks at nothing that its instances hold under that name but its form."""
    if made not in _LOOKED_AT:
        written = getattr(made.__eq__, "__code__", None)
        _LOOKED_AT[made] = None if written is None else seen_by(written, made)
    looked_at = _LOOKED_AT[made]
    return looked_at is not None and name not in looked_at and "__dict__" not in looked_at


_LOOKED_AT = weakref.WeakKeyDictionary[type, frozenset[str] | None]()
"""What `==` of classes looks at."""


def compared_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, or of a class of attrs, by which these make its `==` and its hash, or those of a config of
    ml_collections that is frozen; else None."""
    made = type(value)
    if (config := of_frozen_config(value)) is not None:
        return config if all(type(name) is str and NAME.match(name) for name in config) else None
    names = None if is_module(value) else _fields_of_attrs(made) if hasattr(made, "__attrs_attrs__") else _fields_of_dataclass(made)
    if names is None or not all(map(NAME.match, names)):
        return None
    parts = {name: stored(value, name, NOTHING) for name in names}
    if any(part is NOTHING or isinstance(part, np.ndarray) or has_arrays(part) for part in parts.values()):
        return None
    if not is_generated(made.__hash__):
        # A library can stand around it: what flax.linen does to the methods of its Modules.
        try:
            if hash(value) != hash(tuple(parts.values())):
                return None
        except Exception:  # It runs the program's own code.
            return None
    return parts


def _fields_of_dataclass(made: type) -> list[str] | None:
    params = getattr(made, "__dataclass_params__", None)
    if params is None or not (params.frozen or params.unsafe_hash):
        return None
    # What isn't compared isn't hashed either.
    fields = [field for field in dataclasses.fields(made) if field.compare or field.hash]
    return [field.name for field in fields] if all(field.name in compared(made) and field.hash is None for field in fields) else None


def _fields_of_attrs(made: Any) -> list[str] | None:
    names = [field.name for field in made.__attrs_attrs__ if field.hash is None]
    return names if is_generated(made.__hash__) and compared(made).issuperset(names) and len(names) == len(made.__attrs_attrs__) else None
