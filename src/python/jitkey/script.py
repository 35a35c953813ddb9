"""Runs a program as `python` itself would: as `__main__`, which stays it until the program's last thread is done."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import threading
import types
from typing import Any

OWN = os.path.dirname(__file__) + os.sep
"""Where the files of this package are."""


def run_script(file: str) -> None:
    """Runs the script, or what stands in a folder or archive. Raises what it raises."""
    if not getattr(sys.flags, "safe_path", False):
        # `python -m` put the working directory there.
        sys.path[0] = os.path.dirname(os.path.realpath(file))
    if not os.path.exists(file):
        print(f"{sys.executable}: can't open file '{os.path.abspath(file)}': [Errno 2] No such file or directory", file=sys.stderr)
        sys.exit(2)
    if not os.path.isfile(file) or not _is_source(file):
        runpy.run_path(file, run_name="__main__")
        return
    file = os.path.abspath(file)
    loader = importlib.machinery.SourceFileLoader("__main__", file)
    with open(file, "rb") as stream:
        code = loader.source_to_code(stream.read(), file)
    _run(code, __file__=file, __loader__=loader, __spec__=None, __package__=None, __cached__=None)


def run_module(name: str) -> None:
    """Runs the module, or the `__main__` of a package. Raises what it raises, and exits where there is no such module."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        sys.exit(f"{sys.executable}: error while finding the module {name}: {error}")
    loader: Any = None if spec is None else spec.loader
    if spec is None or loader is None or not hasattr(loader, "get_code"):
        sys.exit(f"{sys.executable}: No module named {name}")
    sys.argv[0] = str(spec.origin)
    parts = {"__file__": spec.origin, "__cached__": spec.cached, "__loader__": loader}
    _run(loader.get_code(name), **parts, __spec__=spec, __package__=spec.parent)


def _is_source(file: str) -> bool:
    with open(file, "rb") as stream:
        # And no archive, and not compiled ahead.
        return not stream.read(4).startswith((b"PK", importlib.util.MAGIC_NUMBER))


def _run(code: types.CodeType, **parts: Any) -> None:
    main = types.ModuleType("__main__")
    main.__dict__.update(parts, __builtins__=builtins, __doc__=None, __annotations__={})
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def wait_for_threads() -> None:
    """Waits, as Python does before it ends, for the threads that are no daemons."""
    # It releases the workers of pools that nobody shut down, and does nothing when Python calls it once more.
    shutdown: Any = vars(threading)["_shutdown"]
    shutdown()


def show(error: BaseException) -> None:
    """Shows an error of the program's as Python would, without what runs and records the program."""
    _clean(error, set())
    sys.excepthook(type(error), error, error.__traceback__)


def _clean(error: BaseException | None, known: set[int]) -> None:
    """Takes the frames of this package out of the tracebacks of the error and of all that led to it."""
    if error is None or id(error) in known:
        return
    known.add(id(error))
    error.__traceback__ = without_own(error.__traceback__)
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        _clean(other if isinstance(other, BaseException) else None, known)


def without_own(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames of this package."""
    kept: list[types.TracebackType] = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        # What is frozen and called by none of the program's is what runs it.
        if not file.startswith(OWN) and (kept or not file.startswith("<frozen ")):
            kept.append(traceback)
        traceback = traceback.tb_next
    for part in reversed(kept):
        traceback = types.TracebackType(traceback, part.tb_frame, part.tb_lasti, part.tb_lineno)
    return traceback
