"""What functions read in a call beside its arguments' values, where no key sees it: variables by their names, and the attributes of
static arguments and of the objects that are called."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import itertools
import re
import types
from collections.abc import Hashable, Iterator
from typing import Any

import jax
import numpy as np

from .changing import is_settable
from .equality import hash_of, overlooks
from .graphs import is_graph, standing_for
from .instructions import IS_NONE, IS_THERE, IS_TRUE
from .likeness import LOOKED_AT, OTHER, Settings, contents, difference, is_made, is_of_fields, likeness, said_of, settings
from .nnx_variables import LEAVES, is_of_nnx, leaves_of
from .objects import is_open
from .parameters import names_of
from .seen import MARKED, Like, Mark, Met, Said, Seen, is_marked, items_of, marked
from .settings import is_namespace, of_frozen_config
from .source import NOTHING, Owner, body, function_text, held_by, is_by_identity, is_closure, is_jitted, library_function, stored
from .taken import ABSENT, at, first_of, held_in, is_filled, is_held_read, is_looked_up, is_only_asked, is_only_tested, read_by
from .texts import CONTAINERS, array_text, holds_only, is_array, is_plain
from .variables import is_own_function
from .wrappers import Held, Wrapper

PLACES = 4096
"""So many places of objects are known."""

PARTS = 64
"""So many things that a place has held are told apart."""

ITEMS, WITHIN = 16, 3
"""Containers of so many items, so deep within each other, are told apart by what they hold,"""

WHOLE = 400
"""if that takes no more characters."""

_WHOSE = re.compile(r", whose (\S+) (is (?:(?! and ).)*)>", re.DOTALL)
"""In what one thing alone something differs from another that stood there before."""

_KEYED = re.compile(r"""(.*?)\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+)\]""")
"""A path that ends in a key."""


class Reads:
    """What functions read, in words that are others when it is another."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, dict[Any, tuple[str, str, int, Mark]]] = {}
        """The texts of what places have held, with the names, and the numbers among those of one name."""
        self._together: dict[Hashable, dict[Said, int]] = {}
        """The numbers of what objects of `flax.nnx` have held together."""
        self._first: dict[Hashable, Settings | None] = {}
        """What the first of them was made of, of each name."""
        self._states: dict[Hashable, dict[int, tuple[dict[Any, Any], str]]] = {}
        """What dicts have held to which more is added, by these numbers, with their texts."""

    def of_call(self, wrapped: Wrapper, args: Any, kwargs: Any) -> Said:
        """What the function reads of its variables, of its static arguments and of the objects that it is called with besides."""
        found: Said = ()
        try:
            is_replaced = False
            for name, value in zip(wrapped.variables.names, wrapped.variables.now(), strict=True):
                with contextlib.suppress(Exception):  # What is looked at raises.
                    before = seen = wrapped.seen.get(name)
                    if seen is None or not seen.is_all_of(value):
                        seen = wrapped.seen[name] = self._of_variable(wrapped, name, value)
                        is_replaced = is_replaced or (before is not None and _is_another_function(value, before, seen))
                    found += seen.said
            if is_replaced and wrapped.look_again():
                return self.of_call(wrapped, args, kwargs)
            standing: dict[int | str, Any] = {}
            for (given, path), held in list(wrapped.held.items()):
                if given not in standing:
                    value = kwargs.get(given, NOTHING) if isinstance(given, str) else args[given] if given < len(args) else NOTHING
                    standing[given] = standing_for(value).value
                value = standing[given]
                one, taken = at(value, path), held.taken.get(type(value), ())
                seen = wrapped.seen.get((given, path, taken))
                if seen is None or not seen.is_all_of(one):
                    is_identity = _is_unseen(one)
                    read = taken if is_identity or type(one) is held.changes.get(type(value)) else ()
                    seen = self._of_object(one, read, held.called, id(one), is_identity=is_identity, is_part=True)
                    if not is_identity:
                        # Another one that holds the same is as good.
                        seen.mark = Like(one)
                    wrapped.seen[given, path, taken] = seen
                found += seen.said
            if not (wrapped.has_statics or wrapped.has_owners):
                return found
            opened = list(wrapped.owners()) if wrapped.has_owners else []
            if wrapped.has_statics:
                opened += _statics(wrapped, args, kwargs)
                asked = _asked(wrapped, opened)
            else:
                # These are the same in each call.
                asked = wrapped.asked = wrapped.asked or _asked(wrapped, opened)
            for owner, (called, attributes) in zip(opened, asked, strict=True):
                if attributes:
                    seen = wrapped.seen.get((called, attributes))
                    if seen is None or not seen.is_all_of(owner.value):
                        seen = self._of_object(owner.value, attributes, called, id(owner.value), is_identity=owner.is_identity)
                        wrapped.seen[called, attributes] = seen
                    found += seen.said
        except Exception:
            return found
        return found

    def look_into(self, wrapped: Wrapper, args: Any, kwargs: Any) -> None:
        """Looks for the objects in these arguments that a key has by their identity, as what filter_jit is given besides arrays, in a
        static field or in a tuple that is static, and of which the function reads something; and in nodes for those that are equal to
        themselves once they were changed in their place."""
        numbers, names = wrapped.statics(args)
        parameters = _parameters(wrapped, args, kwargs)[: len(args)]
        given_for = {**dict(zip(parameters, args, strict=False)), **kwargs}
        wrapped.look_into({name: standing_for(value).value for name, value in given_for.items()})
        for given, name in [*enumerate(parameters), *((name, name) for name in kwargs)]:
            value = args[given] if isinstance(given, int) else kwargs[given]
            is_static = given in numbers or given in names
            # What is static itself is opened whole.
            if is_plain(value) or is_array(value) or (is_static and is_open(value)):
                continue
            node, (value, made) = value, standing_for(value)
            paths = wrapped.reads(Owner(value, is_identity=True, parameter=name))
            for path, taken in held_in(value, paths, functools.partial(_is_looked_into, node=node, made=made)).items():
                where = f"{name}{path}" if path.startswith("[") else f"{name}.{path}" if path else name
                held = wrapped.held.setdefault((given, path), Held(where))
                held.taken[type(value)] = taken
                if not _is_unseen(one := at(value, path)):
                    held.changes[type(value)] = type(one)
                    # What was seen of it may be from before that was known.
                    wrapped.seen.pop((given, path, taken), None)

    def _of_variable(self, wrapped: Wrapper, name: str, value: Any) -> Seen:
        """What a variable is that the function reads by that name."""
        place, is_space = (wrapped.ref, name), is_namespace(value)
        if is_of_nnx(value) and not wrapped.asks(is_held_read, name):
            return Seen(Mark(value), {}, ())
        is_container = type(value) in CONTAINERS and wrapped.items(name) is None
        if is_container and wrapped.asks(is_filled, name):
            return Seen(Mark(value), {}, ())
        if is_container and wrapped.asks(is_only_tested, name):
            return Seen(Mark(value), None, ((f"bool({name})", str(len(value) > 0)),))
        if (is_array(value) or is_container) and not wrapped.asks(is_held_read, name):
            if is_array(value):
                return Seen(Mark(value), {}, ((name, f"<{type(value).__name__} {array_text(value)}>"),))
            return Seen(Mark(value), None, ((f"len({name})", str(len(value))),))
        taken = _taken_of(wrapped, name, value)
        if isinstance(value, dict) and (is_container or "" in (taken or ())) and wrapped.asks(is_looked_up, name):
            # What is added to it under another key can be none of what is taken.
            seen = self._of_object(value, tuple(path for path in taken or () if path), name, place, is_identity=True)
            said = ((name, self._text_as_it_grows(place, value)), *seen.said)
            return dataclasses.replace(seen, mark=marked(value, is_whole=True), said=said)
        is_kind = not (is_space or value is NOTHING or is_array(value) or is_container) and wrapped.asks(is_only_asked, name)
        if is_kind:
            # It is only asked of what class it is, or how long.
            length = ((f"len({name})", str(len(value))),) if isinstance(value, (str, tuple)) else ()
            return Seen(marked(value), {}, (self._kind(name, value, place), *length))
        if taken is None:
            # Of a class or a module only what is taken of it can be another.
            itself: Said = () if value is NOTHING or is_space else ((name, self._text(place, value)),)
            asked = wrapped.items(name) if value is None else None
            # It may have been a container, of which that was asked beside its items.
            questions = tuple((_asked_as(f"{name}.{one}"), str(one == IS_NONE)) for one in (IS_NONE, IS_TRUE) if one in (asked or ()))
            # What is compared by its fields is the same object when one of them is another.
            is_settled = not (is_container and any(is_of_fields(type(item)) for item in items_of(value)))
            return Seen(marked(value, is_whole=True), {} if is_settled else None, (*itself, *questions))
        seen = self._of_object(value, taken, name, place, is_identity=True)
        more = () if is_space else self._of_class(name, value, place, is_said=seen.said != ())
        return dataclasses.replace(seen, said=seen.said + more)

    def _of_class(self, name: str, value: Any, place: Hashable, *, is_said: bool) -> Said:
        """What can be another in a variable, besides what was said to be taken of it, since its class reads it."""
        if not is_said and is_made(value):
            # A library's method reads what it likes of it.
            return ((name, self._text(place, value)),)
        if not callable(value):
            return ()
        return (self._kind(name, value, place),)

    def _kind(self, name: str, value: Any, place: Hashable) -> tuple[str, str]:
        """The class of a variable."""
        number = "" if is_plain(value) else f" {self._text((place, 'class'), type(value))}"
        return f"type({name})", f"{type(value).__qualname__}{number}"

    def _of_object(
        self, value: Any, attributes: tuple[str, ...], called: str, place: Hashable, *, is_identity: bool, is_part: bool = False
    ) -> Seen:
        """What an object that is called so holds under these names, by their paths. What can't be said in few words is told from what was
        there before by its number, if a key has the object by its identity: of others that are equal it can't be told. `place` is
        that of an object that can be replaced."""
        said: list[tuple[str, str]] = []
        variables: list[tuple[str, str]] = []
        met: Met = {}
        # A container can change in itself.
        is_settled = True
        for path, part in read_by(value, attributes, met, is_part=is_part).items():
            named = None if is_identity else _named(part)
            is_overlooked = not is_identity and is_array(part) and overlooks(type(value), first_of(path)) and contents(part) is not None
            if is_namespace(value) and type(part) is types.FunctionType:
                # What it has made up to now, a memory or a count, makes it no other.
                named = f"<{function_text(part)}>"
            if is_identity or named is not None or is_overlooked or (not is_array(part) and type(_token(part)) is tuple):
                name = f"{called}{path}" if path.startswith("[") or not path else f"{called}.{path}"
                # Those that are equal are one to a key.
                where = (type(value), hash_of(value)) if is_overlooked else place
                of_variables = variables if is_identity and is_of_nnx(part) else said
                of_variables.append((_asked_as(name), named or self._text((where, path), part)))
                # One that isn't there by its identity has no marks of its own.
                is_marked_whole = (is_identity or path != "") and _is_marked_whole(part)
                is_settled = is_settled and (is_marked_whole or not _can_change(part)) and not path.endswith(("__len__", IS_THERE, IS_TRUE))
        if len(variables) > 1:
            # What is changed in one step isn't said for each layer.
            if len(self._together) >= PLACES:
                self._together.clear()
            known = self._together.setdefault(place, {})
            if len(known) >= PARTS:
                known.clear()
            number, first = known.setdefault(tuple(variables), len(known) + 1), next(iter(known))
            differs = said_of(dict(_others(called, variables, dict(first))))
            variables = [(called, _numbered(_class_text(value), number, differs))]
        # What is taken of an object of flax has marks of its own.
        mark = Mark(value) if met and is_of_nnx(value) else marked(value, is_whole="" in attributes)
        return Seen(mark, met if is_settled else None, (*said, *variables))

    def _text(self, place: Hashable, part: Any) -> str:
        """What stands in a place: what can't be said in few words by its number there."""
        if len(self._parts) >= PLACES:
            self._parts.clear()
        token = _token(part)
        if type(token) is tuple:
            return str(token[1])
        known = self._parts.setdefault(place, {})
        is_function = type(part) is types.FunctionType
        if is_closure(part) and not is_own_function(part):
            # The same one does the same, whatever it has counted.
            token = next((other for other, (*_, held) in known.items() if held.is_of(part)), token)
        text, *_, mark = known.get(token, ("", "", 0, None))
        if mark is None or not (type(token) is str or mark.is_of(part)):
            # Another one can have the id of one that is gone.
            called = function_text(part) if is_function else array_text(part) if is_array(part) else _class_text(part)
            number = 1 + max([number for _, name, number, _ in known.values() if name == called], default=0)
            if len(known) >= PARTS:
                known.clear()
            differs = self._differs((place, called), number, part)
            # Functions are told apart by where they are written.
            text = f"<{called}>" if is_function and number == 1 else _numbered(called, number, differs)
            known[token] = text, called, number, marked(part) if is_of_nnx(part) else Mark(part)
        return text

    def _differs(self, place: Hashable, number: int, part: Any) -> str:
        """In what it differs from the first that was there."""
        if number > 1:
            before, now = self._first.get(place), settings(part)
            return difference(now, before) if before and now else ""
        if len(self._first) >= PLACES:
            self._first.clear()
        self._first[place] = settings(part)
        return ""

    def _text_as_it_grows(self, place: Hashable, value: dict[Any, Any]) -> str:
        """That of a dict, which is the same for as long as what it has held is in it."""
        held = {_token(key): _token(part) for key, part in itertools.islice(value.items(), LOOKED_AT)}
        if len(self._states) >= PLACES:
            self._states.clear()
        states = self._states.setdefault(place, {})
        number, text = next(
            ((number, text) for number, (known, text) in reversed(states.items()) if known.items() <= held.items()), (len(states) + 1, "")
        )
        text = text or _numbered(_class_text(value), number, self._differs((place, "as it grows"), number, value))
        if number <= PARTS:
            states[number] = held, text
        return text


