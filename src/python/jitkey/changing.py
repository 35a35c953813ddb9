"""What keys hold and can be changed in its place, so that it stays equal to itself: dicts, lists and dataclasses in the data of nodes."""

from __future__ import annotations

import collections
import weakref
from collections.abc import Callable
from typing import Any

from .record import equal
from .texts import CONTAINERS, value_text

KNOWN = 256
"""So many are known, the last ones, and so many that equalled one of them."""

ITEMS = 256
"""A container of more items is known by its identity alone."""


class Changing:
    """Those that were written. What has no weak references, a dict or a list, is held until caches are
    cleared, where jax lets go of it with the function that it was given to."""

    def __init__(self) -> None:
        self._known: collections.deque[tuple[Callable[[], Any], Any, Any]] = collections.deque(maxlen=KNOWN)
        """With what they were when they were met first, and how that is written."""
        self._alike: collections.deque[tuple[Callable[[], Any], Any]] = collections.deque(maxlen=KNOWN)

    def clear(self) -> None:
        """Forgets all, as jax's caches do."""
        self._known.clear()
        self._alike.clear()

    def written(self, value: Any, form: Any, marked: Callable[[int], Any]) -> Any:
        """The form that it had when it was met first, or that of one which equals it now. It is new if it is none of these: `form` is what
        it is now, which is `marked` with a number if others had this form that were changed since."""
        for held, *_, known in (*self._known, *self._alike):
            if held() is value:
                return known
        for held, _, known in self._known:
            if _is_alike(held(), value):
                self._alike.append((weakly(value), known))
                return known
        changed = sum(was == form for _, was, _ in self._known)
        known = marked(changed + 1) if changed else form
        self._known.append((weakly(value), form, known))
        return known


def is_settable(made: type) -> bool:
    """Whether it is a dataclass whose fields can be set."""
    params = getattr(made, "__dataclass_params__", None)
    return params is not None and not params.frozen


def weakly(value: Any, gone: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """A weak reference, or the object itself where it has none: an instance of a class with slots, a number of numpy's."""
    try:
        return weakref.ref(value, gone)
    except TypeError:
        return lambda: value


def _is_alike(one: Any, other: Any) -> bool:
    """Whether they are equal and look the same: `[1]` and `[True]` don't."""
    if type(one) is not type(other) or (type(one) in CONTAINERS and len(one) > ITEMS):
        return False
    return equal(one, other) and value_text(one) == value_text(other)
