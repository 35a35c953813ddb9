"""Guards for tests: nothing inside compiles more often than it may.

    with jitkey.assert_no_recompile():
        for batch in batches:
            state = step(state, batch)

Every function may compile once, or as often as a budget or a baseline says. What is over it is explained by the command
`jitkey explain`, if it is there.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import inspect
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from . import hooks
from .recorder import recording

UPDATE = "JITKEY_UPDATE_BASELINE"
"""The environment variable that has baselines written instead of held against."""


F = TypeVar("F", bound=Callable[..., Any])


class RecompileError(AssertionError):
    """A function compiled more often than it may."""


class _Function(NamedTuple):
    name: str
    at: str | None
    nth: int
    """Of those that are made in its place."""

    def __str__(self) -> str:
        return self.name if self.at is None else f"{self.name} ({self.at})"

    def in_baseline(self) -> str:
        """Lines move, so that a baseline knows it by its file."""
        return self.name if self.at is None else f"{self.name} ({self.at.rpartition(':')[0]})"


def assert_no_recompile(
    times: int = 1, *, functions: Mapping[str, int] | None = None, baseline: str | os.PathLike[str] | None = None
) -> _Guard:
    """Fails if a function that is called inside compiles more than `times`, or than `functions` says of its name.

    The file `baseline` says how often functions do compile: it lets those through, and is written if the environment has
    `JITKEY_UPDATE_BASELINE=1`. It serves as a decorator of plain functions as well, and inside of another guard or a recording.
    Two wrappers that are made in one place are one function if the first is gone when the second is called. Raises
    `RecompileError` with the explanation, `RuntimeError` if another thread has begun a recording, and `ValueError` for a budget that
    is no count, and for a file that is no baseline.
    """
    for name, count in {"times": times, **(functions or {})}.items():
        if type(count) is not int or count < 0:
            raise ValueError(f"how often a function may compile is a number from 0 on, and {name} is {count!r}")
    return _Guard(lambda: _guarded(times, functions or {}, baseline))


class _Guard(contextlib.ContextDecorator):
    """A context manager, and a decorator of plain functions, whose recursion is part of the outermost call."""

    def __init__(self, guarded: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self._guarded = guarded
        self._local = threading.local()

    def __call__(self, function: F) -> F:
        """The function, guarded. Raises `TypeError` for what is no function, and for one whose body doesn't run when it is called."""
        if isinstance(function, type) or not callable(function):
            raise TypeError(f"{function!r} is no function: decorate its methods")
        kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        if any(kind(function) for kind in kinds):
            raise TypeError("generators and coroutines run after the call that makes them: use `with assert_no_recompile():` inside")
        return super().__call__(function)

    def __enter__(self) -> None:
        depth = getattr(self._local, "depth", 0)
        if depth == 0:
            self._local.under_way = self._guarded()
            self._local.under_way.__enter__()
        self._local.depth = depth + 1

    def __exit__(self, *raised: Any) -> bool | None:
        __tracebackhide__ = True
        self._local.depth -= 1
        if self._local.depth == 0:
            under_way = self._local.__dict__.pop("under_way")
            return under_way.__exit__(*raised)
        return None


@contextlib.contextmanager
def _guarded(times: int, budget: Mapping[str, int], baseline: str | os.PathLike[str] | None) -> Iterator[None]:
    __tracebackhide__ = True
    with contextlib.ExitStack() as around:
        under_way = hooks.active
        if under_way is None or under_way.thread != threading.get_ident():
            folder = around.enter_context(tempfile.TemporaryDirectory(prefix="jitkey-"))
            file, before = pathlib.Path(folder, "recording.jsonl"), 0
            with recording(file) as under_way:
                yield
        else:
            # What is guarded is a part of what is recorded already.
            file, before = under_way.file, under_way.begun
            yield
            under_way.flush()
        if under_way.failure is not None:
            raise RecompileError(f"what compiled isn't known, since the recording could not be written: {under_way.failure}")
        known = _read(baseline)
        compiles, compared = _count(file, before)
        may = {function: budget.get(function.name, times) for function in compiles}
        over = {function: count for function, count in compiles.items() if count > may[function]}
        if baseline is not None and os.environ.get(UPDATE, "0") not in ("", "0", "false"):
            _write(baseline, over)
            return
        new = {function: count for function, count in over.items() if count > known.get(function.in_baseline(), 0)}
        if new:
            lines = [f"{function} compiled {_often(count)}, and may {_often(may[function])}" for function, count in new.items()]
            called = {function.name for function in compiles}
            lines += [f"there is a budget for {name}, and no function of that name was called" for name in budget if name not in called]
            is_any_compared = max(new.values()) > 1 or not compared.isdisjoint(new)
            raise RecompileError("\n".join([*lines, "", _explained(file, is_any_compared=is_any_compared)]))


