"""What calls have in common that are described alike."""

from __future__ import annotations

import collections
import weakref
from collections.abc import Hashable
from typing import Any

import jax
import numpy as np
from jax._src import config as jax_config
from jax._src.array import ArrayImpl

from .errors import Unsupported
from .known import KNOWN, Alike, Signature, is_known_by_type
from .objects import Objects
from .seen import Said
from .served import FastPath, Given
from .source import compared, stored
from .surroundings import Surroundings
from .texts import is_plain
from .wrappers import Wrapper


def twice(leaves: list[Any]) -> set[int]:
    """The ids of the arrays that are among the leaves more than once."""
    if len(set(map(id, leaves))) == len(leaves):
        return set()
    counts = collections.Counter(id(leaf) for leaf in leaves if type(leaf) is ArrayImpl)
    return {key for key, count in counts.items() if count > 1}


def _numbers_in(treedef: Any) -> list[Hashable]:
    """What is said of the numbers in the data of nodes, in their order."""
    said: list[Hashable] = []
    nodes = [treedef]
    while nodes:
        node = nodes.pop()
        made = node.node_data()
        if made is not None:
            # The keys of dicts are sorted, and print in names.
            if made[0] not in (dict, collections.OrderedDict, collections.defaultdict):
                _add_numbers(made[1], said)
            nodes += [child for child in node.children() if child.num_nodes > child.num_leaves]
    return said


def _add_numbers(data: Any, said: list[Hashable]) -> None:
    kind: Any = type(data)
    if kind is int or kind is bool:
        said.append(kind)
    elif kind is tuple or kind is list:
        for part in data:
            if type(part) is not str:
                _add_numbers(part, said)
    elif kind is dict:
        _add_numbers(list(data.values()), said)
    elif kind is float or kind is complex or isinstance(data, np.generic):
        said.append((kind, repr(data)))
    elif fields := _compared(kind):
        _add_numbers([stored(data, name) for name in fields], said)


_fields: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def _compared(made: type) -> tuple[str, ...]:
    """The fields at which `==` looks, of what is compared by these."""
    fields = _fields.get(made)
    if fields is None:
        fields = _fields[made] = tuple(sorted(compared(made)))
    return fields


NODES = 64
"""The data of more nodes are not looked at in each call."""


class Signatures:
    """Of calls, by the names of `objects` and what surrounds them."""

    def __init__(self, objects: Objects, surroundings: Surroundings) -> None:
        self._objects, self._surroundings = objects, surroundings
        self._alike = Alike()
        self._has_numbers: dict[int, bool] = {}
        """By the hash of a structure whether it has numbers in the data of its nodes; one that is equal has them, too."""

    def of_call(self, what: Any, wrapped: Wrapper, args: Any, kwargs: Any) -> Signature | None:
        """That of a call by all that it is given; None if it can't be said quickly."""
        try:
            leaves, treedef, *others = self.given(wrapped, args, kwargs)
            arrays = self._alike.arrays(what, [leaf for leaf in leaves if type(leaf) is ArrayImpl])
            beside = self._surroundings.beside_as_it_stands()
            return what, len(args), tuple(kwargs), treedef, *others, arrays, jax_config.trace_context(), beside
        except Exception:  # Flattening, comparing and hashing run the program's own code.
            return None

    def of_entry(self, path: FastPath, entry: int, wrapped: Wrapper, args: Any, kwargs: Any, reads: Said) -> Signature:
        """That of a call which an entry serves: what is static can be equal and another, and what surrounds the call is more than a trace
        sees. Raises as `given`."""
        if wrapped.is_partition:
            others: Any = len(args), tuple(kwargs), path.others()
        elif path.is_of_arrays(entry):
            others = self._of_statics(wrapped, args, kwargs) if wrapped.has_statics else ()
        else:
            others = path.others()
        return wrapped.ref, entry, reads, others, self._surroundings.beside_as_it_stands()

    def given(self, wrapped: Wrapper, args: Any, kwargs: Any) -> Given:
        """The leaves of what is traced with their structure, and what is said of those that are no arrays and of what is static. Raises
        `Unsupported` if that can't be said quickly."""
        traced, named = args, kwargs
        others: tuple[Any, ...] = ()
        if wrapped.has_statics:
            numbers, names = wrapped.statics(args)
            traced = [arg for i, arg in enumerate(args) if i not in numbers]
            named = {name: arg for name, arg in kwargs.items() if name not in names}
            others = self._of_statics(wrapped, args, kwargs)
        leaves, treedef = jax.tree_util.tree_flatten((traced, named))
        if wrapped.donates:
            own = wrapped.own_arrays()
            if twice([*own, *leaves]) or any(map(ArrayImpl.is_deleted, own)):
                raise Unsupported("an array that is given twice, or that the function had")
        if list(map(type, leaves)).count(ArrayImpl) < len(leaves):
            # `jax.jit` is given numbers as arrays: their values are none of its key.
            by_type = not wrapped.is_partition
            others += tuple(ArrayImpl if type(leaf) is ArrayImpl else self._of_leaf(leaf, by_type=by_type) for leaf in leaves)
        return Given(leaves, treedef, others, self._of_data(treedef))

    def _of_data(self, treedef: Any) -> tuple[Hashable, ...]:
        """What tells the numbers in the data of nodes from equal ones: 1 from True, 0.0 from -0.0."""
        if treedef.num_nodes - treedef.num_leaves > NODES:
            return ()
        key = hash(treedef)
        has_numbers = self._has_numbers.get(key)
        if has_numbers is False:
            return ()
        numbers = tuple(_numbers_in(treedef))
        if has_numbers is None:
            if len(self._has_numbers) >= KNOWN:
                self._has_numbers.clear()
            self._has_numbers[key] = bool(numbers)
        return numbers

    def _of_statics(self, wrapped: Wrapper, args: Any, kwargs: Any) -> tuple[Any, ...]:
        return tuple(map(self._of_leaf, wrapped.static_values(args, kwargs)))

    def _of_leaf(self, leaf: Any, *, by_type: bool = False) -> Any:
        kind = type(leaf)
        if isinstance(leaf, jax.core.Tracer):
            aval: Any = leaf.aval
            # Up to jax 0.4 it can have the value, and comparing two of these runs programs.
            return (type(aval), aval.shape, aval.dtype, aval.weak_type, getattr(aval, "sharding", None))
        if by_type and is_known_by_type(leaf):
            return kind
        if isinstance(leaf, np.ndarray):
            return (kind, leaf.shape, leaf.dtype)
        if is_plain(leaf):
            # Equal numbers of one type can differ: 0.0 and -0.0.
            return (kind, repr(leaf))
        name = self._objects.name_of(leaf)
        if name is None:
            raise Unsupported("an object that is not known")
        return (kind, name)
