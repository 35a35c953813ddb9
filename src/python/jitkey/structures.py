"""Treedefs in the words of a case: each as that of a value with the same nodes, whose leaves are stars."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

from jax._src import tree_util

from .errors import Unsupported
from .record import DICTS

STAR = {"str": "*"}
"""A leaf, of which a treedef holds nothing."""

NODES = 4096
"""A treedef of more is not written."""

LEVELS = 64
"""So deep is what is written of one, since the text of a recording nests no deeper than some hundred."""


def written(treedef: Any, named: Callable[[Any], Any], class_of: Callable[..., str]) -> dict[str, Any]:
    """The treedef. `named` writes the data of its nodes, `class_of` their classes. Raises `Unsupported` for one that is too large, and
    for a dict whose keys a case can't sort."""
    if treedef.num_nodes > NODES:
        raise Unsupported("a large treedef")
    try:
        form = _structure(treedef, named, class_of)
        too_deep = _depth(form) > LEVELS
    except RecursionError:
        too_deep = True
    if too_deep:
        raise Unsupported("a deep treedef")
    return {"treedef": form}


def _depth(form: Any) -> int:
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def _structure(treedef: Any, named: Callable[[Any], Any], class_of: Callable[..., str]) -> Any:
    """A value with that treedef."""
    node = treedef.node_data()
    if node is None:
        return STAR
    made, data = node
    children = [_structure(child, named, class_of) for child in treedef.children()]
    if made is type(None):
        return None
    if made is list:
        return children
    if made is tuple:
        return {"tuple": children}
    if made in DICTS:
        return {DICTS[made]: _items(data, children, named)}
    if made is collections.defaultdict:
        factory, keys = data
        return {"default_dict": {"factory": named(factory), "items": _items(keys, children, named)}}
    if data is None and issubclass(made, tuple) and hasattr(made, "_fields"):
        return {"new": {"class": class_of(made, (), {"namedtuple": list(made._fields)}), "args": children}}
    # An instance that is an argument itself may be written by its fields, as of another kind of class.
    fields = _dataclass_fields(made)
    if fields is None:
        return {"new": {"class": class_of(made, ("structure",), {"node": {}}), "children": children, "aux": named(data)}}
    own = dict(zip(fields["data"], children, strict=True)) | dict(zip(fields["meta"], map(named, data), strict=True))
    return {"new": {"class": class_of(made, ("structure",), {"dataclass": fields}), "fields": own}}


def _dataclass_fields(made: type) -> dict[str, list[str]] | None:
    """The fields with which `jax.tree_util.register_dataclass` knows a class, which only the function that flattens it has."""
    flatten: Any = getattr(tree_util._registry.get(made), "to_iter", None)
    closure = getattr(flatten, "__closure__", None)
    if not dataclasses.is_dataclass(made) or not closure:
        return None
    held = {name: cell.cell_contents for name, cell in zip(flatten.__code__.co_freevars, closure, strict=True)}
    fields = {kind: list(held.get(f"{kind}_fields", ())) for kind in ("data", "meta")}
    return fields if flatten.__module__ == tree_util.__name__ and any(fields.values()) else None


def _items(keys: Any, children: list[Any], named: Callable[[Any], Any]) -> list[Any]:
    if len({type(key) for key in keys} | {str}) > 1 and not all(type(key) in (bool, int, float) for key in keys):
        raise Unsupported("a treedef of a dict whose keys are objects")
    return [[named(key), child] for key, child in zip(keys, children, strict=True)]
