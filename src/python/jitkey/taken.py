"""What code takes of what it names: attributes, and items by keys that are written in it."""

from __future__ import annotations

import ast
import collections
import dis
import functools
import itertools
import re
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .instructions import (
    FORMS,
    IS_NONE,
    IS_THERE,
    IS_TRUE,
    Each,
    argument_of,
    asked_of,
    bases_asked,
    constant_of,
    functions_in,
    gets_an_item,
    instructions,
    is_called,
    is_called_as_a_method,
    is_copy,
    is_dropped,
    is_given_for_its_form,
    is_given_to_a_callback,
    is_set,
    is_subscript,
    is_tested,
    loaded,
    looked_for,
    name_of_each,
    name_set,
    names_of_parts,
    own_loaded,
    sets_an_item,
    takes_its_form,
)
from .seen import Met, inside, marked
from .source import NOTHING, body, is_of_program, is_of_python, is_of_the_program, of_class, stored
from .texts import CONTAINERS, is_array, is_plain

DEPTH = 3
"""So many attributes and items of each other are followed."""

LENGTH = "__len__"
"""The attribute that stands for how long a thing is."""

OF_ALL = frozenset({IS_NONE, IS_TRUE, LENGTH})
"""What is asked of all of a container beside single items of it."""

_ASKED = (IS_NONE, IS_THERE, IS_TRUE, ".__class__", f".{LENGTH}")
"""How paths end that stand for what is asked of a thing, and not for what it holds."""

OBJECTS = 64
"""So many objects are looked at for what loops take of each."""

METHODS = 32
"""So many times methods of objects that are in an object are looked into."""

LOOKED_AT = 4096
"""A container of more items is not looked through."""

ABSENT = object()
"""What is in a container under a key that it doesn't have."""

CALL = "__call__"
"""The attribute that stands for a thing being called."""

CALLED_BACK = " called back"
"""The attribute that stands for a function being given to a callback."""

EACH = "[*]"
"""The item that stands for all those that a loop goes through."""

_SLICED = re.compile(r"(.*)\[(-?\d*(?::-?\d*)+)\]", re.DOTALL)
"""A path that ends in a slice."""

_WRITES = frozenset({"add", "append", "clear", "discard", "extend", "insert", "remove", "update"})
"""The methods of containers that return nothing of them."""

_ALL = frozenset({"items", "keys", "values"})
"""The methods of dicts that return all of them."""

_FILLS = _WRITES | {"appendleft", "extendleft", "pop", "popitem", "popleft", "setdefault"}
"""The methods that change containers."""


Callees = Mapping[types.CodeType, Mapping[str, types.CodeType]]
"""By code and name the code of the program's function that it calls so."""


def attributes(
    written: frozenset[types.CodeType],
    made: type,
    parameter: str | None = None,
    callees: Callees = types.MappingProxyType({}),
    *,
    is_class: bool = False,
) -> frozenset[str]:
    """The attributes that the code takes of its parameters, or of that one; of its first one alone, if it is that of a method of the
    class. What its other methods take that are named there is among them, or its `__call__` if it is taken itself, what it takes of
    an attribute itself: `config.rate`, `config['rate']`, and what functions take to which it hands it. What it sets itself in the one
    that has them, a count or a memory, isn't. If it is the class itself that the code has there, its class methods are looked into."""
    found: set[str] = set()
    own: set[str] = set()
    seen: set[types.CodeType] = set()
    left = [(one, _params_of(one, made) if parameter is None else frozenset([parameter])) for one in written]
    while left:
        one, holders = left.pop()
        if one in seen:
            continue
        seen.add(one)
        # A function in it has the parameter from around, unless one of its own has the name.
        left += [(part, holders - set(_params(part))) for part in functions_in(one)]
        if len(holders) == 1:
            own |= _set_by(one, holders)
        # That an object is asked for itself says no more than that it is taken.
        for attribute in {"" if taken in OF_ALL else taken for taken in _taken_of(one, holders, callees)} - found:
            found.add(attribute)
            method = _method(made, attribute.removesuffix(f".{IS_TRUE}") or "__call__")
            if method is not None and (not is_class or isinstance(of_class(made, attribute), classmethod)):
                left.append((method, _params_of(method, made)))
        bases = [method for name in bases_asked(one) if (method := _method_after(made, one, name)) is not None]
        left += [(method, frozenset(_params(method)[:1])) for method in bases]
    # A method that is called back runs later; another function is that which was there.
    called_back = {path: path.removesuffix(f".{CALLED_BACK}") for path in found if path.endswith(CALLED_BACK)}
    found = (found - called_back.keys()) | {held for held in called_back.values() if _method(made, held) is None}
    found = _without_questions(found)
    return frozenset(path for path in found - {""} if not _is_own(path, own))


