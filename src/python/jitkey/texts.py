"""Objects in few words, for a reader: without what their own `__repr__` would do, and without what arrays hold."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import math
import pathlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from .source import NOTHING, body, function_text, held_by, stored

TEXT = 240
"""Characters of an object's text, at most."""

DEPTH = 3
"""So many objects inside of each other are looked into."""

PARTS = 32
"""So many parts of one are."""

CONTAINERS = (dict, list, set, collections.defaultdict, collections.OrderedDict, collections.Counter, collections.deque)
"""What is read as a whole, or item by item, and can be changed in its place."""

LONG = 1024
"""A tuple of more items is not written down: what holds a vocabulary would be written in each call."""

_SPEAK_FOR_THEMSELVES = (
    float,
    complex,
    bytes,
    range,
    slice,
    np.generic,
    datetime.date,
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
)
"""Classes whose own `__repr__` says of a value what it is, and runs nothing of the program's."""

_THEIR_MODULES = ("builtins", "numpy", "datetime", "decimal", "fractions", "pathlib")
"""Where these are, and no subclass of the program's is."""


def short(text: str) -> str:
    """A text that isn't too long to be read."""
    return text if len(text) <= TEXT else f"{text[:TEXT]}…"


def is_plain(value: Any) -> bool:
    """Whether it is written as it stands: equal to what looks the same and to nothing else. A long tuple isn't."""
    if value is None or type(value) in (bool, int, str):
        return True
    if isinstance(value, np.generic):
        # As a case writes one: each nan is an object of its own, as of Python's floats.
        return value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and abs(value.item()) <= 2**53
    if type(value) is float:
        # Each nan is an object of its own.
        return not math.isnan(value)
    return type(value) is tuple and len(value) <= LONG and all(is_plain(item) for item in value)


def holds_only(is_one: Callable[[Any], bool], value: Any, depth: int, items: int) -> bool:
    """Whether it is such or plain, or a container of so many items, so deep within each other, which holds nothing else."""
    if type(value) not in (*CONTAINERS, tuple):
        return is_plain(value) or is_one(value)
    if depth == 0 or len(value) > items:
        return False
    held = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return all(holds_only(is_one, item, depth - 1, items) for item in held)


def is_array(value: Any) -> bool:
    """Whether it is an array of jax's or NumPy's, whatever a class says of itself."""
    return issubclass(type(value), (jax.Array, np.ndarray))


_ATOMS = {bool, int, float, complex, str, bytes, type(None)}
"""What holds nothing."""


def has_arrays(value: Any) -> bool:
    """Whether it is an array of jax's, or a container with one in it, however deep."""
    if isinstance(value, dict):
        return any(map(has_arrays, value.values()))
    if isinstance(value, (tuple, list)):
        return not set(map(type, value)) <= _ATOMS and any(map(has_arrays, value))
    return isinstance(value, jax.Array)


def array_text(value: Any) -> str:
    """An array without what it holds."""
    return short(f"{value.dtype}{list(value.shape)}")


def text_of(value: Any, depth: int = DEPTH) -> str:
    """An object for a reader, without what its `__repr__` would do."""
    if isinstance(value, type):
        # Its class can have a text of its own.
        return short(type.__repr__(value))
    if isinstance(value, np.dtype):
        return short(str(value))
    if isinstance(value, enum.Enum):
        return short(f"{type(value).__name__}.{stored(value, '_name_')}")
    if isinstance(value, _SPEAK_FOR_THEMSELVES) and type(value).__module__.partition(".")[0] in _THEIR_MODULES:
        return short(repr(value))
    if isinstance(value, types.BuiltinFunctionType):
        return f"<function {value.__qualname__}>"
    if dataclasses.is_dataclass(value):
        fields = {field.name: stored(value, field.name, NOTHING) for field in dataclasses.fields(value)[:PARTS]}
        shown = [f"{name}={'…' if part is NOTHING else _part(part, depth)}" for name, part in fields.items()]
        return short(f"{type(value).__name__}({', '.join(shown)})")
    if isinstance(value, jax.tree_util.PyTreeDef):
        return short(f"PyTreeDef({_treedef_text(value) if value.num_nodes <= PARTS else '…'})")
    inner = body(value)
    if isinstance(inner, types.FunctionType) and inner is not value:
        return f"<{type(value).__name__} of {function_text(inner)}>"
    if isinstance(value, functools.partial) and isinstance(inner, (type, types.BuiltinFunctionType)):
        # `type`'s own, since a metaclass can have a text of its own as well.
        name = vars(type)["__qualname__"].__get__(inner) if isinstance(inner, type) else inner.__qualname__
        given = f"({', '.join(repr(arg) if is_plain(arg) else '…' for arg in value.args)})" if value.args else ""
        return short(f"<{type(value).__name__} of {name}{given}>")
    # As one of its base, whatever a subclass makes of itself.
    base: Any = next((base for base in (list, dict, set, frozenset, collections.deque) if isinstance(value, base)), None)
    if base is not None and base.__len__(value) <= 8:
        if base in (set, frozenset) and base.__len__(value):
            # Equal ones can be in another order.
            text = f"{{{', '.join(sorted(_part(part, depth) for part in base.__iter__(value)))}}}"
            return short(text if type(value) is set else f"{type(value).__name__}({text})")
        parts = [item for pair in dict.items(value) for item in pair] if base is dict else list(base.__iter__(value))
        if all(map(is_plain, parts)):
            # As equal ones are in any order, but for those that keep theirs.
            is_sorted = base is dict and type(value).__eq__ is dict.__eq__
            text = base.__repr__(dict(sorted(dict.items(value), key=repr)) if is_sorted else value)
            is_said = type(value) is base or text.startswith(type(value).__name__)
            return short(text if is_said else f"{type(value).__name__}({text})")
    return f"<{type(value).__name__}>"


