"""What is in objects, and what was met there when they were looked into, of which nothing is held but what is plain."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import weakref
from typing import Any

import numpy as np

from .nnx_variables import in_variable, is_of_nnx, is_variable, parts_of
from .settings import asked_in, is_namespace, of_namespace, setting
from .source import NOTHING, held_by, of_class
from .texts import CONTAINERS, is_plain

EACH_TIME = 4096
"""So many bytes of an array are looked at in each call."""

_FIELD = type(vars(collections.namedtuple("Field", "it"))["it"])
"""How the class of a namedtuple has what gives an item by its name."""

MARKED, LEVELS = 512, 8
"""So much in a container is marked, with what is in that, so deep."""

Said = tuple[tuple[str, str], ...]
"""What stands in places, by their paths."""

Met = dict[tuple[bool, Any], tuple[Any, "Met"]]
"""By item or attribute what was there, and in that."""


def inside(value: Any, name: Any, *, is_item: bool) -> Any:
    """What is in an object under that name, or in a container under that key; `NOTHING` if that can't be looked into."""
    return (_item if is_item else _held_as)(value, name)


def _held_as(value: Any, attribute: str) -> Any:
    """What an object holds under that name, or its class in the place of it, if that is plain; else `NOTHING`."""
    if is_namespace(value):
        return of_namespace(value, attribute)
    held = held_by(value)
    if issubclass(type(value), tuple) and type(field := of_class(type(value), attribute)) is _FIELD:
        return field.__get__(value)
    if held is None or attribute in held:
        return NOTHING if held is None else held[attribute]
    found = of_class(type(value), attribute)
    if found is not NOTHING:
        return found if is_plain(found) else NOTHING
    if issubclass(type(value), dict):
        # One that gives its items as attributes.
        gives = of_class(type(value), "__getattr__") is not NOTHING
        return dict.get(value, attribute, NOTHING) if gives else NOTHING
    config = asked_in(value, "__getattr__")
    return NOTHING if config is None else setting(config, attribute)


def _item(value: Any, key: Any) -> Any:
    if isinstance(value, dict) and type(value).__getitem__ is dict.__getitem__:
        return dict.get(value, key, NOTHING)
    config = asked_in(value, "__getitem__")
    if config is not None:
        return setting(config, key)
    is_there = type(value) in (list, tuple, collections.deque) and type(key) is int and -len(value) <= key < len(value)
    return value[key] if is_there else NOTHING


class Mark:
    """Tells an object from another one in its place, also once it is gone."""

    __slots__ = ("_id", "_weakly")

    def __init__(self, value: Any) -> None:
        self._id, self._weakly = id(value), None
        # What can't be referred to weakly is known by its id alone, which another one can have later.
        with contextlib.suppress(TypeError):
            self._weakly = weakref.ref(value)

    def is_of(self, value: Any) -> bool:
        """Whether it is that object."""
        return self._id == id(value) and (self._weakly is None or self._weakly() is value)


class Contents(Mark):
    """Tells an array that can be changed in its place from what it was."""

    __slots__ = ("_hash",)

    def __init__(self, value: np.ndarray) -> None:
        super().__init__(value)
        self._hash = hash(value.tobytes())

    def is_of(self, value: Any) -> bool:
        """Whether it is that array, and holds what it held."""
        return super().is_of(value) and self._hash == hash(value.tobytes())


class Items(Mark):
    """Tells a container from what it was, by the marks of what is in it."""

    __slots__ = ("_marks",)

    def __init__(self, value: Any, left: list[int], within: frozenset[int]) -> None:
        super().__init__(value)
        parts = items_of(value)
        left[0] -= len(parts)
        self._marks = [_marked_in(part, left, within | {id(value)}) for part in parts]

    def is_of(self, value: Any) -> bool:
        """Whether it is that container, and holds what it held."""
        if not super().is_of(value):
            return False
        parts = items_of(value)
        return len(parts) == len(self._marks) and all(map(is_marked, parts, self._marks))


