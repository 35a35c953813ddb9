"""The variables that a function reads by their names, and those of the helpers that it names."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from .instructions import (
    bases_asked,
    functions_in,
    instructions,
    is_given_for_its_form,
    is_given_to_a_callback,
    own_loaded,
)
from .likeness import is_made
from .outside import ROUTINES
from .settings import is_namespace
from .source import (
    NOTHING,
    body,
    closed_over,
    held_by,
    is_closure,
    is_jitted,
    is_of_program,
    is_of_the_program,
    is_program,
    layers,
    library_function,
    own_name,
    stored,
)
from .taken import DEPTH, functions_behind, method_after, method_of
from .texts import CONTAINERS, is_array, is_plain

OBJECTS = 16
"""So many things in a container are told apart by their classes."""

_WITH_RULES = {"custom_jvp": ("jvp",), "custom_vjp": ("fwd", "bwd")}
"""Under which names what has derivatives of its own holds the functions of these."""

READERS, VARIABLES = 64, 64
"""So many functions that a function reads are looked into for what they read, and so many variables are known of all of them."""


@dataclasses.dataclass(frozen=True)
class Variable:
    """One that functions read."""

    name: str
    codes: frozenset[types.CodeType]
    """Of the functions that read it by that name."""


class Variables:
    """What the Python function under a call reads by its name, of what is around it and of its module, and doesn't set itself, and what
    the program's functions read that it reads so: values that can be told from other ones, these functions among them, and no modules,
    nor what libraries define. One of another module, or around another function, has the name of that before its own. What it calls of
    the objects that it is `given`, by its parameters, reads as well, and so does what it was known to call `before`."""

    def __init__(
        self, function: Any, given: Mapping[str, Any] = types.MappingProxyType({}), before: Iterable[types.FunctionType] = ()
    ) -> None:
        self.names: tuple[str, ...] = ()
        self.of: dict[str, Variable] = {}
        self.callees: dict[types.CodeType, dict[str, types.CodeType]] = {}
        """The functions of the program that each calls by a name."""
        self._places: list[tuple[weakref.ref[types.FunctionType], str | int]] = []
        """The functions that have them, with the names of those of their modules and the numbers of the cells of others."""
        self.readers: list[weakref.ref[types.FunctionType]] = []
        inner, owner = body(function), None
        if type(function) is types.MethodType:
            owner = function.__self__
        if type(inner) is not types.FunctionType:
            # An object that is called.
            inner, owner = method_of(type(inner), "__call__"), inner
        if inner is None or not is_program(inner.__code__):
            return
        numbers: dict[str, list[int]] = {}
        readers = _readers(inner, owner, given, before)
        self.readers = [weakref.ref(reader) for reader in readers]
        for reader in readers:
            names = _names_in(reader.__code__)
            module = "" if reader.__globals__ is inner.__globals__ else f"{reader.__module__.rpartition('.')[2]}."
            around = "" if reader is inner else f"{reader.__name__}."
            values, held = reader.__globals__, closed_over(reader)
            read = {name: values.get(name) for name in names.of_module} | {name: held.get(name) for name in names.around}
            callees = {name: body(one).__code__ for name, one in read.items() if _has_parameters_of_its_body(one)}
            self.callees |= dict.fromkeys(_all_in(reader.__code__), callees)
            found: list[tuple[str, str, str | int, int]] = []
            for name in sorted(names.of_module):
                if _is_value(name, values.get(name, NOTHING)):
                    found.append((f"{module}{name}", name, name, id(values)))
            for i, (name, cell) in enumerate(zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=False)):
                if name in names.around and _is_value(name, held.get(name, NOTHING)):
                    found.append((f"{around}{name}", name, i, id(cell)))
            for called, name, place, holder in found:
                # Those that have one name are numbered.
                of_name = numbers.setdefault(called, [])
                number = of_name.index(holder) if holder in of_name else len(of_name)
                said = f"{called} ({number + 1})" if number else called
                if said not in self.of and len(self.of) < VARIABLES:
                    of_name.append(holder)
                    self._places.append((weakref.ref(reader), place))
                    self.of[said] = Variable(name, frozenset())
                if said in self.of:
                    self.of[said] = Variable(name, self.of[said].codes | {reader.__code__})
        self.names = (*self.of,)

    def now(self) -> list[Any]:
        """What they are now; `NOTHING` where there is none."""
        values = []
        for held, place in self._places:
            reader = held()
            if reader is None:
                values.append(NOTHING)
            elif isinstance(place, str):
                values.append(reader.__globals__.get(place, NOTHING))
            else:
                try:
                    values.append((reader.__closure__ or ())[place].cell_contents)
                except ValueError:  # It was deleted.
                    values.append(NOTHING)
        return values


def _readers(
    function: types.FunctionType, owner: Any, given: Mapping[str, Any], before: Iterable[types.FunctionType]
) -> list[types.FunctionType]:
    """A function, the program's functions that it reads by their names, and these, but for what is only given to a callback; the methods
    of their classes that they name, of the owner's, if it is a method of that; and what they call of the objects that they have. What is
    given has the same name, mostly, where it is handed on."""
    found = [function, *(one for one in before if one is not function)]
    made = owner if owner is None or isinstance(owner, type) else type(owner)
    for reader in found:
        names, held = _names_in(reader.__code__), closed_over(reader)
        read: list[Any] = [reader.__globals__.get(name) for name in sorted(names.of_module - names.later)]
        read += [held.get(name) for name in sorted(names.around - names.later)]
        read += [_of_namespace({**reader.__globals__, **held}.get(path[0]), path[1:]) for path in sorted(names.paths)]
        holder = made if reader is function and made is not None else _class_of(reader)
        if holder is not None:
            read += [method_of(holder, name) for name in sorted(names.attributes)]
            read += [method_after(holder, reader.__code__, name) for name in sorted(bases_asked(reader.__code__))]
        objects = {name: held.get(name, reader.__globals__.get(name)) for name in sorted((names.of_module | names.around) - names.later)}
        parameters = reader.__code__.co_varnames[: reader.__code__.co_argcount + reader.__code__.co_kwonlyargcount]
        has = [name for name in parameters if name in given]
        if reader is not function and holder is not None and parameters[:1] == tuple(has[:1]) and not isinstance(given[has[0]], holder):
            # That of a method is an object of its class.
            del has[0]
        objects |= {name: given[name] for name in has}
        if reader is function and made is not None:
            objects |= dict.fromkeys(parameters[:1], owner)
        for name, value in objects.items():
            read += _called_of(value, name, reader.__code__)
        for inner in map(body, itertools.chain.from_iterable(map(_with_rules, read))):
            if is_own_function(inner) and not any(inner is one for one in found) and len(found) < READERS:
                found.append(inner)
    return found


def _with_rules(value: Any) -> Iterator[Any]:
    """With the functions that stand for its derivatives, if it is what `jax.custom_vjp` or `jax.custom_jvp` makes of one."""
    yield value
    for one in layers(value):
        if type(one).__name__ in _WITH_RULES and type(one).__module__.startswith("jax."):
            for rule in (stored(one, name) for name in _WITH_RULES[type(one).__name__]):
                yield rule
                # One of each argument's, as defjvps has them.
                for held in closed_over(rule).values() if is_closure(rule) else ():
                    yield from held if type(held) is tuple else ()


def _called_of(value: Any, name: str, written: types.CodeType) -> list[Any]:
    """The functions that code can call of an object of the program's, or of those in a container, that it has by that name; itself, if it
    is one."""
    is_object = not is_namespace(value) and is_of_the_program(type(value))
    if not is_object and type(value) not in (*CONTAINERS, tuple):
        return [value]
    with contextlib.suppress(Exception):  # What is looked at raises.
        return functions_behind(value, written, name)
    return []


def kind_of(value: Any) -> Any:
    """What is the same for things of which code can call the same functions of the program's; None of what has none."""
    if type(value) in (dict, list, tuple):
        kinds = tuple(map(kind_of, itertools.islice(value.values() if type(value) is dict else value, OBJECTS)))
        return kinds if any(kinds) else None
    inner = body(value)
    if is_own_function(inner):
        return weakref.ref(inner.__code__)
    return weakref.ref(type(value)) if not is_namespace(value) and is_of_the_program(type(value)) else None


