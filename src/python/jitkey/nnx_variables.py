"""What is in an object of `flax.nnx`: no node to jax where a function closes over it, and changed in its place."""

from __future__ import annotations

import sys
from typing import Any

from .source import held_by
from .texts import is_plain

_classes: list[tuple[Any, Any]] = []


def _known() -> tuple[Any, Any]:
    """The classes of objects and variables, and those of variables that are the states of random generators, which are others each time.
    Flax isn't imported to find out."""
    if not _classes:
        flax: Any = sys.modules.get("flax.nnx")
        if flax is None or not hasattr(flax, "RngState"):
            return (), ()
        # Up to flax 0.11 what is a Pytree now was an Object.
        _classes.append(((getattr(flax, "Pytree", None) or flax.Object, flax.Variable), flax.RngState))
    return _classes[0]


def is_of_nnx(value: Any) -> bool:
    """Whether it is a Module or another object of `flax.nnx`, or a variable."""
    return isinstance(value, _known()[0])


def is_variable(value: Any) -> bool:
    """Whether it is one whose value counts."""
    made, random = _known()
    return made != () and isinstance(value, made[1]) and not isinstance(value, random)


def in_variable(variable: Any) -> Any:
    """What it holds."""
    # Up to flax 0.10.2 there is the value alone; of 0.12 on what else gets it warns.
    get = getattr(variable, "get_raw_value", None)
    return get() if get is not None else variable.raw_value if hasattr(variable, "raw_value") else variable.value


def parts_of(value: Any) -> dict[Any, Any] | None:
    """What is in an object of flax or a container in it, by its name or place; None for anything else."""
    if type(value) in (list, tuple):
        return dict(enumerate(value))
    if type(value) is dict:
        return value
    return held_by(value) if is_of_nnx(value) and not is_variable(value) else None


LEAVES = 256
"""Of an object with so many variables, numbers and texts it counts what they are, and of one with more whether they were made anew."""


def leaves_of(value: Any, path: str = "", within: frozenset[int] = frozenset()) -> dict[str, Any]:
    """What the variables in it hold, and the numbers and texts beside them, by their paths."""
    if is_variable(value):
        return {path: in_variable(value)}
    if is_plain(value):
        return {path: value}
    parts = None if id(value) in within else parts_of(value)
    is_container = type(value) in (list, tuple, dict)
    found: dict[str, Any] = {}
    for i, (name, part) in enumerate((parts or {}).items()):
        # What is no plain key says nothing of itself.
        key = repr(name) if is_plain(name) else f"<{type(name).__name__} {i}>"
        found |= leaves_of(part, f"{path}[{key}]" if is_container else f"{path}.{name}", within | {id(value)})
    return found
