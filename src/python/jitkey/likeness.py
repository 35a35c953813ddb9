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
from .nnx_variables import LEAVES, is_of_nnx, leaves_of
from .source import NOTHING, body, closed_over, function_text, is_generated, is_jitted, library_function, stored
from .texts import array_text, is_array, is_plain, short, text_of

LOOKED_AT = 512
"""So many parts of one are looked at,"""

BYTES = 1 << 14
"""and so many bytes of an array."""

PATHS = 2048
"""So many variables, numbers and texts of an object of `flax.nnx` are known by their paths."""

SHOWN = 2
"""In so many settings it is said how one differs from another."""

OTHER = "is another"
"""What is said of a setting that can't be shown."""

Settings = dict[str, tuple[str, str]]
"""By path what tells it from others, and how it is shown."""

_Setting = tuple[str, str, Any]
"""The path, what tells it from others, and what is there."""

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
    said: list[_Setting] = []
    try:
        # What is met is held meanwhile, so that its ids are its own.
        _look_into(value, "", said, {})
    except _TooMuch:
        return id(value)
    return f"like {hash(tuple(told for _, told, _ in said))}"


def settings(value: Any) -> Settings | None:
    """What it is made of, or an object of `flax.nnx` holds, by paths: what tells each from others, and how it is shown. None if that is
    too much."""
    said: list[_Setting] = []
    try:
        if is_of_nnx(value):
            leaves = leaves_of(value)
            is_much = len(leaves) > LEAVES
            said = [
                (path, str(id(leaf)) if is_much and not is_plain(leaf) else _told(leaf), leaf)
                for path, leaf in itertools.islice(leaves.items(), PATHS)
            ]
        else:
            _look_into(value, "", said, {})
    except _TooMuch:
        return None
    found: Settings = {}
    for path, told, part in said:
        known = found.get(path)
        # What a function does and what it is called stand in one place.
        found[path] = (told, _shown(part)) if known is None else (f"{known[0]} {told}", known[1])
    return found


def difference(now: Settings, before: Settings) -> str:
    """In few words in what one differs from the other; empty if in nothing that is known."""
    others: dict[str, str] = {}
    for path, (told, shown) in now.items():
        is_within = any(path.startswith(other) and path[len(other)] in ".[" for other in others if len(other) < len(path))
        if path and path in before and before[path][0] != told and not is_within:
            was = before[path][1]
            others[path] = OTHER if shown == was else f"is {shown} instead of {was}"
    return said_of(others)


def said_of(others: dict[str, str]) -> str:
    """What is said of the paths of settings, the first of them, and what has values before the others; of the rest how many there are."""
    if not others:
        return ""
    ordered = sorted(others.items(), key=lambda one: one[1] == OTHER)
    first = " and ".join(f"{path.removeprefix('.')} {said}" for path, said in ordered[:SHOWN])
    return f"{first} and {len(others) - SHOWN} more differ" if len(others) > SHOWN else first


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


def _look_into(value: Any, path: str, said: list[_Setting], known: dict[int, Any]) -> None:
    if len(said) >= LOOKED_AT:
        raise _TooMuch
    is_one = is_plain(value) or isinstance(value, enum.Enum) or library_function(value) is not None
    parts = None if is_one else _parts(value)
    # Hashes of -1 and -2 are the same: what has fields is told by these.
    hashed = hash_of(value) if parts is None and _is_of_library(type(value)) else None
    if parts is None or is_array(value) or type(value) is PartitionSpec or hashed is not None:
        told = f"{type(value).__name__} {hashed}" if hashed is not None else _told(value)
    elif id(value) in known:
        told, parts = "…", None
    else:
        known[id(value)] = value
        told = f"{type(value).__name__} {id(type(value))} of {len(parts)}"
    said.append((path, told, value))
    for name, part in parts or []:
        _look_into(part, f"{path}{name}", said, known)


def _told(value: Any) -> str:
    """What tells from others what isn't looked into."""
    if is_array(value):
        return contents(value) or str(id(value))
    if type(value) is PartitionSpec:
        return repr(value)
    if (called := library_function(value)) is not None:
        return called
    if is_plain(value) or (type(value).__module__ in ("builtins", "numpy") and isinstance(value, _ATOMS)):
        return f"{type(value).__name__} {value!r}"
    # One of its kind.
    return f"{type(value).__name__} {id(value)}"


def _shown(value: Any) -> str:
    if is_array(value):
        return f"<{array_text(value)}>"
    called = library_function(value)
    if called is not None or type(value) is types.FunctionType:
        return f"<{called or function_text(value)}>"
    return short(repr(value)) if is_plain(value) else text_of(value)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """What it is made of, each with how the path to it goes on."""
    made = type(value)
    if made is types.FunctionType:
        held = [(f".{name}", part) for name, part in closed_over(value).items()]
        return [("", _written(value.__code__)), *held, (".__defaults__", value.__defaults__), (".__kwdefaults__", value.__kwdefaults__)]
    if made is types.MethodType:
        return [("", value.__func__), (".__self__", value.__self__)]
    if made is functools.partial:
        return [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
    if is_jitted(value):
        return [("", body(value))]
    if made in (set, frozenset) and len(value) <= LOOKED_AT and all(map(is_plain, value)):
        return [("", text) for text in sorted(map(repr, value))]
    if made in _SEQUENCES or issubclass(made, tuple):
        names = getattr(made, "_fields", ())
        items = itertools.islice((made if made in _SEQUENCES else tuple).__iter__(value), LOOKED_AT)
        return [(f".{names[i]}" if i < len(names) else f"[{i}]", part) for i, part in enumerate(items)]
    if made in _MAPPINGS:
        pairs = itertools.islice(value.items(), LOOKED_AT)
        return [part for key, item in pairs for part in (("", key), (f"[{key!r}]" if is_plain(key) else "", item))]
    if is_of_fields(made):
        fields = [field for field in dataclasses.fields(made) if field.compare]
        return [(f".{field.name}", stored(value, field.name, NOTHING)) for field in fields]
    return None


def _written(code: types.CodeType) -> str:
    """What the code does, wherever it stands."""
    parts = [_written(part) if isinstance(part, types.CodeType) else repr(part) for part in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {code.co_varnames} {parts}"
