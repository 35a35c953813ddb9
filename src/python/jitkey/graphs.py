"""What `flax.nnx` hands to jax of a Module: its graph, attribute by attribute."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jax._src.tree_util import default_registry

from .parameters import NAME
from .record import Recorder, identifier
from .source import NOTHING, held_by, of_class

ITEM = "_item_"
"""How the attribute that an item is recorded as begins."""

NODES = "_pytree__nodes"
"""The attribute of a Module that says which of its attributes are nodes."""

REMOVED = "_removed"
"""What is recorded instead: the attributes that it lists and that are there no more."""


class Graphs(Recorder):
    """What a graph holds that is compared as a whole is written by `_named`."""

    def _named(self, value: Any) -> Any:
        raise NotImplementedError

    def _graph(
        self, nodes: Iterator[Any], attributes: Iterator[Any], path: str, variables: list[str], met: dict[int, str], *, is_node: bool = True
    ) -> Any:
        """What an `nnx.GraphDef` says, attribute by attribute: it lists nodes and attributes as they are met from the root, and
        the leaves of the state are its `variables`, which are named here, and where each node is `met` by its number. It is a node of
        a tree without children, or hashed and compared as a whole."""
        node = next(nodes)
        index = getattr(node, "index", None)
        # Its number follows from where it stands, and changes with whatever comes before it.
        parts = [part.name for part in dataclasses.fields(node)] if dataclasses.is_dataclass(node) else []
        if "metadata" in parts:
            about = {f"_{name}": getattr(node, name) for name in parts if name not in ("index", "num_attributes")}
            if isinstance(node.metadata, Mapping) and all(type(key) is str for key in node.metadata):
                metadata = about.pop("_metadata")
                about |= {identifier(key): metadata[key] for key in sorted(metadata)}
            fields = {name: self._named(part) for name, part in about.items()}
        elif index in met:
            fields = {"_is": self._named(met[index])}
        else:
            fields = {"_node": self._named(node)}
        if isinstance(index, int):
            met.setdefault(index, path or "the whole")
        if type(node).__name__ == "VariableDef":
            variables.append(path)
        is_made_of_items = str(getattr(getattr(node, "type", None), "__module__", "")).startswith("flax.")
        were_set: set[str] = set()
        names: set[str] = set()
        for _ in range(getattr(node, "num_attributes", 0)):
            name, attribute = next(attributes)
            # Items of a list have numbers, and are in the list of nodes as texts.
            names.add(str(name))
            # Which of the attributes are nodes, and how many items there are, as each of them says by itself.
            if name == NODES:
                were_set |= {str(name) for name in getattr(attribute, "value", attribute) if not str(name).startswith("_pytree__")}
                continue
            if name == "_length" and is_made_of_items:
                continue
            is_item = isinstance(name, int)
            inner = f"{path}[{name}]" if is_item else f"{path}.{name}"
            if type(attribute).__name__ == "NodeAttr":
                value = self._graph(nodes, attributes, inner, variables, met, is_node=is_node)
            else:
                value = self._named(getattr(attribute, "value", attribute))
            if type(attribute).__name__ in ("ArrayAttr", "LeafAttr"):
                variables.append(inner)
            fields[identifier(f"{ITEM if is_item else ''}{name}")] = value
        if were_set - names:
            # Up to flax 0.12.2 an attribute that was removed is in that list.
            fields[REMOVED] = self._named(tuple(sorted(were_set - names)))
        made = getattr(node, "type", type(node))
        # None is a node without attributes.
        return None if made is type(None) else self._graph_of(made, fields, is_node=is_node)

    def _node_def(self, value: Any, *, is_node: bool = True) -> Any:
        """The same of one of up to flax 0.10.2, which holds the nodes that are in it."""
        # A number follows from where the node stands; that of one that was met before says which it is.
        about = {"_type": value.type, "_metadata": getattr(value, "metadata", None)}
        fields = {name: self._named(part) for name, part in about.items() if part is not None}
        indices = getattr(value, "index_mapping", None)
        if indices is not None:
            fields["_index_mapping"] = self._named(tuple(sorted(indices.items())))
        for name in value.attributes:
            part: Any = next((parts[name] for parts in (value.subgraphs, value.static_fields, value.leaves) if name in parts), None)
            key = identifier(f"{ITEM if isinstance(name, int) else ''}{name}")
            if is_node_def(part) and part.type is not type(None):
                fields[key] = self._node_def(part, is_node=is_node)
            elif type(part).__name__ == "VariableDef" and name in value.leaves:
                metadata = {identifier(name): part.metadata[name] for name in sorted(part.metadata)}
                fields[key] = self._attributes(part.type, {"_type": part.type, **metadata}, is_node=is_node)
            elif type(part).__name__ == "NodeRef" and name not in value.static_fields:
                fields[key] = self._attributes(part.type, {"_type": part.type, "_index": part.index}, is_node=is_node)
            else:
                # None is a node without attributes.
                fields[key] = self._named(None if is_node_def(part) else part)
        return self._graph_of(value.type, fields, is_node=is_node)

    def _attributes(self, made: type, parts: dict[str, Any], *, is_node: bool) -> Any:
        return self._graph_of(made, {name: self._named(part) for name, part in parts.items()}, is_node=is_node)

    def _graph_of(self, made: type, fields: dict[str, Any], *, is_node: bool) -> Any:
        """What an `nnx.GraphDef` says of an object, in these words; those of one class that have other attributes are of several."""
        form: dict[str, Any] = {"plain_dataclass": {"fields": list(fields), "frozen": True}}
        if is_node:
            form = {"dataclass": {"data": [], "meta": list(fields)}}
        name = self._class_of(made, ("graph" if is_node else "hashed graph", *fields), form)
        return {"new": {"class": name, "fields": fields}}

    def _mapping(self, value: Mapping[str, Any]) -> Any:
        """A mapping of flax's that is hashed by its items, in whatever order."""
        fields = sorted(value)
        form = {"plain_dataclass": {"fields": fields, "frozen": True}}
        made = self._class_of(type(value), ("mapping", *fields), form)
        return {"new": {"class": made, "fields": {name: self._named(value[name]) for name in fields}}}

    def _split(self, value: Any) -> Any:
        """An `nnx.Module` as flax splits it for jax: its graphdef, and its state or, of late, a list of what is in it."""
        variables: list[str] = []
        graph = value._graphdef
        graph = self._graph(iter(graph.nodes), iter(graph.attributes), "", variables, {}) if is_graph(graph) else self.value(graph)
        (state,) = value.states
        if type(state) is not list:
            state, variables = [state], [""]
        elif len(variables) != len(state):
            variables = [f".states[0][{i}]" for i in range(len(state))]
        return {
            "new": {
                "class": self._class_of(type(value), ("split",), {"node": {}}),
                "children": [graph, *self._all(state)],
                "keys": ["", *variables],
                "aux": self._named(value.metadata),
            }
        }