def _is_own(path: str, own: set[str]) -> bool:
    """Whether it is one of these paths, or inside of one."""
    return any(re.match(rf"{re.escape(set_there)}(?![^.\[])", path) for set_there in own)


def seen_by(written: types.CodeType, made: type) -> frozenset[str] | None:
    """What a method of the class takes of its object, itself or by way of other methods, besides forms; None if it hands the object on, to
    what can take anything."""
    found: set[str] = set()
    seen: set[types.CodeType] = set()
    left = [written]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        holder = next(iter(_params(one)), None)
        if holder is None or any(holder in part.co_freevars for part in functions_in(one)):
            return None
        steps: list[dis.Instruction | None] = [*instructions(one), None, None, None]
        for at, step in enumerate(steps[:-3]):
            if step is None or holder != own_loaded(step):
                continue
            following, after = steps[at + 1], steps[at + 2]
            is_compared = any(it is not None and it.opname == "IS_OP" for it in (following, after))
            is_super = following is not None and following.opname.startswith("LOAD_SUPER")
            if loaded(step) == holder and following is not None and following.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                if not takes_its_form(after):
                    found.add(following.argval)
                if (method := _method(made, following.argval)) is not None:
                    left.append(method)
            elif not is_compared and not is_super and asked_of(steps, at, at + 1) != "__class__":
                return None
        bases = bases_asked(one)
        left += [method for name in bases if (method := _method_after(made, one, name)) is not None]
    return frozenset(found)


def is_held_read(written: frozenset[types.CodeType], name: str) -> bool:
    """Whether the code takes what an array or a container holds that it calls so, and doesn't only ask for its form, what it is or how
    long, or set items of it."""
    is_met = False
    for steps, at in _loads(written, name):
        is_met = True
        is_asked = is_given_for_its_form(steps, at, at + 1) or takes_its_form(steps[at + 1]) or asked_of(steps, at, at + 1) is not None
        if loaded(steps[at]) != name or not (is_asked or sets_an_item(steps[at + 1 :])):
            return True
    return not is_met


def is_only_asked(written: frozenset[types.CodeType], name: str) -> bool:
    """Whether the code asks what it calls so for its class, its length or whether it is None, and takes nothing of it."""
    asked = [loaded(steps[at]) == name and asked_of(steps, at, at + 1) is not None for steps, at in _loads(written, name)]
    return asked != [] and all(asked)


def is_only_tested(written: frozenset[types.CodeType], name: str) -> bool:
    """Whether the code asks of what it calls so only whether there is anything in it."""
    return all(loaded(steps[at]) == name and is_tested(steps[at + 1]) for steps, at in _loads(written, name))


def is_filled(written: frozenset[types.CodeType], name: str) -> bool:
    """Whether the code itself adds to the container that it calls so: a memory, or a log of its traces."""
    return any(sets_an_item(steps[at + 1 :]) or _attribute(steps[at + 1]) in _FILLS for steps, at in _loads(written, name))