def _others(called: str, now: list[tuple[str, str]], before: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Of what has another text than before the path in what is called so, and what is said of it."""
    for path, text in now:
        if path in before and before[path] != text:
            inner = _WHOSE.search(text)
            yield path.removeprefix(called) + (f".{inner[1]}" if inner else ""), inner[2] if inner else OTHER


def _numbered(called: str, number: int, differs: str) -> str:
    return f"<{called} #{number}{', whose ' if differs else ''}{differs}>"


def _class_text(value: Any) -> str:
    """What an object is called by its number. A container can be the same and hold something else."""
    made = type(value)
    return f"{made.__name__} of contents" if made in CONTAINERS or is_of_nnx(value) else made.__name__


def _asked_as(name: str) -> str:
    """A path as a program would write it: what stands in it for what is asked of a thing is written as the question."""
    held, _, asked = name.rpartition(".")
    if asked == IS_THERE and (found := _KEYED.fullmatch(held)):
        return f"{found[2]} in {found[1]}"
    return {IS_NONE: f"{held}{IS_NONE}", IS_TRUE: f"bool({held})", "__len__": f"len({held})", "__class__": f"type({held})"}.get(asked, name)


def _taken_of(wrapped: Wrapper, name: str, value: Any) -> tuple[str, ...] | None:
    """What is taken of a variable: items of a container, attributes of another object. None if it is read as a whole, as an array is."""
    if type(value) in CONTAINERS:
        return wrapped.items(name)
    if type(value) is tuple and (taken := wrapped.items(name)) and any("." in path for path in taken):
        return taken
    is_object = is_namespace(value) or (held_by(value) is not None and not is_array(value))
    return (wrapped.taken_of(name, value) or None) if is_object else None


def _parameters(wrapped: Wrapper, args: Any, kwargs: Any) -> list[str]:
    """The names of those that take positional arguments."""
    if wrapped.parameters is None:
        wrapped.parameters = names_of(wrapped.function(), (args, kwargs))
    return wrapped.parameters


def _statics(wrapped: Wrapper, args: Any, kwargs: Any) -> list[Owner]:
    """The static arguments that can be opened. Of one that can be called, code that has it by its name speaks; a function is given
    such things by whatever name, and takes other things of them."""
    opened = []
    for given, one in wrapped.static_arguments(args, kwargs):
        if (is_open(one) or isinstance(one, type)) and of_frozen_config(one) is None:
            parameters = _parameters(wrapped, args, kwargs)
            name = given if isinstance(given, str) else parameters[given] if given < len(parameters) else None
            opened.append(Owner(one, is_by_identity(type(one)), name if callable(one) else None, None if isinstance(one, type) else name))
    return opened


def _is_unseen(value: Any) -> bool:
    """Whether a key has the object by its identity, whatever it holds; a node has its parts in the key."""
    return is_by_identity(type(value)) and is_open(value) and jax.tree_util.all_leaves([value]) and not is_graph(value)


def _is_looked_into(part: Any, node: Any, made: tuple[Any, ...]) -> bool:
    """Whether what such a part of the node holds is in no key, or is there as it was when that was made; not what was `made` for it."""
    return all(part is not one for one in made) and (_is_unseen(part) or _changes_unseen(part, node))


def _changes_unseen(value: Any, node: Any) -> bool:
    """Whether it is compared by what it holds, can be changed in its place, and is in a node, of whose aux data it is part."""
    made = type(value)
    if made not in CONTAINERS and (not is_settable(made) or is_by_identity(made) or not is_open(value)):
        return False
    return value is not node and all(leaf is not value for leaf in jax.tree_util.tree_leaves(node, is_leaf=lambda part: part is value))


def _asked(wrapped: Wrapper, opened: list[Owner]) -> list[tuple[str, tuple[str, ...]]]:
    """What objects are called, those of one class by their numbers, and of what they hold the function speaks."""
    numbered: dict[str, list[int]] = {}
    asked = []
    for owner in opened:
        named = owner.value if isinstance(owner.value, type) else type(owner.value)
        # What the class says itself of its name is its own.
        called, attributes = owner.called or vars(type)["__name__"].__get__(named), wrapped.reads(owner)
        if attributes:
            known = numbered.setdefault(called, [])
            if id(owner.value) not in known:
                known.append(id(owner.value))
            number = known.index(id(owner.value))
            # A variable of that name is another one.
            number += owner.called in wrapped.variables.of
            called = f"{called} ({number + 1})" if number else called
        asked.append((called, attributes))
    return asked


def _named(part: Any) -> str | None:
    """What tells a function from others, whichever object it is: its name, if a library defines it or it stands in a module."""
    called = library_function(part)
    if called is None and type(part) is types.FunctionType and part.__closure__ is None and "<locals>" not in part.__qualname__:
        called = function_text(part).strip("<>")
    return None if called is None else f"<{called}>"


def _whole(part: Any) -> str:
    """All that is in a container; equal sets have no order."""
    return f"{{{', '.join(sorted(map(repr, part)))}}}" if type(part) is set and part else repr(part)


def _is_another_function(value: Any, before: Seen, now: Seen) -> bool:
    """Whether a function has taken the place of another, in a variable or in a module or class that is one."""
    if is_namespace(value):
        return any(part not in before.said and " at " in part[1] for part in now.said)
    return not is_marked(value, before.mark) and is_own_function(body(value))


def _can_change(part: Any) -> bool:
    """Whether it is a container that can be changed in its place, or holds one."""
    return type(part) in CONTAINERS or (type(part) is tuple and any(map(_can_change, part[:LOOKED_AT])))


def _is_marked_whole(part: Any) -> bool:
    """Whether the marks of what is in a container tell that it was changed."""
    return type(part) in CONTAINERS and 2 * len(part) <= MARKED and all(map(_is_told_by_mark, items_of(part)))


def _is_told_by_mark(item: Any) -> bool:
    """Whether it is another thing if and only if it is another object."""
    is_cell = is_by_identity(type(item)) and not is_made(item) and type(item).__weakrefoffset__ != 0
    return is_plain(item) or is_array(item) or is_cell


def _token(part: Any) -> Any:
    """What is the same for as long as a part of an object is; that of an object that is none of Python's own is its identity."""
    if part is ABSENT:
        return str, "absent"
    if is_plain(part):
        return type(part), repr(part)
    if issubclass(type(part), enum.Enum) and isinstance(member := stored(part, "_name_"), str):
        return type(part), f"{type(part).__qualname__}.{member}"
    if (called := library_function(part)) is not None:
        return type(part), f"<{called}>"
    if issubclass(type(part), np.dtype):
        return type(part), f"<{part.name if part.isnative and part.names is None else part}>"
    if type(part).__name__ == "_ScalarMeta" and type(part).__module__.startswith("jax."):
        return type(part), f"<{part.dtype.name}>"
    if is_closure(part) and not is_own_function(part):
        # What is too large to be told by its settings is told by its name.
        alike = likeness(part)
        return alike if isinstance(alike, str) else (type(part), f"<{part.__module__}.{part.__qualname__}>")
    if type(part) is types.MethodType:
        return f"{id(part.__self__)} {id(part.__func__)}"
    if type(part) in CONTAINERS and holds_only(is_plain, part, WITHIN, ITEMS) and len(text := _whole(part)) <= WHOLE:
        return type(part), text
    if is_array(part):
        return contents(part) or id(part)
    if is_of_nnx(part):
        leaves = leaves_of(part).values()
        held = [repr(leaf) if is_plain(leaf) else contents(leaf) or "" for leaf in leaves if is_plain(leaf) or len(leaves) <= LEAVES]
        # Another object is another one, whatever it holds: that says nothing of its functions.
        return f"{id(part)} {' '.join(held)}" if len(held) == len(leaves) and all(held) else id(part)
    is_alike = is_made(part) or is_jitted(part) or type(part) in (*CONTAINERS, tuple, functools.partial)
    return likeness(part) if is_alike else id(part)