def is_split(value: Any) -> bool:
    """Whether it is what stands for a Module among what `nnx.jit` gives to jax."""
    return type(value).__name__ == "NodeStates" and hasattr(value, "_graphdef") and len(value.states) == 1


def is_graph(value: Any) -> bool:
    """Whether it is an `nnx.GraphDef`."""
    return type(value).__name__ == "GraphDef" and hasattr(value, "attributes") and hasattr(value, "nodes")


def is_node_def(value: Any) -> bool:
    """Whether it is the graph of a Module of up to flax 0.10.2."""
    return type(value).__name__ == "NodeDef" and hasattr(value, "subgraphs") and hasattr(value, "static_fields")


def nnx_attributes(value: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The attributes of an object of `flax.nnx` that jax flattens by itself, those that are data and those that are static; None for
    anything else. Beside its class, the names of both, in order, and what the static ones are make its treedef."""
    # Flax isn't imported to find out, and before 0.12 these are no nodes.
    flax: Any = sys.modules.get("flax.nnx.pytreelib")
    if flax is None or not isinstance(value, flax.Pytree):
        return None
    try:
        children, (names, *statics) = default_registry.flatten_one_level(value)
        # Up to flax 0.12.2 each with its name.
        static = dict(statics[0]) if len(statics) == 1 else dict(zip(*statics, strict=True))
        data = dict(zip(names, children, strict=True))
    except (TypeError, ValueError):
        return None
    own = held_by(value) or {}
    if not all(type(name) is str and NAME.match(name) and own.get(name, NOTHING) is part for name, part in (data | static).items()):
        return None
    removed = tuple(sorted(set(static.pop(NODES, ())) - data.keys() - static.keys() - {NODES}))
    return data, static | ({REMOVED: removed} if removed else {})


class Standing(NamedTuple):
    """What stands for a value where a body is asked what it reads of that."""

    value: Any
    made: tuple[Any, ...] = ()
    """What was made for it, and is nothing that the program has."""


def standing_for(value: Any) -> Standing:
    """An object of the class of a Module that `nnx.jit` has split, with what it holds besides variables. Whatever else there is stands
    for itself."""
    graph: Any = value._graphdef if is_split(value) else None
    made: list[Any] = []
    if is_graph(graph):
        stands = _stands(iter(graph.nodes), iter(graph.attributes), {}, made)
    else:
        stands = _stands_for_def(graph, made) if is_node_def(graph) else NOTHING
    return Standing(value) if stands is NOTHING else Standing(stands, (*made,))


def _stands(nodes: Iterator[Any], attributes: Iterator[Any], met: dict[int, Any], made: list[Any]) -> Any:
    node = next(nodes)
    # Nodes of trees have no numbers.
    index = getattr(node, "index", None)
    if index in met:
        return met[index]
    held: dict[Any, Any] = {}
    for _ in range(getattr(node, "num_attributes", 0)):
        name, attribute = next(attributes)
        if type(attribute).__name__ == "NodeAttr":
            held[name] = _stands(nodes, attributes, met, made)
        elif type(attribute).__name__ not in ("ArrayAttr", "LeafAttr"):
            held[name] = getattr(attribute, "value", attribute)
    # What refers to a node that holds it doesn't lead back to that.
    is_node = type(node).__name__ not in ("NodeRef", "VariableDef")
    stands = _made(getattr(node, "type", None), held, made) if is_node else NOTHING
    if isinstance(index, int):
        met[index] = stands
    return stands


def _stands_for_def(node: Any, made: list[Any]) -> Any:
    held = dict(node.static_fields)
    for name, part in node.subgraphs.items():
        held[name] = _stands_for_def(part, made) if is_node_def(part) else NOTHING
    return _made(node.type, held, made)


def _made(kind: Any, held: dict[Any, Any], made: list[Any]) -> Any:
    held = {name: part for name, part in held.items() if part is not NOTHING}
    stands: Any = NOTHING
    numbered = [name for name in held if type(name) is int]
    # An `nnx.List` has more attributes than its items.
    if numbered and (len(numbered) == len(held) or str(getattr(kind, "__module__", "")).startswith("flax.")):
        stands = [held.get(i) for i in range(max(numbered) + 1)]
    elif kind is dict:
        stands = held
    elif isinstance(kind, type) and of_class(kind, "__del__") is NOTHING and type(of_class(kind, "__dict__")) is types.GetSetDescriptorType:
        with contextlib.suppress(TypeError):  # Its instances are made by another class.
            stands = object.__new__(kind)
            object.__getattribute__(stands, "__dict__").update(held)
    if stands is not NOTHING:
        made.append(stands)
    return stands
