"""What calls have in common that are described alike: what is known of earlier ones, and of their avals and shardings."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Hashable
from operator import attrgetter, is_
from types import FunctionType
from typing import Any

import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray
from jax.sharding import NamedSharding, PartitionSpec

from .errors import Unsupported

KNOWN = 4096
"""Signatures that are known, and contexts, at most."""

ALIKE = 4096
"""Avals and shardings that are known by their ids, and kinds of them, at most."""

Signature = Hashable
"""What calls have in common that are described alike."""


def is_known_by_type(leaf: Any) -> bool:
    """Whether a call that is given a number as an array does with it what it does with each of its type. An int that no 32 bits
    hold can be too large for its dtype."""
    kind = type(leaf)
    if kind is int:
        return -(2**31) <= leaf < 2**31
    return kind in (float, bool, complex) or (isinstance(leaf, np.generic) and leaf.dtype.kind in "biufc")


EQUAL_IS_ALIKE = repr(PartitionSpec("x")) == repr(PartitionSpec(("x",)))
"""Whether equal shardings are written alike. Up to jax 0.4 these two are equal, and are not."""

MEMORY_KIND = "_memory_kind" if "_memory_kind" in NamedSharding.__annotations__ else "memory_kind"
"""Where a sharding has it; `memory_kind` is a property, which takes longer."""

_parts = attrgetter("mesh", "spec", MEMORY_KIND)


def _kind_of(value: Any) -> Any:
    """What is equal for avals and shardings that are alike."""
    return _parts(value) if not EQUAL_IS_ALIKE and type(value) is NamedSharding else value


_aval, _sharding, _committed = (inspect.getattr_static(ArrayImpl, name).fget for name in ("aval", "_sharding", "_committed"))
"""What an array says of itself, as its class has it: asking by the name takes twice as long."""

_said = (
    attrgetter(*(name for kind in ShapedArray.__mro__ for name in getattr(kind, "__slots__", ()) if name[:1] != "_"))
    if isinstance(ShapedArray.__eq__, FunctionType)
    else None
)
"""What an aval says, where avals compare in Python, as up to jax 0.8: this compares several times faster."""


def _are_alike(some: list[Any], others: list[Any]) -> bool:
    """Whether these avals are equal, as many of each."""
    # What a program returned has the same avals each time, and of those that were made anew the first and the last will do to see it.
    if _said is None or all(map(is_, some[:1] + some[-1:], others[:1] + others[-1:])):
        return some == others
    try:
        return list(map(_said, some)) == list(map(_said, others))
    except AttributeError:  # One that is of another class.
        return some == others


def _stand_alike(some: list[Any], others: list[Any]) -> bool:
    """Whether these shardings are alike, as many of each."""
    if EQUAL_IS_ALIKE:
        return some == others
    return all(map(is_, some, others)) or list(map(_kind_of, some)) == list(map(_kind_of, others))


LISTS = 256
"""Lists of arrays that are known by what they say, at most."""


class Alike:
    """Arrays, and their avals and shardings, each with the number of all that are equal to it: their ids are found faster than they
    compare."""

    def __init__(self) -> None:
        self._by_id: dict[int, tuple[Any, int]] = {}
        """They are held, so that their ids are theirs alone."""
        self._last: dict[Hashable, tuple[list[Any], list[Any], list[bool], int]] = {}
        """The arrays that each function was given last."""
        self._numbers: dict[Any, int] = {}
        # A number is never given again, and 1 is equal to True.
        self._count = itertools.count(2)

    def arrays(self, of: Hashable, arrays: list[ArrayImpl]) -> int:
        """The number of these, which function `of` is given. Raises `Unsupported` if one of them is deleted."""
        if any(map(ArrayImpl.is_deleted, arrays)):
            raise Unsupported("an array that is deleted")
        avals, shardings, committed = list(map(_aval, arrays)), list(map(_sharding, arrays)), list(map(_committed, arrays))
        last = self._last.get(of)
        if last is not None and committed == last[2] and _are_alike(avals, last[0]) and _stand_alike(shardings, last[1]):
            return last[3]
        number = self._number(tuple(self._looks(avals, shardings, committed)))
        if len(self._last) >= LISTS:
            self._last.clear()
        self._last[of] = avals, shardings, committed, number
        return number

    def _looks(self, avals: list[Any], shardings: list[Any], committed: list[bool]) -> list[int]:
        """The numbers of what they say. Most are like the one before, stand where it does, and aren't committed."""
        looks: list[int] = []
        add, known = looks.append, self._by_id.get
        aval: Any = None
        sharding: Any = None
        kind: Any = None
        look = stands = 0
        for now, here, is_committed in zip(avals, shardings, committed, strict=True):
            if now is not aval:
                # What was made anew for each of them is compared with the one before, which is faster than to look for it.
                found = known(id(now))
                if found is not None:
                    look = found[1]
                elif aval is None or now != aval:
                    look = self._number_of(now)
                aval = now
            add(look)
            if here is not sharding:
                before, sharding, kind = kind, here, _kind_of(here)
                if kind != before:
                    found = known(id(here))
                    number = self._number_of(here) if found is None else found[1]
                    if number != stands:
                        add(number)
                        stands = number
            if is_committed:
                add(True)
        return looks

    def _number_of(self, value: Any) -> int:
        """That of an aval or a sharding that isn't known by its id."""
        number = self._number(_kind_of(value))
        if len(self._by_id) >= ALIKE:
            self._by_id.clear()
        self._by_id[id(value)] = value, number
        return number

    def _number(self, kind: Hashable) -> int:
        number = self._numbers.get(kind)
        if number is None:
            if len(self._numbers) >= ALIKE:
                self._numbers.clear()
            number = self._numbers[kind] = next(self._count)
        return number


class Known:
    """The calls that were described, by their signatures."""

    def __init__(self) -> None:
        self.calls: dict[Any, tuple[int, frozenset[str]]] = {}
        """By signature the number, and the objects that the description names."""
        self._using: dict[str, list[Any]] = {}

    def call(self, signature: Signature | None) -> tuple[int, frozenset[str]] | None:
        """The number of the call that had the same, and the objects that its description names."""
        if signature is None:
            return None
        try:
            return self.calls.get(signature)
        except Exception:  # Comparing runs the program's own code.
            return None

    def remember(self, signature: Signature, number: int, used: frozenset[str]) -> None:
        """That call `number` had it, whose description names the objects `used`."""
        if len(self.calls) >= KNOWN:
            self.forget_all()
        try:
            known = self.calls.get(signature)
            self.calls[signature] = number, used
        except Exception:  # As above.
            return
        for name in used if known is None else used - known[1]:
            self._using.setdefault(name, []).append(signature)

    def forget(self, names: list[str]) -> None:
        """The objects of these names are gone."""
        for name in names:
            for key in self._using.pop(name, ()):
                with contextlib.suppress(Exception):
                    self.calls.pop(key, None)

    def forget_all(self) -> None:
        """Nothing is known any more."""
        self.calls.clear()
        self._using.clear()
