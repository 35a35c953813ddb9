"""Objects in few words, for a reader: without what their own `__repr__` would do, and without what arrays hold."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import pathlib
import types
from typing import Any

import jax
import numpy as np

from .source import body, function_text

TEXT = 240
"""Characters of an object's text, at most."""

_SPEAK_FOR_THEMSELVES = (
    float, complex, bytes, range, slice, np.generic, datetime.date, decimal.Decimal, fractions.Fraction, pathlib.PurePath
)
"""Classes whose own `__repr__` says of a value what it is, and runs nothing of the program's."""

_THEIR_MODULES = ("builtins", "numpy", "datetime", "decimal", "fractions", "pathlib")
"""Where these are, and no subclass of the program's is."""


def is_plain(value: Any) -> bool:
    """Whether it is written as it stands: equal to what looks the same and to nothing else."""
    if value is None or type(value) in (bool, int, str):
        return True
    if isinstance(value, np.generic):
        # As a case writes one: each nan is an object of its own, as of Python's floats.
        return value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and abs(value.item()) <= 2**53
    if type(value) is float:
        # Each nan is an object of its own.
        return not math.isnan(value)
    return type(value) is tuple and all(is_plain(item) for item in value)


def text_of(value: Any) -> str:
    """An object for a reader, without what its `__repr__` would do."""
    if isinstance(value, (np.dtype, type)):
        return str(value)[:TEXT]
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"[:TEXT]
    if isinstance(value, _SPEAK_FOR_THEMSELVES) and type(value).__module__.partition(".")[0] in _THEIR_MODULES:
        return repr(value)[:TEXT]
    if isinstance(value, types.BuiltinFunctionType):
        return f"<function {value.__qualname__}>"
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
        shown = [f"{name}={part!r}" if is_plain(part) else f"{name}={_part(part)}" for name, part in fields.items()]
        return f"{type(value).__name__}({', '.join(shown)})"[:TEXT]
    if isinstance(value, jax.tree_util.PyTreeDef):
        return f"PyTreeDef({_treedef_text(value)})"[:TEXT]
    inner = body(value)
    if isinstance(inner, types.FunctionType) and inner is not value:
        return f"<{type(value).__name__} of {function_text(inner)}>"
    # As one of its base, whatever a subclass makes of itself.
    base: Any = next((base for base in (list, dict, set, frozenset) if isinstance(value, base)), None)
    if base is not None:
        parts = [item for pair in dict.items(value) for item in pair] if base is dict else list(base.__iter__(value))
        if len(parts) <= 8 and base in (set, frozenset) and not all(map(is_plain, parts)):
            return f"{type(value).__name__}({', '.join(sorted(repr(part) if is_plain(part) else text_of(part) for part in parts))})"[:TEXT]
        if len(parts) <= 8 and all(map(is_plain, parts)):
            text = base.__repr__(value)
            is_said = type(value) is base or text.startswith(type(value).__name__)
            return (text if is_said else f"{type(value).__name__}({text})")[:TEXT]
    return f"<{type(value).__name__}>"


def _treedef_text(treedef: Any) -> str:
    node = treedef.node_data()
    if node is None:
        return "*" if treedef.num_leaves else "None"
    made, aux = node
    keys = aux if made is dict and all(map(is_plain, aux)) else [""] * len(treedef.children())
    parts = [f"{key!r}: {part}" if made is dict else part for key, part in zip(keys, map(_treedef_text, treedef.children()), strict=False)]
    return f"{made.__name__}({', '.join(parts)})"


def value_text(value: Any) -> str:
    """An object that is equal to some, by what it holds."""
    text, held = text_of(value), getattr(value, "__dict__", None)
    if text != f"<{type(value).__name__}>" or type(held) is not dict:
        return text
    shown = {name: repr(part) if is_plain(part) else _part(part) for name, part in held.items()}
    if all(part == "…" for part in shown.values()):
        return text
    return f"{type(value).__name__}({', '.join(f'{name}={part}' for name, part in shown.items())})"[:TEXT]


def identity_text(value: Any) -> str:
    """An object that is equal to itself alone, with what it holds of that which can be said in few words."""
    text, name = text_of(value), type(value).__name__
    shown = {attribute: repr(part) if is_plain(part) else _part(part) for attribute, part in value.__dict__.items()}
    parts = [f"{attribute}={part}" for attribute, part in shown.items() if part != "…"]
    return f"<{name} {', '.join(parts)}"[: TEXT - 1] + ">" if parts and text == f"<{name}>" else text


def _part(value: Any) -> str:
    """What an object holds, if that can be said in few words."""
    if isinstance(value, types.FunctionType):
        return function_text(value)
    is_told = isinstance(value, (np.dtype, type, enum.Enum)) or dataclasses.is_dataclass(value) or body(value) is not value
    text = text_of(value) if is_told or type(value) in (list, dict, set, frozenset) else "…"
    return text if is_told or not text.startswith("<") else "…"


def from_outside(function: Any) -> dict[str, str]:
    """What a function closes over, the numbers and texts that it reads of its module, and what a partial gives it or the object holds
    whose method it is, by name; what can't be said in few words is left out."""
    found: dict[str, Any] = {}
    if isinstance(function, functools.partial):
        written = getattr(function.func, "__code__", None)
        names = written.co_varnames[: written.co_argcount] if written is not None else ()
        found = dict(zip(names, function.args, strict=False)) | function.keywords
    elif isinstance(function, types.MethodType) and type(held := getattr(function.__self__, "__dict__", None)) is dict:
        found = {f"self.{name}": value for name, value in held.items() if is_plain(value)}
    said = {name: _outside(value) for name, value in (_read(body(function)) | found).items()}
    return {name: text for name, text in said.items() if text is not None}


def _read(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if not isinstance(function, types.FunctionType):
        return found
    written = function.__code__
    for name in written.co_names:
        value = function.__globals__.get(name)
        if value is not None and is_plain(value):
            found[name] = value
    for name, cell in zip(written.co_freevars, function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # It is bound later.
            continue
    return found


def _outside(value: Any) -> str | None:
    if is_plain(value):
        return repr(value)[:TEXT]
    if isinstance(value, (jax.Array, np.ndarray)):
        return f"{value.dtype}{list(value.shape)}"
    if hasattr(type(value), "__getattr__"):
        # To ask it for anything is to run the program's own code.
        return None
    try:
        text = function_text(value) if isinstance(value, types.FunctionType) else value_text(value)
    except Exception:  # What is looked at raises.
        return None
    return text if text != f"<{type(value).__name__}>" else None
