"""What was made alike: a function that is defined again, an optimizer that is created again, a module of the same settings."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax.sharding import PartitionSpec

from .equality import hash_of
from .source import NOTHING, body, closed_over, is_generated, is_jitted, stored
from .texts import array_text, is_array, is_plain

LOOKED_AT = 512
"""So many parts of one are looked at,"""

BYTES = 1 << 14
"""and so many bytes of an array."""

_ATOMS = (complex, bytes, range, float, np.generic, np.dtype)
"""Classes of what is told by its text."""


_SEQUENCES = (list, collections.deque)
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
"""Containers of which what is in them stands in an order."""

ARRAYS = 4096
"""So many arrays are known, at most."""


class _TooMuch(Exception):
    """There is more in it than is looked at."""


def is_made(value: Any) -> bool:
    """Whether it is made of functions and settings, and told from others by these: a function, a named tuple of such, a dataclass or a
    module of equinox's whose `==` is that of its fields, a sharding or another value of a library's, a tuple of such and what is plain."""
    made = type(value)
    if made is types.FunctionType or _is_of_library(made):
        return True
    if made is tuple:
        return len(value) <= LOOKED_AT and all(is_plain(part) or is_made(part) for part in value)
    if issubclass(made, tuple):
        return any(type(part) is types.FunctionType for part in tuple.__iter__(value))
    return is_of_fields(made)


def is_of_fields(made: type) -> bool:
    """Whether instances are compared by their fields."""
    if not dataclasses.is_dataclass(made):
        return False
    return is_generated(made.__eq__) or str(getattr(made.__eq__, "__module__", "")).startswith("equinox.")


def _is_of_library(made: type) -> bool:
    """Whether its instances are values of jax's or flax's, compared by what they are made of, as shardings are, and no arrays."""
    is_value = made.__eq__ is not object.__eq__ and made.__hash__ not in (object.__hash__, None)
    # From jax 0.11 on there is one of each.
    return (
        (is_value or made is PartitionSpec)
        and made.__module__.partition(".")[0] in ("jax", "jaxlib", "flax")
        and not issubclass(made, jax.Array)
    )


def likeness(value: Any) -> str | int:
    """A text that is the same for what was made alike, of the same classes, arrays and other objects; the identity of what is too large."""
    said: list[str] = []
    try:
        # What is met is held meanwhile, so that its ids are its own.
        _look_into(value, said, {})
    except _TooMuch:
        return id(value)
    return f"like {hash(tuple(said))}"


def contents(array: Any) -> str | None:
    """A text that is the same for arrays of one class and type that hold the same, and doesn't say what. None if that isn't looked at: it
    is much, is spread over devices or computed still, has a class of the program's, or is gone."""
    known = _contents.get(id(array))
    if known is not None and known[0]() is array and not array.is_deleted():
        return known[1]
    try:
        held: Any = array
        if issubclass(type(array), jax.Array):
            held = array if type(array) is ArrayImpl else array._base_array
            if not (held.is_ready() and held.is_fully_replicated and held.nbytes <= BYTES):
                return None
            # What jax keeps of an array that it was asked for would keep its buffer from being given away.
            held = np.asarray(held.addressable_data(0))
        if type(held) is not np.ndarray or held.nbytes > BYTES or held.dtype.hasobject:
            return None
        text = f"{type(array).__name__} {array_text(array)} {getattr(array, 'weak_type', False)} {hash(held.tobytes())}"
        if type(array) is ArrayImpl:
            if len(_contents) >= ARRAYS:
                _contents.clear()
            _contents[id(array)] = weakref.ref(array), text
        return text
    except Exception:  # Its buffer was deleted, or a tracer stands for it.
        return None


_contents: dict[int, tuple[Callable[[], Any], str]] = {}
"""What was said of arrays that can't be changed in their place, by their ids."""


def _look_into(value: Any, said: list[str], known: dict[int, Any]) -> None:
    if len(said) >= LOOKED_AT:
        raise _TooMuch
    parts = _parts(value)
    # Hashes of -1 and -2 are the same: what has fields is told by these.
    hashed = hash_of(value) if parts is None and _is_of_library(type(value)) else None
    if is_array(value):
        said.append(contents(value) or str(id(value)))
    elif type(value) is PartitionSpec:
        said.append(repr(value))
    elif hashed is not None:
        said.append(f"{type(value).__name__} {hashed}")
    elif is_plain(value) or (type(value).__module__ in ("builtins", "numpy") and isinstance(value, _ATOMS)):
        said.append(f"{type(value).__name__} {value!r}")
    elif isinstance(value, enum.Enum) or parts is None:
        # One of its kind.
        said.append(f"{type(value).__name__} {id(value)}")
    elif id(value) in known:
        said.append("…")
    else:
        known[id(value)] = value
        said.append(f"{type(value).__name__} {id(type(value))} of {len(parts)}")
        for part in parts:
            _look_into(part, said, known)


def _parts(value: Any) -> list[Any] | None:
    made = type(value)
    if made is types.FunctionType:
        return [_written(value.__code__), closed_over(value), value.__defaults__, value.__kwdefaults__]
    if made is types.MethodType:
        return [value.__func__, value.__self__]
    if made is functools.partial:
        return [value.func, value.args, value.keywords]
    if is_jitted(value):
        return [body(value)]
    if made in (set, frozenset) and len(value) <= LOOKED_AT and all(map(is_plain, value)):
        return sorted(map(repr, value))
    if made in _SEQUENCES or issubclass(made, tuple):
        return list(itertools.islice((made if made in _SEQUENCES else tuple).__iter__(value), LOOKED_AT))
    if made in _MAPPINGS:
        return [part for item in itertools.islice(value.items(), LOOKED_AT) for part in item]
    if is_of_fields(made):
        return [stored(value, field.name, NOTHING) for field in dataclasses.fields(made) if field.compare]
    return None


def _written(code: types.CodeType) -> str:
    """What the code does, wherever it stands."""
    parts = [_written(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {code.co_varnames} {parts}"
