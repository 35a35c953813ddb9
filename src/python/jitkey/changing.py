"""What keys hold and can be changed in its place, so that it stays equal to itself: dicts, lists and dataclasses in the data of nodes."""

from __future__ import annotations

import collections
import operator
import weakref
from collections.abc import Callable
from typing import Any

from .record import equal
from .texts import value_text

KNOWN = 256
"""So many are known, the last ones."""


class Changing:
    """Those that were written. What has no weak references, a dict or a list, is held; jax's caches hold it as well."""

    def __init__(self) -> None:
        self._known: collections.deque[tuple[Callable[[], Any], Any, Any]] = collections.deque(maxlen=KNOWN)

    def written(self, value: Any, form: Any, marked: Callable[[int], Any]) -> Any:
        """The form that it had when it was met first, or that of one which equals it now. It is new if it is none of these: `form` is what
        it is now, which is `marked` with a number if others had this form that were changed since."""
        for is_it in (operator.is_, _is_alike):
            for held, _, known in self._known:
                if is_it(held(), value):
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
    return type(one) is type(other) and equal(one, other) and value_text(one) == value_text(other)