def is_looked_up(written: frozenset[types.CodeType], name: str) -> bool:
    """Whether the code takes single items of the container that it calls so, by whatever keys, and asks whether it has some: nothing that
    is added under another key can be among them."""
    for steps, at in _loads(written, name):
        following = steps[at + 1]
        is_asked = _attribute(following) == "get" or (following is not None and following.opname == "CONTAINS_OP")
        if not (is_asked or gets_an_item(steps[at + 1 :]) or sets_an_item(steps[at + 1 :])):
            return False
    return True


def _attribute(step: dis.Instruction | None) -> str | None:
    """The attribute that an instruction takes."""
    return step.argval if step is not None and step.opname in ("LOAD_ATTR", "LOAD_METHOD") else None


def _loads(written: frozenset[types.CodeType], name: str) -> Iterator[tuple[list[dis.Instruction | None], int]]:
    """Where the code and the functions in it load what they call so, each with the instructions in which that is."""
    for one in _all_in(written, name):
        steps: list[dis.Instruction | None] = [*instructions(one), None, None, None]
        for at, step in enumerate(steps[:-3]):
            if step is not None and name in (loaded(step), own_loaded(step)):
                yield steps, at


def _all_in(written: Iterable[types.CodeType], name: str) -> list[types.CodeType]:
    """The code, and that of the functions in it that have the name from around."""
    found = [*written]
    for one in found:
        found += [part for part in functions_in(one) if name not in _params(part)]
    return found


def items(written: frozenset[types.CodeType], name: str, callees: Callees = types.MappingProxyType({})) -> tuple[str, ...] | None:
    """The items that the code takes of the container that it calls so, and of these, by keys that are written in it; None if it takes
    others, or all of it."""
    taken, own = set[str](), set[str]()
    left = [(one, frozenset([name])) for one in written]
    while left:
        one, holders = left.pop()
        left += [(part, holders - set(_params(part))) for part in functions_in(one)]
        taken |= _taken_of(one, holders, callees)
        own |= {path for path in _set_by(one, holders) if EACH in path}
    taken = {path for path in taken if not _is_own(path, own)}
    found = _without_questions({path for path in taken if path.startswith("[")})
    items_taken = {path.removesuffix(f".{CALLED_BACK}") for path in found}
    if items_taken:
        items_taken |= taken & OF_ALL
        taken -= OF_ALL
    others = {"" if path in _ALL else path for path in taken if not path.startswith("[") and not path.endswith(f".{CALL}")}
    of_objects = sorted(path for path in items_taken if "." in path)
    if others == {""} and of_objects:
        # All of it is read, and of the objects in it what is taken of them.
        return ("", *of_objects)
    return tuple(sorted(items_taken)) if others <= _WRITES | {"get"} else None


def _without_questions(paths: set[str]) -> set[str]:
    """Without what is asked of that which is taken whole, too."""
    return {path for path in paths if not (path.endswith(_ASKED) and path.rpartition(".")[0] in paths)}