class Like:
    """Tells objects of a class from others."""

    __slots__ = ("_made",)

    def __init__(self, value: Any) -> None:
        self._made = type(value)

    def is_of(self, value: Any) -> bool:
        """Whether it is such an object."""
        return type(value) is self._made


class Variable(Mark):
    """Tells a variable of `flax.nnx` from what it was, by what it holds."""

    __slots__ = ("_held",)

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._held = Mark(in_variable(value))

    def is_of(self, value: Any) -> bool:
        """Whether it is that variable, and holds what it held."""
        return super().is_of(value) and self._held.is_of(in_variable(value))


class Variables(Mark):
    """Tells an object of `flax.nnx` from what it was, by what the variables in it hold, and the numbers and texts beside them."""

    __slots__ = ("_is_container", "_length", "_marks")

    def __init__(self, value: Any, left: list[int], within: frozenset[int]) -> None:
        super().__init__(value)
        parts = parts_of(value) or {}
        self._is_container = type(value) in (list, tuple, dict)
        self._length = len(parts)
        self._marks: list[tuple[Any, type | None, Any]] = []
        """By name or place, of variables with their class."""
        for name, part in parts.items():
            if is_variable(part):
                left[0] -= 1
                self._marks.append((name, type(part), Mark(in_variable(part))))
            elif is_plain(part):
                self._marks.append((name, None, part))
            elif left[0] > 0 and id(part) not in within and parts_of(part) is not None:
                self._marks.append((name, None, Variables(part, left, within | {id(part)})))

    def is_of(self, value: Any) -> bool:
        """Whether it is that object, and holds what it held."""
        parts = None
        if super().is_of(value):
            parts = parts_of(value) if self._is_container else held_by(value)
        if parts is None or len(parts) != self._length:
            return False
        for name, variable, mark in self._marks:
            part = parts.get(name, NOTHING)
            if variable is not None:
                part = in_variable(part) if type(part) is variable else NOTHING
            if part is not mark and not is_marked(part, mark):
                return False
        return True


def marked(value: Any, *, is_whole: bool = False) -> Any:
    """What tells the value from another one in its place, a container by what is in it, if it is read as a whole."""
    if is_whole:
        return _marked_in(value, [MARKED], frozenset())
    if is_variable(value):
        return Variable(value)
    if is_of_nnx(value):
        return Variables(value, [MARKED], frozenset({id(value)}))
    if type(value) is np.ndarray and value.nbytes <= EACH_TIME:
        return Contents(value)
    return value if is_plain(value) else Mark(value)


def _marked_in(value: Any, left: list[int], within: frozenset[int]) -> Any:
    """The same of what is in others, of which so much is marked yet."""
    kind = type(value)
    if kind not in CONTAINERS and kind is not tuple:
        return marked(value)
    is_much = 2 * len(value) > left[0] or len(within) >= LEVELS or id(value) in within
    return Mark(value) if is_much else Items(value, left, within)


def items_of(value: Any) -> list[Any]:
    """What is in a container, the keys of a dict before what is under them."""
    return [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)


def is_marked(value: Any, mark: Any) -> bool:
    """Whether it is the value of which that is the mark."""
    return value is mark or (type(mark) in (Mark, Contents, Items, Like, Variable, Variables) and mark.is_of(value))


@dataclasses.dataclass
class Seen:
    """What was said of a value."""

    mark: Any
    met: Met | None
    """None if it can change in itself."""
    said: Said

    def is_all_of(self, value: Any) -> bool:
        """Whether that is to be said of the value."""
        return self.met is not None and is_marked(value, self.mark) and _is_in(value, self.met)


def _is_in(value: Any, met: Met) -> bool:
    for (is_item, name), (mark, within) in met.items():
        held = inside(value, name, is_item=is_item)
        if not is_marked(held, mark) or (within and not _is_in(held, within)):
            return False
    return True
