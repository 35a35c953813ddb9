"""Functions that are jitted: what is known of each, without holding it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import types
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import jax
from jax._src.array import ArrayImpl

from .errors import Unsupported
from .objects import A_JIT
from .options import OfTheCall, filter_jit_options, has_options, jit_options
from .seen import Seen
from .served import Entries
from .source import (
    Owner,
    body,
    code,
    codes,
    compared,
    has_public,
    is_called_by_program,
    is_jitted,
    is_made,
    is_program,
    is_wrapper,
    layers,
    own_name,
    owners,
    place,
    stored,
    transformation_name,
    transformations,
    wrapper_name,
    written_at,
)
from .taken import attributes, items
from .variables import Variables, kind_of

LOOKS = 256
"""So often a function is looked into again since one that it calls is another."""


@dataclasses.dataclass
class Held:
    """An object in an argument, compared by its identity, of which a function reads something."""

    called: str
    taken: weakref.WeakKeyDictionary[type, tuple[str, ...]] = dataclasses.field(default_factory=weakref.WeakKeyDictionary)
    """What it reads, by the class of the argument."""
    changes: weakref.WeakKeyDictionary[type, type] = dataclasses.field(default_factory=weakref.WeakKeyDictionary)
    """Its class, by that of the argument, where it is compared by what it holds and can change in its place."""


@dataclasses.dataclass
class Wrapper:
    """What is known of a jitted function, without holding it."""

    name: str
    at: str | None
    ref: str
    """Its own name in the recording."""
    function: Callable[[], Any]
    codes: frozenset[types.CodeType]
    is_run: bool
    """Whether one of these runs whenever it is traced."""
    options: dict[str, Any]
    called: str | None = None
    """What the program jitted it by, if that is no api with caches of its own."""
    of_call: Callable[[Any], dict[str, Any]] | None = None
    """What the options are of a call with these dynamic positional arguments, if they speak of what isn't there before."""
    was_called: bool = False
    """Whether its fast path held something when it was met, of calls before the recording."""
    is_partition: bool = False
    """Whether its key has the leaves of the function, as that of `filter_jit`."""
    unknown: str | None = None
    """Why its options can't be recorded."""
    seen: dict[Hashable, Seen] = dataclasses.field(default_factory=dict)
    """What was said of its variables, and of the objects that it is called with besides, in the last call."""
    parameters: list[str] | None = None
    """The names of those that take positional arguments, once it was called."""
    held: dict[tuple[int | str, str], Held] = dataclasses.field(default_factory=dict)
    """The objects in its arguments of which it reads something that no key sees, by the argument and where they are in it."""
    asked: list[tuple[str, tuple[str, ...]]] = dataclasses.field(default_factory=list)
    """What these objects are called, and the attributes that it reads."""
    known_reads: weakref.WeakKeyDictionary[type, dict[tuple[str | None, bool], tuple[str, ...]]] = dataclasses.field(
        default_factory=weakref.WeakKeyDictionary
    )
    entries: Entries = dataclasses.field(default_factory=Entries)
    """What its fast path holds."""
    known_items: dict[str, tuple[str, ...] | None] = dataclasses.field(default_factory=dict)
    known_answers: dict[tuple[str, str], bool] = dataclasses.field(default_factory=dict)
    given: set[tuple[str, Any]] = dataclasses.field(default_factory=set)
    """What it was given of which it can call something, by its parameters."""
    callees: list[weakref.ref[types.FunctionType]] = dataclasses.field(default_factory=list)
    """What it calls of these, and what that calls."""
    looks: int = 0
    """How often it was looked for what functions read that had taken the places of others."""

    @functools.cached_property
    def donates(self) -> bool:
        """Whether it takes the buffers of what it is given."""
        return any(name.startswith("donate") for name in self.options)

    def own_arrays(self) -> list[ArrayImpl]:
        """The arrays of the function, where a key has its leaves: a call that donates can take their buffers as well."""
        return [leaf for leaf in jax.tree_util.tree_leaves(self.function()) if type(leaf) is ArrayImpl] if self.is_partition else []

    def reads(self, owner: Owner) -> tuple[str, ...]:
        """The attributes of the object of which the functions under the call speak: all of them if a key has it by its identity, or else
        without those by which `==` compares."""
        made = type(owner.value)
        known = self.known_reads.setdefault(made, {})
        key = owner.parameter, owner.is_identity
        if key not in known:
            names = attributes(self.codes, made, owner.parameter, self.variables.callees)
            known[key] = tuple(sorted(names if owner.is_identity else names - compared(made)))
        return known[key]

    def taken_of(self, name: str, value: Any) -> tuple[str, ...]:
        """The attributes that the functions under the call take of the variable, which is that class or object."""
        is_class = isinstance(value, type)
        made = value if is_class else type(value)
        known = self.known_reads.setdefault(made, {})
        key = f" {name}", is_class
        if key not in known:
            variable = self.variables.of[name]
            known[key] = tuple(sorted(attributes(variable.codes, made, variable.name, self.variables.callees, is_class=is_class)))
        return known[key]

    def items(self, name: str) -> tuple[str, ...] | None:
        """The items that the functions under the call take of the variable, a container; None if they take all of it."""
        if name not in self.known_items:
            variable = self.variables.of[name]
            self.known_items[name] = items(variable.codes, variable.name, self.variables.callees)
        return self.known_items[name]

    def asks(self, asked: Callable[[frozenset[types.CodeType], str], bool], name: str) -> bool:
        """What is asked of the code of the functions under the call, and of what they call the variable."""
        key = asked.__name__, name
        if key not in self.known_answers:
            variable = self.variables.of[name]
            self.known_answers[key] = asked(variable.codes, variable.name)
        return self.known_answers[key]

    @functools.cached_property
    def has_owners(self) -> bool:
        """Whether the function is called with more than arguments."""
        return any(True for _ in self.owners())

    def owners(self) -> Iterator[Owner]:
        """What the function is called with beside its arguments."""
        return owners(self.function(), is_partition=self.is_partition)

    @functools.cached_property
    def has_statics(self) -> bool:
        """Whether any of its arguments is static."""
        return any(name.startswith("static") for name in self.options)

    @functools.cached_property
    def variables(self) -> Variables:
        """What the function reads by name."""
        return Variables(self.function())

    def look_into(self, given: dict[str, Any]) -> None:
        """Looks for what it reads by way of what it is given, by its parameters, if it wasn't given such things before."""
        kinds = {(name, kind) for name, value in given.items() if (kind := kind_of(value)) is not None}
        if not kinds <= self.given and self.looks < LOOKS:
            self.given |= kinds
            before = self.variables.readers
            self.look_again(given)
            self.callees += [reader for reader in self.variables.readers if reader not in before]

    def look_again(self, given: Mapping[str, Any] = types.MappingProxyType({})) -> bool:
        """Looks for what the functions read that have taken the places of others; not if that was done too often."""
        self.looks += 1
        if self.looks > LOOKS:
            return False
        called = [reader for held in self.callees if (reader := held()) is not None]
        before, self.variables = self.variables, Variables(self.function(), given, called)
        for name, variable in before.of.items():
            if variable != self.variables.of.get(name):
                self.seen.pop(name, None)
        for known in (self.known_reads, self.known_items, self.known_answers, self.asked):
            known.clear()
        return True

    @functools.cached_property
    def said(self) -> dict[str, str | None]:
        """What each call of it says."""
        api = "equinox.filter_jit" if self.is_partition else "jax.jit"
        called = {} if self.called is None else {"called": self.called}
        return {"api": api, "name": self.name, "at": self.at, "wrapper": self.ref, **called}

    @functools.cached_property
    def written(self) -> str:
        """The same as JSON, whose end is open."""
        return json.dumps(self.said)[:-1]

    def jitted(self, wrapper: Any) -> Any:
        """What has the fast path: the wrapper itself, or what is in it."""
        return getattr(wrapper, "_cached", None) if self.is_partition else wrapper

    def statics(self, args: Any) -> tuple[list[int], list[str]]:
        """The positions and names of its static arguments."""
        numbers = self.options.get("static_argnums", ())
        return [number if number >= 0 else number + len(args) for number in numbers], self.options.get("static_argnames", [])

    def static_arguments(self, args: Any, kwargs: Any) -> list[tuple[int | str, Any]]:
        """Its static arguments in a call, those that are passed, by their positions and names."""
        numbers, names = self.statics(args)
        return [(i, args[i]) for i in numbers if i < len(args)] + [(name, kwargs[name]) for name in names if name in kwargs]

    def static_values(self, args: Any, kwargs: Any) -> list[Any]:
        """The same, without these."""
        return [value for _, value in self.static_arguments(args, kwargs)]


