"""Dicts and lists in the data of nodes: keys hold them as they are, so that one which is changed in its place stays equal to itself."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

from .texts import holds_only, is_plain

KNOWN = 256
"""So many are known, the last ones."""

ITEMS, WITHIN = 256, 6
"""Those of more items, or deeper within each other, are written as they are now."""


class Changing:
    """The containers that were written. Nothing can refer to one weakly; jax's caches hold them as well."""

    def __init__(self) -> None:
        self._known: collections.deque[tuple[Any, Any, Any]] = collections.deque(maxlen=KNOWN)

    def written(self, value: Any, form: Any, marked: Callable[[int], Any]) -> Any:
        """The form that it had when it was met first, or that of one which equals it now. It is new if it is none of these: `form` is what
        it is now, which is `marked` with a number if others had this form that were changed since."""
        if not holds_only(is_plain, value, WITHIN, ITEMS):
            return form
        for is_it in (operator.is_, _is_alike):
            for held, _, known in self._known:
                if is_it(held, value):
                    return known
        changed = sum(was == form for _, was, _ in self._known)
        known = marked(changed + 1) if changed else form
        self._known.append((value, form, known))
        return known


def _is_alike(one: Any, other: Any) -> bool:
    """Whether they are equal and look the same: `[1]` and `[True]` don't."""
    return type(one) is type(other) and one == other and repr(one) == repr(other)
