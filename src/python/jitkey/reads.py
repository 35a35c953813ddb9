"""What functions read in a call beside its arguments' values, where no key sees it: variables by their names, and the attributes of
static arguments and of the objects that are called."""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterator
from operator import is_
from typing import Any

from .objects import is_open
from .settings import holding, is_namespace, of_frozen_config
from .source import NOTHING, Owner, held_by, is_by_identity
from .taken import CONTAINERS, read_by
from .texts import array_text, is_array, is_plain
from .wrappers import Wrapper

PLACES = 4096
"""So many places of objects are known."""

PARTS = 64
"""So many things that a place has held are told apart."""

ITEMS, WITHIN = 16, 3
"""Containers of so many items, so deep within each other, are told apart by what they hold,"""

WHOLE = 400
"""if that takes no more characters."""

PLAIN = frozenset({bool, int, float, str, type(None)})
"""What is the same if it is equal and of one type."""

Said = tuple[tuple[str, str], ...]
"""What stands in places, by their paths."""


class Reads:
    """What functions read, in words that are others when it is another."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, dict[Any, int]] = {}
        """The numbers of what places have held."""
        self._last: dict[tuple[str, tuple[str, ...]], tuple[list[Any], Said]] = {}
        """What was said of the attributes of an object that is called so, when they were these."""

    def of_call(self, wrapped: Wrapper, args: Any, kwargs: Any) -> Said:
        """What the function reads of its variables, of its static arguments and of the objects that it is called with besides."""
        found: Said = ()
        numbered: dict[str, list[int]] = {}
        try:
            if wrapped.variables.names:
                found = self._variables(wrapped)
            if not (wrapped.has_statics or wrapped.has_owners):
                return found
            opened = list(wrapped.owners()) if wrapped.has_owners else []
            statics = wrapped.static_values(args, kwargs)
            opened += [Owner(value, is_by_identity(type(value))) for value in statics if is_open(value) and of_frozen_config(value) is None]
            for owner in opened:
                attributes = wrapped.reads(owner)
                if attributes:
                    called = type(owner.value).__name__
                    known = numbered.setdefault(called, [])
                    if id(owner.value) not in known:
                        known.append(id(owner.value))
                    number = known.index(id(owner.value))
                    called = f"{called} ({number + 1})" if number else called
                    found += self._of_object(owner.value, attributes, called, is_identity=owner.is_identity)
        except Exception:  # What is looked at raises.
            return ()
        return found

    def _variables(self, wrapped: Wrapper) -> Said:
        """What the variables are that the function reads by name."""
        values = wrapped.variables.now()
        now = [(type(value), value) if type(value) in PLAIN else id(value) for value in values]
        last, said = wrapped.last_variables
        if now != last:
            said = [None] * len(now)
        found: Said = ()
        for i, (name, value) in enumerate(zip(wrapped.variables.names, values, strict=True)):
            known = said[i]
            if known is None:
                place = wrapped.ref, name
                # What is asked of an array is what it is.
                is_space = is_namespace(value)
                is_object = is_space or (held_by(value) is not None and not is_array(value))
                attributes = wrapped.reads(Owner(value, is_identity=True, parameter=name)) if is_object else ()
                taken = wrapped.items(name) if type(value) in CONTAINERS else None
                if attributes or taken is not None:
                    known = self._of_object(value, attributes or taken or (), name, is_identity=True, place=place)
                else:
                    # Of a class or a module only what is taken of it can be another.
                    known = () if value is NOTHING or is_space else ((name, self._text(place, value)),)
                if not attributes and type(value) not in CONTAINERS:
                    said[i] = known
            found += known
        wrapped.last_variables = now, said
        return found

    def _of_object(
        self, value: Any, attributes: tuple[str, ...], called: str, *, is_identity: bool, place: Hashable = None
    ) -> Said:
        """What an object that is called so holds under these names, by their paths. What can't be said in few words is told from what was
        there before by its number, if a key has the object by its identity: of others that are equal it can't be told. `place` is
        that of an object that can be replaced."""
        held = holding(value)
        now = [held.get(path, NOTHING) for path in attributes]
        last = self._last.get((called, attributes))
        if last is not None and all(map(is_, now, last[0])):
            return last[1]
        said = tuple(self._described(value, attributes, called, is_identity=is_identity, place=place))
        # What is plain can't change in itself.
        if all(map(is_plain, now)):
            if len(self._last) >= PLACES:
                self._last.clear()
            self._last[called, attributes] = now, said
        return said

    def _described(
        self, value: Any, attributes: tuple[str, ...], called: str, *, is_identity: bool, place: Hashable
    ) -> Iterator[tuple[str, str]]:
        for path, part in read_by(value, attributes).items():
            if is_identity or is_plain(part):
                name = f"{called}{path}" if path.startswith("[") else f"{called}.{path}"
                yield name, self._text((id(value) if place is None else place, path), part)

    def _text(self, place: Hashable, part: Any) -> str:
        """What stands in a place: what can't be said in few words by its number there."""
        if len(self._parts) >= PLACES:
            self._parts.clear()
        token = _token(part)
        if type(token) is tuple:
            return str(token[1])
        known = self._parts.setdefault(place, {})
        if len(known) >= PARTS:
            known.clear()
        number = known.setdefault(token, len(known) + 1)
        return f"<{array_text(part) if is_array(part) else type(part).__name__} {number}>"


def _token(part: Any) -> Any:
    """What is the same for as long as a part of an object is; that of an object that is none of Python's own is its identity."""
    if is_plain(part):
        return type(part), repr(part)
    if type(part) is types.MethodType:
        return f"{id(part.__self__)} {id(part.__func__)}"
    if type(part) in CONTAINERS and _is_plain_within(part, WITHIN) and len(text := repr(part)) <= WHOLE:
        return type(part), text
    return id(part)


def _is_plain_within(part: Any, depth: int) -> bool:
    """Whether it is plain, or holds little else."""
    if type(part) not in (*CONTAINERS, tuple):
        return is_plain(part)
    held = [*part.keys(), *part.values()] if isinstance(part, dict) else part
    return depth > 0 and len(part) <= ITEMS and all(_is_plain_within(item, depth - 1) for item in held)
