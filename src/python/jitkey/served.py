"""What the fast path of a jitted function holds, as far as the calls are known that made it. Where all of it is known, a call that
is served there is like one that was described, and nothing else has to be looked at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from jax._src.array import ArrayImpl
from jax._src.config import trace_context

from .source import stored

ENTRIES = 16
"""So many entries of one function are told apart."""

LOOKED_AT = 64
"""Of so many calls that are served one is looked at all the same, and described if it is another one."""


class Given(NamedTuple):
    """What a call is given."""

    leaves: list[Any]
    structure: Hashable
    others: Hashable
    """What is said of the leaves that are none of an aval, and of what is static."""
    data: tuple[Hashable, ...]
    """What is said of the data of nodes, which the structure doesn't tell apart."""


Parts = tuple[Given, Hashable]
"""What a call is given, and what an entry has of it besides its leaves."""


class FastPath:
    """That of a function, as a call finds it. What the call is given is looked at where that tells entries apart."""

    def __init__(self, entries: Entries, count: Callable[[], int], given: Callable[[], Given]) -> None:
        self.before = count()
        self._entries, self._count, self._looked_at = entries, count, given
        self._given: Given | None = None

    def entry(self) -> int | None:
        """The one that serves the call, if any does and that can be said."""
        return self._entries.of_call(self.before, self._parts)

    def has_grown(self) -> bool:
        """Whether there are other entries than the call has found."""
        return self._count() != self.before

    def entry_after(self, *, is_served: bool) -> int | None:
        """The one that has served the call, or that it has made."""
        return self._entries.after(self.before, self._count(), self._parts, is_served=is_served)

    def is_of_arrays(self, entry: int) -> bool:
        """Whether the entry serves arrays of jax's alone, so that nothing else is to be said of a call's leaves and their structure."""
        return entry in self._entries.of_arrays

    def leaves(self) -> list[Any]:
        """Those that the call is given."""
        return self._of_call().leaves

    def others(self) -> Hashable:
        """What is said of the leaves that are none of an aval, of what is static, and of the data of nodes."""
        given = self._of_call()
        return given.others, given.data

    def _of_call(self) -> Given:
        if self._given is None:
            self._given = self._looked_at()
        return self._given

    def _parts(self) -> Parts:
        given = self._of_call()
        return given, (given.structure, given.others, trace_context())


class Entries:
    """Those of the fast path of one function, each with a number that no other one has had."""

    def __init__(self) -> None:
        self.of_arrays: set[int] = set()
        """Those that were made for arrays of jax's alone, which the fast path tells from NumPy's and from numbers."""
        self._known: list[int] = []
        self._told: dict[Hashable, _Told] = {}
        self._numbers = itertools.count()
        self._served = 0

    def forget(self) -> None:
        """They are gone."""
        self.of_arrays, self._known, self._told = set(), [], {}

    def of_call(self, size: int, parts: Callable[[], Parts]) -> int | None:
        """The one that serves the call, if any of the `size` that there are does; None if that can't be said, or another one of these
        calls is to be looked at."""
        self._served += 1
        if size != len(self._known) or not 0 < size <= ENTRIES or self._served % LOOKED_AT == 0:
            return None
        return self._known[0] if size == 1 else self._find(parts)

    def after(self, before: int, size: int, parts: Callable[[], Parts], *, is_served: bool) -> int | None:
        """The one that has served a call that was looked at, or that it has made. `before` is how many there were."""
        if before == 0:
            self.forget()
        if is_served and not self._known and before == size == 1:
            # It was there before the recording, and nothing else was.
            return self._add(parts)
        if before != len(self._known) or size > ENTRIES:
            return None
        if is_served and size == before:
            return self._known[0] if size == 1 else self._find(parts)
        return self._add(parts) if not is_served and size == before + 1 else None

    def _add(self, parts: Callable[[], Parts]) -> int:
        given, others = parts()
        entry = next(self._numbers)
        self._told.setdefault(others, _Told()).add(list(map(_look, given.leaves)), entry)
        if not given.data and all(type(leaf) is ArrayImpl for leaf in given.leaves):
            self.of_arrays.add(entry)
        self._known.append(entry)
        return entry

    def _find(self, parts: Callable[[], Parts]) -> int | None:
        given, others = parts()
        told = self._told.get(others)
        return None if told is None else told.find(given.leaves)


class _Told:
    """Entries that differ in what their leaves are, told apart by as few of these as it takes."""

    def __init__(self) -> None:
        self._looks: list[tuple[list[Any], int]] = []
        self._at: list[int] | None = []
        """The leaves that tell them apart; None if none do."""
        self._entries: dict[Hashable, int] = {}

    def add(self, looks: list[Any], entry: int) -> None:
        for other, _ in self._looks:
            if self._at is not None and all(looks[i] == other[i] for i in self._at):
                differing = next((i for i, (one, two) in enumerate(zip(looks, other, strict=True)) if one != two), None)
                self._at = None if differing is None else [*self._at, differing]
        self._looks.append((looks, entry))
        self._entries = {} if self._at is None else {tuple([known[i] for i in self._at]): number for known, number in self._looks}

    def find(self, leaves: list[Any]) -> int | None:
        return None if self._at is None else self._entries.get(tuple([_look(leaves[i]) for i in self._at]))


def _look(leaf: Any) -> Hashable:
    """What an entry has of a leaf."""
    if type(leaf) is ArrayImpl:
        return leaf.aval, leaf._sharding, leaf._committed
    if isinstance(leaf, (np.ndarray, np.generic)):
        return type(leaf), leaf.shape, leaf.dtype
    return type(leaf), stored(leaf, "shape"), stored(leaf, "dtype")
