"""What functions were made for: what they read from outside of their arguments as they were met, which is nothing that a key has."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import types
import weakref
from collections.abc import Callable
from typing import Any

from .instructions import instructions
from .source import (
    body,
    closed_over,
    function_text,
    has_public,
    held_by,
    is_jitted,
    is_of_program,
    is_program,
    is_wrapper,
    positional,
    stored,
)
from .taken import attributes, first_of
from .texts import PARTS, TEXT, array_text, is_array, is_plain, short, value_text

ROUTINES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
"""What a module consists of, besides classes and other modules."""

LOOKED_AT = 128
"""So many objects in what a function reads are looked into."""

ITEMS = 8
"""So many items of a list are."""


class Outside:
    """What functions read from outside, with the numbers of the objects among that."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[Callable[[], Any], int]] = {}
        self._count = itertools.count(1)

    def of(self, function: Any) -> dict[str, str]:
        """What a function closes over or has as a default, what it reads of its module that is plain, an array or an object which the
        program made, and what a partial gives it or the object holds whose method it is, by name; functions of the module that it
        names read that of theirs. An object that is compared by identity has its number behind it. Of a container that can't be said
        in few words, and of what is made of functions, an optimizer say, the numbers, texts and arrays in it stand beside it by their
        paths."""
        try:
            inner = body(function)
            read = {name: value for name, value in (_read(inner) | _given(function)).items() if value is not inner}
            if isinstance(inner, types.FunctionType) and not is_program(inner.__code__) and not has_public(function):
                # What jax itself makes of a jaxpr and other functions has no name in the program.
                read = {name: value for name, value in read.items() if is_plain(value) or is_array(value)}
            said = {name: text for name, value in read.items() if (text := self._said(value)) is not None}
            within = _within({name: value for name, value in read.items() if name not in said or not _is_said_whole(value)})
            unsaid = {name: value for name, value in read.items() if name not in said and not any(map(_is_in(name), within))}
            functions = {name: text for name, value in unsaid.items() if (text := _functions_text(value)) is not None}
            return said | within | functions
        except Exception:  # What is looked at raises.
            return {}

    def _said(self, value: Any) -> str | None:
        try:
            return self._text(value)
        except Exception:  # One that raises, as an int of too many digits does, leaves the others.
            return None

    def _text(self, value: Any) -> str | None:
        if issubclass(type(value), types.ModuleType) or not _is_short(value):
            return None
        if is_plain(value):
            return short(repr(value))
        if is_array(value):
            return array_text(value)
        known = _known_by(value)
        if hasattr(type(value), "__getattr__"):
            # To ask such a one for anything is to run the program's own code.
            text = f"<{type(value).__name__}>"
        else:
            text = function_text(value) if type(value) is types.FunctionType else value_text(value)
        if known is not None:
            return f"{text} #{self._number(known)}"
        return text if text != f"<{type(value).__name__}>" else None

    def _number(self, value: Any) -> int:
        """That of an object, which no other one is ever given."""
        key = id(value)
        held, number = self._numbers.get(key, (None, 0))
        if held is None or held() is not value:
            number = next(self._count)
            self._numbers[key] = weakref.ref(value, lambda gone: self._forget(key, gone)), number
        return number

    def _forget(self, key: int, gone: Any) -> None:
        if self._numbers.get(key, (None, 0))[0] is gone:
            del self._numbers[key]


def _known_by(value: Any) -> Any:
    """What in an object is another each time that it is made: the object itself if it is compared by identity, a function in a named
    tuple of such. None if there is nothing of that kind."""
    if type(value) is types.MethodType:
        value = value.__self__
    made = type(value)
    if issubclass(made, tuple):
        parts = tuple.__iter__(value) if hasattr(made, "_fields") else ()
        return next((part for part in parts if type(part) is types.FunctionType), None)
    if issubclass(made, (type, enum.Enum)) or made.__eq__ is not object.__eq__ or not made.__weakrefoffset__:
        return None
    return value


def _read(function: Any) -> dict[str, Any]:
    if not isinstance(function, types.FunctionType):
        return {}
    found: dict[str, Any] = {}
    left, known = [function], {function}
    while left and len(known) < LOOKED_AT:
        of = left.pop()
        for name in _globals_of(of.__code__):
            value = of.__globals__.get(name)
            if isinstance(value, types.FunctionType) and value not in known and _is_beside(value, function):
                known.add(value)
                left.append(value)
            if value is not None and _is_short(value) and (is_plain(value) or is_array(value) or _is_made(value)):
                found[name] = value
    return found | _defaults(function) | closed_over(function)


def _is_beside(function: types.FunctionType, other: types.FunctionType) -> bool:
    """Whether it is one of the program's, in the module of another."""
    return function.__globals__ is other.__globals__ and is_of_program(function.__code__.co_filename)