def _count(file: pathlib.Path, before: int) -> tuple[dict[_Function, int], set[_Function]]:
    """How often each function of a recording was traced, compiled, or compiled under the same transformations, whichever is most, and
    those that compiled after an earlier call; calls that raise are no compiles."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    calls: list[dict[str, Any]] = []
    ended: set[str] = set()
    cleared = 0
    made: dict[tuple[str, str | None], list[_Wrapper]] = {}
    called: dict[tuple[str, str | None, int], dict[str, list[int]]] = {}
    for line in sorted(lines, key=lambda line: line.get("number", line.get("after", 0) + 0.5)):
        cleared += line.get("clear") == "jax"
        ended.update(line.get("ended", ()))
        if "api" in line:
            name, at, ref = line["name"], line["at"], line.get("wrapper", "")
            line["function"] = _called(made.setdefault((name, at), []), ref, cleared, ended)
            called.setdefault((name, at, cleared), {}).setdefault(ref, []).append(len(calls))
            calls.append(line)
    for here in called.values():
        if len(here) >= IN_A_LOOP and all(one[-1] < other[0] for one, other in itertools.pairwise(here.values())):
            # One after the other, by a loop: what is in a cycle of references is gone whenever Python looks for such.
            functions = [calls[numbers[0]]["function"] for numbers in here.values()]
            for function in functions:
                function.nth = functions[0].nth
    traced: collections.Counter[_Function] = collections.Counter()
    compiled: collections.Counter[_Function] = collections.Counter()
    mapped: dict[_Function, dict[tuple[str, ...], set[tuple[Any, ...]]]] = collections.defaultdict(dict)
    known: set[_Function] = set()
    compared: set[_Function] = set()
    for call in calls:
        function = _Function(call["name"], call["at"], call["function"].nth)
        if function in known and call.get("missed"):
            compared.add(function)
        known.add(function)
        if "error" not in call and call["number"] > before:
            traced[function] += "trace" in call["missed"]
            compiled[function] += "compile" in call["missed"]
            # Under a transformation, which compiles for each number of rows; another transformation makes another program.
            if under := call.get("under"):
                kinds, rows = zip(*under, strict=True)
                mapped[function].setdefault(kinds, set()).add((rows, call.get("again", call["number"])))
    sizes = {function: max(map(len, kinds.values())) for function, kinds in mapped.items()}
    return {function: max(count, compiled[function], sizes.get(function, 0)) for function, count in traced.items()}, compared


IN_A_LOOP = 3
"""So many wrappers, one after the other, are made by a loop."""


@dataclasses.dataclass
class _Wrapper:
    ref: str
    nth: int
    """Which function of its place it is, from zero."""
    cleared: int
    """How often caches had been cleared when it was called last."""


def _called(here: list[_Wrapper], ref: str, cleared: int, ended: set[str]) -> _Wrapper:
    """The wrapper of this call: another function than those of its place, or in the place of one that has ended, if no cache was
    cleared since that was called."""
    wrapper = next((wrapper for wrapper in here if wrapper.ref == ref), None)
    if wrapper is None:
        latest = {known.nth: known for known in here}
        free = [nth for nth, known in latest.items() if known.ref in ended and known.cleared == cleared]
        wrapper = _Wrapper(ref, free[0] if free else len(latest), cleared)
        here.append(wrapper)
    wrapper.cleared = cleared
    return wrapper


def _explained(file: pathlib.Path, *, is_any_compared: bool) -> str:
    if not is_any_compared:
        return "Calls are compared with earlier ones inside of the guard: make the first one inside as well to see what differs."
    command = shutil.which("jitkey", path=sysconfig.get_path("scripts")) or shutil.which("jitkey")
    if command is None:
        return "The command `jitkey` isn't installed here, so this is not explained."
    done = subprocess.run([command, "explain", file], capture_output=True, text=True, check=False)
    return done.stdout.rstrip() if done.returncode == 0 else f"`jitkey explain` failed: {done.stderr.strip()}"


def _often(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _read(baseline: str | os.PathLike[str] | None) -> dict[str, int]:
    if baseline is None or not os.path.exists(baseline):
        return {}
    try:
        read: Any = json.loads(pathlib.Path(baseline).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{os.fspath(baseline)} is no baseline: {error}") from None
    if not isinstance(read, dict) or not all(type(count) is int for count in read.values()):
        raise ValueError(f"{os.fspath(baseline)} is no baseline: it says of functions how often they compile")
    return read


def _write(baseline: str | os.PathLike[str], over: dict[_Function, int]) -> None:
    """Adds what was seen to the baseline; of what several tests have in common it keeps the most."""
    known = _read(baseline)
    for function, count in over.items():
        name = function.in_baseline()
        known[name] = max(count, known.get(name, 0))
    file = pathlib.Path(baseline)
    # Another process may read it meanwhile.
    whole = file.with_name(f"{file.name}.{os.getpid()}")
    whole.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    whole.replace(file)
