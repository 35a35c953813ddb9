"""Treedefs in the words of a case: each as that of a value with the same nodes, whose leaves are stars."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

from jax._src import tree_util

from .errors import Unsupported
from .parameters import NAME
from .record import DICTS, equal

STAR = {"str": "*"}
"""A leaf, of which a treedef holds nothing."""

NODES = 4096
"""A treedef of more, those in its data included, is not written."""

LEVELS = 64
"""So deep is what is written of one, since the text of a recording nests no deeper than some hundred."""

KEPT = 256
"""How many treedefs are known at most. Nothing can hold one weakly; those of calls are held by jax's caches as well."""


class Structures:
    """The treedefs that were written. `named` writes the data of nodes, `class_of` their classes."""

    def __init__(self, named: Callable[[Any], Any], class_of: Callable[..., str]) -> None:
        self._named, self._class_of = named, class_of
        self._count = 0
        self._known: dict[int, list[tuple[Any, dict[str, Any] | None, frozenset[str], bool]]] = {}
        """By their hashes, with the names that each speaks of, and whether what equals it is written alike: jax 0.10 takes one
        dataclass for another."""
        self._has_dataclass = False
        self._left: int | None = None
        """How many nodes may be written yet, while a treedef is."""

    def written(self, treedef: Any, used: set[str]) -> dict[str, Any] | None:
        """The treedef; None if it is large or deep, or has what a case has no words for. The names of which it speaks are added to
        `used`. Raises `Unsupported` instead where it is in the data of another one, of which nothing is written then."""
        if self._left is not None:
            return {"treedef": self._structure(treedef)}
        if treedef.num_nodes > NODES:
            return None
        for known, form, names, is_as_equal in self._known.get(hash(treedef), ()):
            if known is treedef or (is_as_equal and equal(known, treedef) and _is_plain(treedef)):
                used |= names
                return form
        before = frozenset(used)
        used.clear()
        self._left, self._has_dataclass = NODES, False
        try:
            form = {"treedef": self._structure(treedef)}
            form = form if _depth(form) <= LEVELS else None
        except (Unsupported, RecursionError):
            form = None
        finally:
            self._left = None
            names = frozenset(used)
            used |= before
        if self._count >= KEPT:
            self._count = 0
            self._known.clear()
        self._count += 1
        self._known.setdefault(hash(treedef), []).append((treedef, form, names, not self._has_dataclass and _is_plain(treedef)))
        return form

    def _structure(self, treedef: Any) -> Any:
        """A value with that treedef."""
        self._left = (self._left or 0) - treedef.num_nodes
        if self._left < 0:
            raise Unsupported("a large treedef")
        return self._node(treedef)

    def _node(self, treedef: Any) -> Any:
        node = treedef.node_data()
        if node is None:
            return STAR
        made, data = node
        children = list(map(self._node, treedef.children()))
        if made is type(None):
            return None
        if made is list:
            return children
        if made is tuple:
            return {"tuple": children}
        if made in DICTS:
            return {DICTS[made]: self._items(data, children)}
        if made is collections.defaultdict:
            factory, keys = data
            return {"default_dict": {"factory": self._named(factory), "items": self._items(keys, children)}}
        # One that is registered is a node like any other.
        if data is None and issubclass(made, tuple) and hasattr(made, "_fields") and made not in tree_util._registry:
            return {"new": {"class": self._class_of(made, (), {"namedtuple": _names(made._fields)}), "args": children}}
        # An instance that is an argument itself may be written by its fields, as of another kind of class.
        fields = _dataclass_fields(made)
        if fields is None:
            return {"new": {"class": self._class_of(made, ("structure",), {"node": {}}), "children": children, "aux": self._named(data)}}
        self._has_dataclass = True
        own = dict(zip(fields["data"], children, strict=True)) | dict(zip(fields["meta"], map(self._named, data), strict=True))
        return {"new": {"class": self._class_of(made, ("structure",), {"dataclass": fields}), "fields": own}}

    def _items(self, keys: Any, children: list[Any]) -> list[Any]:
        is_text = all(type(key) is str and key.isprintable() for key in keys)
        if not is_text and not all(type(key) in (bool, int, float) for key in keys):
            raise Unsupported("a treedef of a dict whose keys a case can't sort or write")
        return [[self._named(key), child] for key, child in zip(keys, children, strict=True)]


def _is_plain(treedef: Any) -> bool:
    """Whether none of its nodes has for its data a treedef, to which nothing but another treedef is unequal since jax 0.8."""
    nodes = [treedef]
    while nodes:
        node = nodes.pop()
        _, data = node.node_data() or (None, None)
        if isinstance(data, tree_util.PyTreeDef):
            return False
        nodes += node.children()
    return True


def _depth(form: Any) -> int:
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def _names(fields: Any) -> list[str]:
    if not all(map(NAME.match, fields)):
        raise Unsupported("a treedef of a class with a field that isn't ASCII")
    return list(fields)


def _dataclass_fields(made: type) -> dict[str, list[str]] | None:
    """The fields with which `jax.tree_util.register_dataclass` knows a class, which only the function that flattens it has."""
    flatten: Any = getattr(tree_util._registry.get(made), "to_iter", None)
    if not dataclasses.is_dataclass(made) or getattr(flatten, "__module__", None) != tree_util.__name__:
        return None
    held = {name: cell.cell_contents for name, cell in zip(flatten.__code__.co_freevars, flatten.__closure__ or (), strict=True)}
    fields = {kind: _names(held.get(f"{kind}_fields", ())) for kind in ("data", "meta")}
    return fields if any(fields.values()) else None