def _treedef_text(treedef: Any) -> str:
    node = treedef.node_data()
    if node is None:
        return "*"
    made, aux = node
    if made is type(None):
        return "None"
    parts = list(map(_treedef_text, treedef.children()))
    if made is dict and all(map(is_plain, aux)):
        parts = [f"{key!r}: {part}" for key, part in zip(aux, parts, strict=True)]
    return f"{made.__name__}({', '.join(parts)})"


def value_text(value: Any) -> str:
    """An object that is equal to some, by what it holds."""
    text, held = text_of(value), _attributes(value)
    if text != f"<{type(value).__name__}>" or not held:
        return text
    shown = {name: _part(part) for name, part in held.items()}
    if all(part == "…" for part in shown.values()):
        return text
    return short(f"{type(value).__name__}({', '.join(f'{name}={part}' for name, part in shown.items())})")


def identity_text(value: Any) -> str:
    """An object that is equal to itself alone, with what it holds of that which can be said in few words. Lists and dicts and arrays
    are said as such, or the first of those inside, since an object that holds one can't be hashed by what it holds."""
    text, name = text_of(value), type(value).__name__
    if text != f"<{name}>":
        return text
    held = _attributes(value)
    shown = {attribute: _held(part) for attribute, part in held.items()}
    parts = {attribute: f"{attribute}={part}" for attribute, part in shown.items() if part != "…"}
    said = ", ".join(parts.values())
    marked = [part for attribute, part in parts.items() if _mark(held[attribute])]
    if not marked:
        found = (f"{attribute}{path}={mark}" for attribute, part in held.items() for path, mark in _unhashable(part))
        marked = list(itertools.islice(found, 1))
    if not all(part in said[:TEXT] for part in marked):
        # What can't be hashed is said whatever is cut off.
        said = ", ".join(dict.fromkeys([marked[0], *parts.values()]))
    return f"<{name} {short(said)}>" if said else text


def _unhashable(value: Any, depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    """The lists, dicts, sets and arrays in a value, by their paths in it."""
    made = type(value)
    mark = _mark(value)
    if mark:
        yield "", mark
    elif depth == 0 or hasattr(made, "__getattr__"):
        return
    elif issubclass(made, tuple):
        for i, part in enumerate(itertools.islice(tuple.__iter__(value), PARTS)):
            yield from ((f"[{i}]{path}", mark) for path, mark in _unhashable(part, depth - 1))
    elif dataclasses.is_dataclass(made):
        for field in dataclasses.fields(made)[:PARTS]:
            part = stored(value, field.name, NOTHING)
            yield from ((f".{field.name}{path}", mark) for path, mark in _unhashable(part, depth - 1))


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds, but for what a function has beside it, as its documentation."""
    held = {name: part for name, part in (held_by(value) or {}).items() if name == "__name__" or not name.startswith("__")}
    return dict(itertools.islice(held.items(), PARTS))


def _held(value: Any) -> str:
    """What an object holds, if that can be said in few words or is a container or an array."""
    text = "…" if is_array(value) else _part(value)
    return text if text != "…" else _mark(value) or text


def _mark(value: Any) -> str | None:
    """An array or a container that can't be hashed, in few words; None for anything else."""
    if is_array(value):
        # An object whose arrays have other shapes is one of its kind, made anew.
        return f"{value.dtype}[…]"
    marks: dict[type, str] = {list: "[…]", dict: "{…}", set: "{…}"}
    return marks.get(type(value))


def _part(value: Any, depth: int = DEPTH) -> str:
    """What an object holds, if that can be said in few words."""
    if is_plain(value):
        return repr(value)
    if isinstance(value, types.FunctionType):
        return function_text(value)
    if depth == 0 or (hasattr(type(value), "__getattr__") and type(value).__module__.partition(".")[0] != "jax"):
        # To ask such a one for anything is to run the program's own code, but for what wraps a function, as `jax.custom_jvp` does.
        return "…"
    is_told = isinstance(value, (np.dtype, type, enum.Enum)) or dataclasses.is_dataclass(value) or body(value) is not value
    text = text_of(value, depth - 1) if is_told or type(value) in (list, dict, set, frozenset) else "…"
    return text if is_told or not text.startswith("<") else "…"