def function_of(wrapper: Any) -> Any:
    """The function that is jitted. What `copy` makes of a wrapper has it, too, but no attributes."""
    return handed_on(wrapper) or getattr(wrapper, "__wrapped__", None)


def handed_on(jitted: Any) -> Any:
    """What jaxlib hands to Python where its fast path has no entry: `__wrapped__` is what the program says it is."""
    return jitted.__getstate__().get("fun") if type(jitted) is type(A_JIT) else None


def function_of_loop(function: Any) -> Wrapper:
    """What belongs to a function that is given to a loop or conditional of `jax.lax`, which nothing wraps."""
    try:
        held: Callable[[], Any] = weakref.ref(function)
    except TypeError:
        held = lambda: None  # noqa: E731
    # A method is made anew each time that it is asked for.
    is_method = type(function) is types.MethodType
    ref = f"{id(function.__self__)} {id(function.__func__)}" if is_method else str(id(function))
    return Wrapper(name=own_name(function), at=None, ref=ref, function=held, codes=codes([function]), is_run=True, options={})


def wrapper_of(api: str, wrapper: Any, fresh: Callable[[str], str], *, is_given: bool = False) -> Wrapper | None:
    """What belongs to the wrapper, under a fresh name; None if it is a library's own and the program gives it to nothing."""
    fun = function_of(wrapper)
    inner, written = body(fun), code(fun)
    of_library = written is not None and not is_program(written)
    # What `jax.vjp` returns is an object of jax's from 0.8 on, and `call` of what was exported a method of one.
    is_made_there = is_made(inner) or isinstance(fun, types.MethodType) or not isinstance(inner, types.FunctionType)
    if fun is None or (of_library and not is_given and not has_public(fun) and not (is_made_there and is_called_by_program())):
        return None
    name = own_name(inner)
    by = transformations(fun)
    if by:
        name = " of ".join([*map(transformation_name, by), name])
    elif isinstance(fun, functools.partial):
        name = f"partial of {name}"
    elif api == "equinox.filter_jit" and is_wrapper(fun):
        name = f"{wrapper_name(fun)} of {name}"
    options, unknown, of_call = {}, None, None
    held = weakref.ref(wrapper)
    try:
        if not hasattr(wrapper, "__wrapped__"):
            raise Unsupported("recording a copy of a jitted function")
        options = jit_options(wrapper) if api == "jax.jit" else filter_jit_options(wrapper)
    except OfTheCall as error:
        options, of_call = error.others, lambda args: jit_options(held(), args)
    except Unsupported as error:
        unknown = str(error)
    except Exception as error:  # A version of jax that keeps them elsewhere.
        unknown = f"recording the options of a wrapper ({type(error).__name__})"
    return Wrapper(
        name=name,
        at=place(written_at(fun)),
        ref=fresh("wrapper"),
        function=lambda: function_of(held()),
        # jax's own functions keep what they were traced to.
        codes=frozenset() if of_library else codes([fun]),
        is_run=not _is_served_by_another(fun),
        options=options,
        called="flax.nnx.jit" if type(fun).__module__.startswith("flax.nnx.") else None,
        of_call=of_call,
        is_partition=api == "equinox.filter_jit",
        unknown=unknown,
    )


def _is_served_by_another(fun: Any) -> bool:
    """Whether it calls at once what was jitted before, whose jaxpr can serve it, and cases have no words for that. What jax makes of
    a function runs itself."""
    if type(fun) is type(A_JIT) or transformations(fun):
        return False
    if type(fun) is functools.partial and type(fun.func) is type(A_JIT):
        with contextlib.suppress(Exception):  # A version of jax that keeps them elsewhere.
            return has_options(fun.func)
    inner = list(layers(fun))
    if not isinstance(inner[-1], types.FunctionType):
        inner += layers(stored(type(inner[-1]), "__call__"))
    return any(map(is_jitted, inner))
