"""What calls have in common that are described alike: what is known of earlier ones, and of their avals and shardings."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Hashable
from operator import attrgetter
from typing import Any

import numpy as np
from jax.sharding import NamedSharding

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


MEMORY_KIND = "_memory_kind" if "_memory_kind" in NamedSharding.__annotations__ else "memory_kind"
"""Where a sharding has it; `memory_kind` is a property, which takes longer."""

parts_of_sharding = attrgetter("mesh", "spec", MEMORY_KIND)
"""What tells two of them apart."""


class Alike:
    """Avals and shardings, each with the number of all that are equal to it: their ids are found faster than they compare."""

    def __init__(self) -> None:
        self.by_id: dict[int, tuple[Any, int]] = {}
        """They are held, so that their ids are theirs alone."""
        self._numbers: dict[Any, int] = {}
        # A number is never given again, and 1 is equal to True.
        self._count = itertools.count(2)

    def number(self, value: Any) -> int:
        """That of an aval or a sharding that isn't known by its id."""
        # Up to jax 0.4 a sharding of P("x") and one of P(("x",)) are equal, and they are written otherwise.
        kind = parts_of_sharding(value) if type(value) is NamedSharding else value
        number = self._numbers.get(kind)
        if number is None:
            if len(self._numbers) >= ALIKE:
                self._numbers.clear()
            number = self._numbers[kind] = next(self._count)
        if len(self.by_id) >= ALIKE:
            self.by_id.clear()
        self.by_id[id(value)] = value, number
        return number


class Known:
    """The calls that were described, by their signatures."""

    def __init__(self) -> None:
        self._calls: dict[Any, int] = {}
        self._using: dict[str, list[Any]] = {}

    def call(self, signature: Signature | None) -> int | None:
        """The number of the call that had the same."""
        if signature is None:
            return None
        try:
            return self._calls.get(signature)
        except Exception:  # Comparing runs the program's own code.
            return None

    def remember(self, signature: Signature, number: int, used: frozenset[str]) -> None:
        """That call `number` had it, whose description names the objects `used`."""
        if len(self._calls) >= KNOWN:
            self.forget_all()
        try:
            self._calls[signature] = number
        except Exception:  # As above.
            return
        for name in used:
            self._using.setdefault(name, []).append(signature)

    def forget(self, names: list[str]) -> None:
        """The objects of these names are gone."""
        for name in names:
            for key in self._using.pop(name, ()):
                with contextlib.suppress(Exception):
                    self._calls.pop(key, None)

    def forget_all(self) -> None:
        """Nothing is known any more."""
        self._calls.clear()
        self._using.clear()
