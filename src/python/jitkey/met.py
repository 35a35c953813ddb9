"""The jitted functions of a program that a recording has met, and the functions that loops were given; nothing here holds them."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from .wrappers import Wrapper, function_of_loop, wrapper_of


class Wrappers:
    """What is known of those that were met."""

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.by_id: dict[int, Wrapper | None] = {}
        """The program's wrappers that are there; None stands for a library's own."""
        self.ended: list[str] = []
        """The names of those that are gone, to which any thread may add."""
        self._fresh = fresh
        self._functions: set[tuple[int, int]] = set()
        """Those of the wrappers, by their ids, which others can have once they are gone."""
        self._libraries: weakref.WeakKeyDictionary[Any, Wrapper | None] = weakref.WeakKeyDictionary()
        self._of_loops: weakref.WeakKeyDictionary[Any, Wrapper] = weakref.WeakKeyDictionary()

    def known(self) -> list[Wrapper]:
        """The program's wrappers that are there."""
        return [wrapped for wrapped in list(self.by_id.values()) if wrapped is not None]

    def of(self, api: str, wrapper: Any) -> Wrapper | None:
        """What belongs to the wrapper; None if it is a library's own."""
        key = id(wrapper)
        if key not in self.by_id:
            described = wrapper_of(api, wrapper, self._fresh)
            if described is not None:
                # Wrappers of one function have their entries in common.
                function = described.function()
                is_method = type(function) is types.MethodType
                known = (id(function.__self__), id(function.__func__)) if is_method else (0, id(function))
                has_entries = known not in self._functions and getattr(described.jitted(wrapper), "_cache_size", int)() > 0
                described.was_called = has_entries
                self._functions.add(known)
            if self.by_id.setdefault(key, described) is described:
                end: Any = weakref.finalize(wrapper, self._end, key)
                end.atexit = False
        return self.by_id[key]

    def of_library(self, api: str, wrapper: Any) -> Wrapper | None:
        """What belongs to a wrapper of a library's that a loop of the program's is given."""
        if wrapper not in self._libraries:
            self._libraries[wrapper] = wrapper_of(api, wrapper, self._fresh, is_given=True)
        return self._libraries[wrapper]

    def of_loop(self, function: Any) -> Wrapper:
        """What belongs to a function that a loop of the program's is given."""
        if type(function) not in (types.FunctionType, functools.partial):
            return function_of_loop(function)
        if function not in self._of_loops:
            self._of_loops[function] = function_of_loop(function)
        return self._of_loops[function]

    def _end(self, key: int) -> None:
        wrapped = self.by_id.pop(key)
        if wrapped is not None:
            self.ended.append(wrapped.ref)
