"""Something done once a module has been imported, whoever imports it, so that nothing is imported for the sake of it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Sequence


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Calls `then` now if the module is there already, and otherwise right after it was executed. Of a module that is being
    imported just now only who asked before that is told."""
    module = sys.modules.get(name)
    if module is None:
        sys.meta_path.insert(0, _Finder(name, then))
    elif not getattr(module.__spec__, "_initializing", False):
        then()


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then, self._asking = name, then, False

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders give, whose loader tells us."""
        if fullname != self._name or self._asking:
            return None
        self._asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking = False
        if spec is None or spec.loader is None:
            return None
        executes = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            # Who only asks for the spec doesn't import it.
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            executes(module)
            self._then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