def first_of(path: str) -> str:
    """The attribute with which a path begins."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


_STEP = re.compile(r"""\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+)\]|\.?([^.\[]+)""")


@functools.lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[tuple[bool, Any], ...]:
    """The items and attributes of a path."""
    return tuple((bool(key), ast.literal_eval(key) if key else name) for key, name in _STEP.findall(path))


def read_by(value: Any, paths: tuple[str, ...], met: Met, *, is_part: bool = False) -> dict[str, Any]:
    """What an object holds under paths that code takes of it. What can't be looked into - a method is called of it, its class has a
    property of that name - stands for what is taken of it; of an array that is its form, where that is taken. Of an object in it whose
    methods or properties are the program's, what these take is among them, so often in each other, and its class; of its own methods, if
    it is itself part of something, so that nobody knew its class. What is met on the way is added to `met`."""
    found: dict[str, Any] = {}
    collections.deque(_looked_into(value, paths, met, found, is_part=is_part), maxlen=0)
    return found


def functions_behind(value: Any, written: types.CodeType, name: str, callees: Callees = types.MappingProxyType({})) -> list[Any]:
    """The program's functions that the code can call of an object or of what is in a container, which it calls so: methods, those of what
    the object holds, and functions that it holds."""
    codes = frozenset([written])
    if type(value) in (*CONTAINERS, tuple):
        paths = items(codes, name, callees) or ()
    else:
        paths = (*attributes(codes, type(value), name, callees), *([CALL] if _is_taken_whole(written, name, callees) else []))
    found: dict[str, Any] = {}
    methods = [method_of(type(part), one) for part, names in _looked_into(value, paths, {}, found, is_part=True) for one in names]
    return [*methods, *found.values()]


def _is_taken_whole(written: types.CodeType, name: str, callees: Callees) -> bool:
    """Whether the code calls what it calls so, or hands it on to what can call it."""
    return any("" in _taken_of(one, frozenset([name]), callees) for one in _all_in([written], name))


def _looked_into(
    value: Any, paths: tuple[str, ...], met: Met, found: dict[str, Any], *, is_part: bool
) -> Iterator[tuple[Any, frozenset[str]]]:
    """Adds to what is found; the objects whose methods are looked into, with the names of these."""
    left: list[tuple[Any, str, tuple[str, ...], Met]] = [(value, "", paths, met)]
    looked_into: set[tuple[int, frozenset[str]]] = set()
    gone_through: set[tuple[int, str]] = set()
    for _ in range(DEPTH + 1):
        # The methods of one object that are called together.
        called: dict[int, tuple[Any, str, Met, set[str]]] = {}
        for part, path, taken, here in left:
            _read(part, path, tuple(_of_each(part, taken, gone_through)), here, found, called, is_part=is_part)
        left = []
        for part, path, here, names in called.values():
            key = id(part), frozenset(names)
            if key not in looked_into and len(looked_into) < METHODS:
                looked_into.add(key)
                yield part, key[1]
                left.append((part, path, _taken_by_methods(type(part), key[1]), here))
                if path:
                    found[f"{path}.__class__"] = type(part).__qualname__


def _read(
    value: Any,
    around: str,
    paths: tuple[str, ...],
    met: Met,
    found: dict[str, Any],
    methods: dict[int, tuple[Any, str, Met, set[str]]],
    *,
    is_part: bool,
) -> None:
    """The same of one object that stands there, without what `methods` take of what it holds, which are added to those."""
    for path in paths:
        part, called, here, steps = value, "", met, _steps(path)
        for i, (is_item, name) in enumerate(steps):
            if is_item and steps[i + 1 :] == ((False, IS_THERE),):
                if (is_there := _has(part, name)) is not None:
                    part = is_there
                else:
                    path = called.removeprefix(".")
                break
            held = inside(part, name, is_item=is_item)
            # A method of a container looks at all of it.
            is_whole = type(held) in CONTAINERS and (i + 1 == len(steps) or not steps[i + 1][0])
            if is_whole or (is_item, name) not in here:
                here[is_item, name] = marked(held, is_whole=is_whole), here.get((is_item, name), (None, {}))[1]
            holder, here = here, here[is_item, name][1]
            if held is not NOTHING:
                part, called = held, f"{called}[{name!r}]" if is_item else f"{called}.{name}"
                continue
            inner = called.removeprefix(".")
            if is_array(part) and not is_item and name in FORMS:
                part = str(getattr(part, name))
            elif name == "get" and any(other.startswith(f"{inner}[") for other in paths):
                part = NOTHING
            elif is_item and type(part) in CONTAINERS:
                part = ABSENT
            elif not is_item and name == IS_NONE:
                part = part is None
            elif not is_item and name == IS_TRUE:
                part, path = (len(part) > 0, path) if type(part) in (*CONTAINERS, tuple) else (part, inner)
            elif not is_item and name == "__class__":
                part = type(part).__qualname__
            elif not is_item and name == LENGTH and is_array(part):
                part = part.shape[0] if part.shape else None
            elif not is_item and name == LENGTH and type(part) in (*CONTAINERS, tuple, str):
                part = len(part)
            elif not is_item and type(part) in CONTAINERS and name in _WRITES:
                # It is added to, and not read.
                part = NOTHING
            elif not is_item and (called or around or is_part) and _is_programs(type(part), name):
                methods.setdefault(id(part), (part, _within(around, inner), holder, set()))[3].add(name)
                part = NOTHING
            elif not is_item and _is_method(type(part), name):
                # What a method of the program's takes of it is known by its code; another one takes what it likes.
                part, path = (NOTHING if _is_programs(type(part), name) else part), inner
            break
        if (called or not path or part is not value) and part is not NOTHING:
            found[_within(around, path)] = part


def _of_each(value: Any, paths: Iterable[str], gone_through: set[tuple[int, str]]) -> Iterator[str]:
    """The paths, where one goes on behind all items of a list those behind each that is an object of the program's, or a list of such;
    none twice, and so many in all."""
    for path in paths:
        holder, is_each, behind = path.partition(EACH)
        sliced = _SLICED.fullmatch(holder)
        holder, ends = (sliced[1], sliced[2].split(":")) if sliced else (holder, [])
        items = at(value, holder) if is_each else ()
        if not is_each:
            yield path
        elif type(items) in (dict, list, tuple) and (type(items) is not dict or not ends):
            # Each has its own place in all of it.
            taken = range(len(items))[slice(*(int(end) if end else None for end in ends))] if ends else ()
            held = items.items() if type(items) is dict else ((i, items[i]) for i in taken) if ends else enumerate(items)
            for i, item in itertools.islice(held, METHODS):
                is_one = type(item) in (dict, list, tuple) if behind.startswith("[") else is_of_the_program(type(item))
                key = id(item), behind
                if is_one and type(i) in (int, str) and key not in gone_through and len(gone_through) < OBJECTS:
                    gone_through.add(key)
                    yield from _of_each(value, [f"{holder}[{i!r}]{behind}"], gone_through)


def _is_programs(made: type, name: str) -> bool:
    """Whether the class has a method or a property of that name which the program defines."""
    method = method_of(made, name)
    return method is not None and is_of_program(method.__code__.co_filename)


_by_methods: weakref.WeakKeyDictionary[type, dict[frozenset[str], tuple[str, ...]]] = weakref.WeakKeyDictionary()


def _taken_by_methods(made: type, names: frozenset[str]) -> tuple[str, ...]:
    """The paths that methods or properties of a class of the program's take of its object, where they are called together."""
    known = _by_methods.setdefault(made, {})
    if names not in known:
        own = (name for name in names if not isinstance(of_class(made, name), (staticmethod, classmethod)))
        codes = {method.__code__ for name in own if (method := method_of(made, name)) is not None}
        known[names] = tuple(sorted(attributes(frozenset(codes), made)))
    return known[names]


def _has(value: Any, one: Any) -> bool | None:
    """Whether that is in a container; None if what is in it would have to say so, or there is too much."""
    if type(value) is str:
        return one in value if isinstance(one, str) else None
    if type(value) not in (*CONTAINERS, tuple, frozenset) or len(value) > LOOKED_AT:
        return None
    return one in value if all(map(is_plain, value)) else None


def held_in(value: Any, paths: tuple[str, ...], is_one: Callable[[Any], bool]) -> dict[str, tuple[str, ...]]:
    """Where there are such objects in a value of which these paths are taken, with what is taken of each: `rate` of what is at `config`."""
    found: dict[str, tuple[str, ...]] = {}
    for path in _of_each(value, paths, set()):
        part, steps = value, _steps(path.removesuffix(f".{CALL}"))
        for i, (is_item, name) in enumerate(steps):
            if is_one(part):
                found[_path(steps[:i])] = (*found.get(_path(steps[:i]), ()), _path(steps[i:]))
                break
            part = inside(part, name, is_item=is_item)
        else:
            if type(part) in CONTAINERS and is_one(part):
                # It is read as a whole.
                found[path] = (*found.get(path, ()), "")
    return found


def at(value: Any, path: str) -> Any:
    """What is there in a value; `NOTHING` if that can't be looked into."""
    for is_item, name in _steps(path):
        value = inside(value, name, is_item=is_item)
    return value


def _path(steps: tuple[tuple[bool, Any], ...]) -> str:
    return "".join(f"[{name!r}]" if is_item else f".{name}" for is_item, name in steps).removeprefix(".")


def _is_method(made: type, name: str) -> bool:
    found = of_class(made, name)
    return callable(found) and not isinstance(found, type)


def _taken_of(written: types.CodeType, holders: frozenset[str], callees: Callees, above: tuple[types.CodeType, ...] = ()) -> set[str]:
    """The paths; that of what holds them all is empty, where that is taken itself. `above` are those that hand it to this code."""
    taken: set[str] = set()
    steps: list[dis.Instruction | None] = [*instructions(written), None, None]
    times = collections.Counter(map(name_set, steps))
    # What stands in a name that is set once, to what is taken of them: `c = config.net`.
    named = dict.fromkeys(holders, "")
    # Names that loops give to items, before they do.
    given = set[str]()
    for at, step in enumerate(steps[:-2]):
        if (stored_in := name_set(step)) is not None and named.get(stored_in, "").endswith(EACH):
            if stored_in not in given:
                # It is something else from here on.
                del named[stored_in]
            given.discard(stored_in)
        held = loaded(step)
        path = None if held is None else named.get(held)
        if path is None:
            continue
        asked = constant_of(steps[at + 1])
        if not path and is_copy(steps[at + 1]):
            # An attribute of it is set to something that is made of that.
            continue
        if at > 0 and loaded(steps[at - 1]) == "getattr" and isinstance(asked, str):
            taken.add(f"{path}.{asked}" if path else asked)
            continue
        found, path, end = _taken_from(steps, at + 1, path)
        if is_given_for_its_form(steps, at, end):
            taken.update(f"{path}.{form}" for form in ("shape", "dtype") if path)
            continue
        if path in found and (key := looked_for(steps, at, end)) is not None:
            taken |= {*(found - {path}), f"{path}[{key!r}].{IS_THERE}"}
            continue
        if not path and "" in found and (asked_there := asked_of(steps, at, end) or (IS_TRUE if is_tested(steps[end]) else None)) in OF_ALL:
            taken |= {*(found - {""}), str(asked_there)}
            continue
        # What else is asked of the holder itself says no more than that it is taken.
        is_inside = path != "" and path in found
        if is_inside and is_given_to_a_callback(steps, at) and not is_called_as_a_method(steps[end - 1]):
            taken |= {*(found - {path}), f"{path}.{CALLED_BACK}"}
            continue
        if is_inside and (attribute := asked_of(steps, at, end) or (IS_TRUE if is_tested(steps[end]) else None)) is not None:
            taken |= {*(found - {path}), f"{path}.{attribute}"}
            continue
        inner = _taken_by_callee(steps, at, end, callees, (written, *above)) if path in found or not path else None
        if inner is not None:
            taken |= {*(found - {path}), *(_within(path, one) for one in inner)}
            continue
        is_method = is_called_as_a_method(steps[end - 1]) and path.rpartition(".")[2] == _attribute(steps[end - 1])
        is_whole = end == at + 1 or is_subscript(steps[end - 1])
        if is_inside and (is_method or (is_whole and is_called(steps, end))):
            taken.add(f"{path}.{CALL}")
        if path.endswith(EACH):
            # That it is another one is known of that which has it.
            found.discard(path)
        if (each := name_of_each(steps, at, end)) is not None:
            of_each = _path_of_each(path, each)
            if each.code is None and named.get(each.name, EACH).endswith(EACH):
                named[each.name] = of_each
                given.add(each.name)
            cells = [step.argval for step in steps if step is not None and step.opname == "STORE_DEREF"]
            if len(above) <= DEPTH and (each.code is not None or cells.count(each.name) == 1):
                # A comprehension of its own has the name, or a function that is made in the loop.
                within = [part for part in functions_in(each.code or written) if each.name in part.co_freevars]
                within += [each.code] if each.code else []
                inner_paths = [one for part in within for one in _taken_of(part, frozenset([each.name]), callees, (written, *above))]
                taken.update(_within(of_each, one) for one in inner_paths if one)
        for i, part in enumerate(names_of_parts(steps, end)):
            if times[part] == 1 and part not in named:
                named[part] = f"{path}[{i}]"
        name = name_set(steps[end])
        if name is not None and times[name] == 1 and name not in named:
            named[name] = path
            found.discard(path)
        taken |= found
    return taken


def _path_of_each(path: str, each: Each) -> str:
    """That of each of what a loop goes through which takes that of what has them: of a dict its values are taken."""
    return f"{path.rpartition('.')[0] if each.is_of_dict else path}{each.part}{EACH}"


def _within(path: str, inner: str) -> str:
    return f"{path}{inner}" if not path or not inner or inner.startswith("[") else f"{path}.{inner}"


def _taken_by_callee(
    steps: list[dis.Instruction | None], at: int, end: int, callees: Callees, above: tuple[types.CodeType, ...]
) -> set[str] | None:
    """The paths that a function takes of what it is given, which is loaded there; None if it is given to none that is known."""
    given = argument_of(steps, at, end)
    written = None if given is None else callees.get(above[0], {}).get(given[0])
    if given is None or written is None or written in above or len(above) > DEPTH:
        return None
    parameters = _params(written)
    name = given[1] if isinstance(given[1], str) else next(iter(parameters[given[1] : written.co_argcount]), None)
    if name not in parameters:
        return None
    taken: set[str] = set()
    left = [written]
    while left:
        one = left.pop()
        left += [part for part in functions_in(one) if name not in _params(part)]
        taken |= _taken_of(one, frozenset([name]), callees, above if one is written else (written, *above))
    return taken


def _set_by(written: types.CodeType, holders: frozenset[str]) -> set[str]:
    """The paths of what the code sets in its parameters: attributes, and containers of which it sets an item, or has one set if there is
    none."""
    found: set[str] = set()
    steps: list[dis.Instruction | None] = [*instructions(written), None, None, None]
    # Each of them, and the names that loops give to items of what they hold.
    named = dict.fromkeys(holders, "")
    for at, step in enumerate(steps[:-3]):
        if (held := loaded(step)) is None or held not in named:
            continue
        _, path, end = _taken_from(steps, at + 1, named[held])
        named |= {part: f"{path}[{i}]" for i, part in enumerate(names_of_parts(steps, end)) if part not in named}
        sets = steps[end + 1] if is_copy(steps[end]) else steps[end]
        if path.endswith("]") and sets is not None and sets.opname == ("LOAD_ATTR" if is_copy(steps[end]) else "STORE_ATTR"):
            # `self.layers[i].calls += 1`
            found.add(f"{path}.{sets.argval}")
        if (each := name_of_each(steps, at, end)) is not None and each.code is None and each.name not in holders:
            named[each.name] = _path_of_each(path, each)
        is_in_place = is_copy(steps[at + 1])
        around = [named[held]] if named[held] else []
        names = [*around]
        at += is_in_place
        while (now := steps[at + 1]) is not None and now.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            names, at = [*names, now.argval], at + 1
        if now is not None and now.opname == "STORE_ATTR":
            names.append(now.argval)
        elif names[-1:] == ["setdefault"] and is_dropped(steps[at + 1 :]):
            names.pop()
        elif not (is_in_place and len(names) == len(around) + 1) and not is_copy(now) and not sets_an_item(steps[at + 1 :]):
            continue
        elif is_copy(now):
            # `a.b.c += 1` has a copy of what has it.
            following = steps[at + 2]
            if following is None or following.opname != "LOAD_ATTR":
                continue
            names.append(following.argval)
        found.add(".".join(names))
    return found - {""}


def _taken_from(steps: list[dis.Instruction | None], at: int, path: str) -> tuple[set[str], str, int]:
    """The paths that the instructions from there on take of what was loaded before them, which is under `path`; the last of them, and
    what comes after it."""
    taken: set[str] = set()
    whole: str | None = path
    for _ in range(DEPTH):
        now, key, asked = steps[at], constant_of(steps[at]), constant_of(steps[at + 1])
        if now is not None and now.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            called = f"{path}.{now.argval}" if path else str(now.argval)
            if now.argval == "get" and isinstance(asked, str):
                # It is asked for an item, if it is a dict.
                taken.add(called)
                called = f"{path}[{asked!r}]"
            elif now.argval == "get":
                taken.add(whole or "")
            path, at = called, at + 1
        elif key is not None and is_subscript(steps[at + 1]):
            path, at = f"{path}[{key!r}]", at + 2
        elif is_subscript(steps[at + 1]) and EACH not in path and loaded(now) in map(name_set, steps) and now is not None:
            # By a name of its own, as a loop has one: all of a list is read, and of each in it what is taken of that.
            taken.add(whole or "")
            path, at = f"{path}[:]{EACH}", at + 2
        else:
            # What is set in it, or added to, is the body's own.
            whole = None if key is not None and is_set(steps[at + 1]) else whole
            break
        whole = None if takes_its_form(steps[at]) else path
    return taken if whole is None else taken | {whole}, path, at


def _params_of(written: types.CodeType, made: type) -> frozenset[str]:
    params = _params(written)
    return frozenset(params[:1] if _method(made, written.co_name) is written else params)


def _params(written: types.CodeType) -> tuple[str, ...]:
    return written.co_varnames[: written.co_argcount + written.co_kwonlyargcount]


def _method_after(made: type, written: types.CodeType, name: str) -> types.CodeType | None:
    """The code of what `super()` finds in a method of the class, or of one of its bases, whose code that is."""
    method = method_after(made, written, name)
    return None if method is None else method.__code__


def method_after(made: type, written: types.CodeType, name: str) -> types.FunctionType | None:
    """What `super()` finds there."""
    held = [type.__getattribute__(base, "__dict__") for base in type.__getattribute__(made, "__mro__")]
    own = next((i for i, names in enumerate(held) if _code_of(names.get(written.co_name)) is written), len(held))
    return next((_function_of(names[name]) for names in held[own + 1 :] if name in names), None)


def _method(made: type, name: str) -> types.CodeType | None:
    """The code of the class's method, or of its property."""
    return _code_of(of_class(made, name))


def method_of(made: type, name: str) -> types.FunctionType | None:
    """The class's method, or what its property calls."""
    return _function_of(of_class(made, name))


def _code_of(found: Any) -> types.CodeType | None:
    """The code of what stands in a class."""
    inner = _function_of(found)
    return None if inner is None else inner.__code__


def _function_of(found: Any) -> types.FunctionType | None:
    # Up to equinox 0.11 the class of a Module has its methods inside of something of its own.
    held = stored(found, "__func__", stored(found, "method", found))
    inner = found.fget if isinstance(found, property) else body(held)
    # What Python's own classes keep in their objects is no setting: a logger knows which levels it was asked for.
    return inner if isinstance(inner, types.FunctionType) and not is_of_python(inner.__code__.co_filename) else None