def _defaults(function: types.FunctionType) -> dict[str, Any]:
    """What parameters are if they are left out."""
    written, values = function.__code__, function.__defaults__ or ()
    names = written.co_varnames[written.co_argcount - len(values) : written.co_argcount]
    given = dict(zip(names, values, strict=False)) | (function.__kwdefaults__ or {})
    return {name: value for name, value in given.items() if value is not None}


def _is_made(value: Any) -> bool:
    """Whether it is an object that is known by a number, and none of what a module consists of."""
    return not issubclass(type(value), (type, types.ModuleType, *ROUTINES)) and _known_by(value) is not None


@functools.lru_cache(maxsize=1024)
def _globals_of(written: types.CodeType) -> tuple[str, ...]:
    steps = instructions(written)
    named = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    # A count of its traces is no reason to make it.
    return tuple(sorted(named - {step.argval for step in steps if step.opname == "STORE_GLOBAL"}))


def _given(function: Any) -> dict[str, Any]:
    """What a partial gives to the function in it, or the object holds and the program's method reads that it is, or that a call runs."""
    if isinstance(function, functools.partial):
        return dict(zip(positional(function.func), function.args, strict=False)) | function.keywords
    if isinstance(function, (types.FunctionType, type)):
        return {}
    is_method = isinstance(function, types.MethodType)
    owner = function.__self__ if is_method else function
    written = stored(function.__func__ if is_method else getattr(type(function), "__call__", None), "__code__")
    if not isinstance(written, types.CodeType) or not is_program(written):
        return {}
    if is_wrapper(function) and not is_of_program(written.co_filename):
        # What a library's wrapper holds has no name in the program: what nnx.jit makes for jax.jit.
        return _given(stored(function, "__wrapped__"))
    taken = set(map(first_of, attributes(frozenset([written]), type(owner))))
    held = {name: value for name, value in (held_by(owner) or {}).items() if name in taken}
    return {f"self.{name}": value for name, value in itertools.islice(held.items(), PARTS)}


def _within(read: dict[str, Any]) -> dict[str, str]:
    """The numbers, texts and arrays that what was read holds, functions in it by what they close over, by their paths; the nearest
    come first."""
    found: dict[str, str] = {}
    arrays: dict[str, str] = {}
    known: set[int] = set()
    ahead = collections.deque(read.items())
    while ahead and len(found) < PARTS and len(known) < LOOKED_AT:
        path, value = ahead.popleft()
        if id(value) in known:
            continue
        known.add(id(value))
        for inner, part in _parts(path, value).items():
            if not _is_short(part):
                continue
            if is_plain(part):
                found[inner] = short(repr(part))
            elif not is_array(part):
                if type(part) is types.FunctionType and is_of_program(part.__code__.co_filename):
                    found[inner] = function_text(part)
                ahead.append((inner, part))
            elif len(arrays) < PARTS:
                arrays[inner] = array_text(part)
    return found | arrays


def _parts(path: str, value: Any) -> dict[str, Any]:
    """What a function closes over, a partial gives to one, or a container holds."""
    if type(value) is types.FunctionType:
        return {f"{path}.{name}": part for name, part in closed_over(value).items()}
    if type(value) is functools.partial:
        return {f"{path}.{name}": part for name, part in _given(value).items()} | {path: value.func}
    if issubclass(type(value), tuple) and type(value).__iter__ is tuple.__iter__:
        fields = getattr(type(value), "_fields", None)
        names = [f".{name}" for name in fields] if fields is not None else [f"[{i}]" for i in range(min(len(value), PARTS))]
        return {f"{path}{name}": part for name, part in zip(names, value, strict=False)}
    if type(value) is list:
        return {f"{path}[{i}]": part for i, part in enumerate(value[:ITEMS])}
    if type(value) is dict:
        return {f"{path}[{key!r}]": part for key, part in itertools.islice(value.items(), PARTS) if is_plain(key)}
    return {}


def _is_in(name: str) -> Callable[[str], bool]:
    return lambda path: path.startswith((f"{name}.", f"{name}["))


def _functions_text(value: Any) -> str | None:
    """A short sequence of nothing but functions, by what they are called."""
    if type(value) not in (tuple, list) or len(value) > ITEMS:
        return None
    if not all(type(item) is types.FunctionType or is_jitted(item) for item in value):
        return None
    texts = [function_text(item) if type(item) is types.FunctionType else value_text(item) for item in value]
    return f"[{', '.join(texts)}]" if type(value) is list else f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _is_said_whole(value: Any) -> bool:
    """Whether the text of it, where there is one, has all that is in it."""
    return is_plain(value) or type(value) in (list, dict)


def _is_short(value: Any) -> bool:
    """Whether it isn't so long that looking at all of it would take a while."""
    return type(value) not in (tuple, list, dict, set, frozenset, str, bytes) or len(value) <= TEXT
