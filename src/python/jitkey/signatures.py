"""What calls have in common that are described alike."""

from __future__ import annotations

import collections
from typing import Any

import jax
import numpy as np
from jax._src import config as jax_config
from jax._src.array import ArrayImpl

from .errors import Unsupported
from .known import Alike, Signature, is_known_by_type
from .objects import Objects
from .seen import Said
from .served import FastPath, Given
from .surroundings import Surroundings
from .texts import is_plain
from .wrappers import Wrapper


def twice(leaves: list[Any]) -> set[int]:
    """The ids of the arrays that are among the leaves more than once."""
    if len(set(map(id, leaves))) == len(leaves):
        return set()
    counts = collections.Counter(id(leaf) for leaf in leaves if type(leaf) is ArrayImpl)
    return {key for key, count in counts.items() if count > 1}


class Signatures:
    """Of calls, by the names of `objects` and what surrounds them."""

    def __init__(self, objects: Objects, surroundings: Surroundings) -> None:
        self._objects, self._surroundings = objects, surroundings
        self._alike = Alike()

    def of_call(self, what: Any, wrapped: Wrapper, args: Any, kwargs: Any) -> Signature | None:
        """That of a call by all that it is given; None if it can't be said quickly."""
        try:
            leaves, treedef, others = self.given(wrapped, args, kwargs)
            arrays = self._alike.arrays(what, [leaf for leaf in leaves if type(leaf) is ArrayImpl])
            beside = self._surroundings.beside_as_it_stands()
            return what, len(args), tuple(kwargs), treedef, others, arrays, jax_config.trace_context(), beside
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
        return leaves, treedef, others

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