def _of_namespace(value: Any, path: tuple[str, ...]) -> Any:
    """The function that a module or a class of the program's has there: `layers.dense`, `Config.rate`."""
    for name in path:
        if not is_namespace(value) or not is_of_the_program(value):
            return None
        value = method_of(value, name) if isinstance(value, type) else (held_by(value) or {}).get(name)
        if isinstance(value, types.FunctionType):
            return value
    return None


def is_own_function(function: Any) -> TypeGuard[types.FunctionType]:
    """Whether it is a function that the program defines."""
    return type(function) is types.FunctionType and is_of_program(function.__code__.co_filename)


def _has_parameters_of_its_body(function: Any) -> bool:
    """Whether what it is called with is what a function of the program's is, as of what `jax.jit` and transformations make of one."""
    around = list(layers(function))
    return is_own_function(around[-1]) and all(type(one) is types.FunctionType or is_jitted(one) for one in around)


def _all_in(written: types.CodeType) -> list[types.CodeType]:
    """The code, and that of the functions in it."""
    found = [written]
    for one in found:
        found += functions_in(one)
    return found


def _class_of(function: types.FunctionType) -> type | None:
    """The class in whose body a function is written, if its module has that."""
    held: Any = function.__globals__
    made = None
    for name in function.__qualname__.split(".")[:-1]:
        made = held.get(name)
        if not isinstance(made, type):
            return None
        held = vars(made)
    return made


