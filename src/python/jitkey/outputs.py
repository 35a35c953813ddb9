"""What a call really returned, against what the case says that it returns."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
from jax.tree_util import tree_flatten

from .errors import Malformed


def follow(value: Any, path: list[int]) -> Any:
    """The part of an output at the end of a path of positions."""
    for i, step in enumerate(path):
        parts = _parts(value)
        if step >= len(parts):
            raise Malformed(f"an output has no part {path[: i + 1]}: {type(value).__name__} has {len(parts)}")
        value = parts[step]
    return value


def _parts(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return []


def check_returns(number: int, real: Any, stated: Any) -> None:
    """Refuses a case whose `returns` isn't what the call returned: same leaves, same tree with the Nones in it."""
    real_leaves, real_tree = tree_flatten(real)
    stated_leaves, stated_tree = tree_flatten(stated)
    real_words, stated_words = [_aval(leaf) for leaf in real_leaves], [_aval(leaf) for leaf in stated_leaves]
    if real_words != stated_words:
        raise Malformed(f"call {number} returns the leaves {real_words}, and the case states {stated_words}")
    if _outline(real_tree) != _outline(stated_tree):
        raise Malformed(f"call {number} returns {real_tree}, and the case states {stated_tree}")


def check_made(name: str, real: Any, stated: Any) -> None:
    """Refuses a case whose `as` has other leaves than what the library made."""
    real_words = [_kind(leaf) for leaf in tree_flatten(real)[0]]
    stated_words = [_kind(leaf) for leaf in tree_flatten(stated)[0]]
    if real_words != stated_words:
        raise Malformed(f"{name} makes the leaves {real_words}, and the case states {stated_words}")


def _aval(leaf: Any) -> str:
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        weak = "~" if getattr(leaf, "weak_type", False) else ""
        return f"{weak}{leaf.dtype}{list(leaf.shape)}"
    return type(leaf).__name__


def _kind(leaf: Any) -> str:
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        return _aval(leaf)
    return "callable" if callable(leaf) else type(leaf).__name__


_NONE = jax.tree_util.tree_structure(None)


def _outline(tree: Any) -> Any:
    """The tree without its node types: nested lists, with a word for None and for a leaf."""
    if tree == _NONE:
        return "None"
    if jax.tree_util.treedef_is_leaf(tree):
        return "*"
    return [_outline(child) for child in tree.children()]