def _is_value(name: str, value: Any) -> bool:
    if is_namespace(value):
        return is_of_the_program(value)
    if library_function(value) is not None:
        # What has a name of the program's is a choice, and else an import.
        return own_name(value) != name
    if type(value) is functools.partial or type(value) is types.FunctionType or is_jitted(value):
        # What a transformation makes of one of the program's functions is another if that is.
        return is_own_function(body(value)) or type(value) is functools.partial or (is_closure(value) and own_name(value) != name)
    is_part_of_a_module = issubclass(type(value), ROUTINES)
    is_open = held_by(value) is not None and not is_part_of_a_module
    return is_open or is_made(value) or type(value) is tuple or is_plain(value) or is_array(value) or type(value) in CONTAINERS


class _Names(NamedTuple):
    """Those that code reads."""

    of_module: frozenset[str]
    around: frozenset[str]
    later: frozenset[str]
    """What it only gives to callbacks, of either."""
    attributes: frozenset[str]
    """Those that it takes of its first parameter, or of a base."""
    paths: frozenset[tuple[str, ...]]
    """Names with what it takes of them: `models.layers.dense`."""


@functools.lru_cache(maxsize=1024)
def _names_in(written: types.CodeType) -> _Names:
    """Without what the code sets: a count of its traces, say."""
    of_module, around, attributes = set[str](), set[str](), set[str]()
    set_there, set_around = set[str](), set[str]()
    first = next(iter(written.co_varnames[: written.co_argcount]), None)
    now, later, left = set[str](), set[str](), [written]
    paths = set[tuple[str, ...]]()
    while left:
        one = left.pop()
        left += functions_in(one)
        steps = instructions(one)
        padded = (*steps, None)
        for at, step in enumerate(steps):
            is_form = is_given_for_its_form(padded, at, at + 1)
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") and not is_form:
                (around if step.opname == "LOAD_DEREF" else of_module).add(step.argval)
                (later if is_given_to_a_callback(padded, at) else now).add(step.argval)
                taken = itertools.takewhile(lambda one: one.opname in ("LOAD_ATTR", "LOAD_METHOD"), steps[at + 1 : at + 1 + DEPTH])
                if (names := tuple(one.argval for one in taken)) and not is_given_to_a_callback(padded, at):
                    paths.add((step.argval, *names))
            elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                set_there.add(step.argval)
            elif step.opname in ("STORE_DEREF", "DELETE_DEREF"):
                set_around.add(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and at > 0 and first is not None and own_loaded(steps[at - 1]) == first:
                attributes.add(step.argval)
        attributes |= bases_asked(one)
    # What is in a cell of its own is none from around, and by its class it finds that of its bases.
    around = around.intersection(written.co_freevars) - {"__class__"}
    return _Names(
        frozenset(of_module - set_there), frozenset(around - set_around), frozenset(later - now), frozenset(attributes), frozenset(paths)
    )
