"""Feeds the state of optimizers and layers back to a jitted step, and records what each call was given and what it missed.

`python -m jitkey.sweep LIBRARY [GLOB…]` prints JSON lines. The first says what runs; every other is one subject with one
kind of input, as a case in jitkey's own words with the layers that each call really missed. Nothing is left out: what
can't be made says why.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import environment
from .errors import Unsupported, describe

LIBRARIES = {"optax": "sweep_optax", "equinox": "sweep_equinox", "flax": "sweep_flax"}
"""The libraries that can be swept, each with the module that makes its subjects."""

STEPS = 4
"""Enough to tell a state that settles after one step from one that never does."""

CLEARED_EVERY = 50
"""Subjects between two clearings of all caches, which bound memory. No two subjects share a step."""


@dataclass(frozen=True)
class Subject:
    """Something with a state, and how it is used."""

    name: str
    input: str
    """What kind of parameters and gradients it is given."""
    arguments: tuple[str, ...]
    """What the arguments of the step are called."""
    begin: Callable[[], tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]]
    """Makes the step with its first arguments. The step returns the first few of them anew."""
    api: str = "jax.jit"


def run(subject: Subject) -> dict[str, Any]:
    """The line of a subject."""
    from . import observe
    from .record import Recorder
    from .run import MODULES

    line: dict[str, Any] = {"subject": subject.name, "input": subject.input, "api": subject.api}
    line["arguments"] = subject.arguments
    recorder = Recorder()
    calls: list[dict[str, Any]] = []
    try:
        step, args = subject.begin()
    except Exception as error:
        return {**line, "failed": describe(error)}

    def counted(*args: Any) -> Any:
        observe.body_ran()
        return step(*args)

    wrapper = importlib.import_module(f".{MODULES[subject.api]}", __package__).wrap(counted, {})
    try:
        for _ in range(STEPS):
            call = recorder.call(args)
            missed: list[str] = []
            calls.append({"missed": missed})
            try:
                with observe.observed(missed, counted=True, dispatched=True):
                    returned = wrapper(*args)
            except Exception as error:
                calls[-1]["error"] = describe(error)
                call["raises"] = type(error).__name__
                break
            args = (*returned, *args[len(returned) :])
    except Unsupported as error:
        return {**line, "unrecorded": str(error)}
    return {**line, "case": recorder.case(), "calls": calls}


def main(library: str, globs: list[str]) -> None:
    """Sweeps a library: all of its subjects, or those whose names match a pattern."""
    environment.prepare()
    if environment.optional(library) is None:
        sys.exit(environment.complain(f"this Python has no {library}; install it with `{sys.executable} -m pip install {library}`"))
    import jax

    from . import observe

    observe.install()
    _print({"about": {**environment.about(), library: sys.modules[library].__version__}})
    # Programs are made to be counted, not to be fast.
    jax.config.update("jax_disable_most_optimizations", True)
    subjects: Iterator[Subject] = importlib.import_module(f".{LIBRARIES[library]}", __package__).subjects()
    wanted = (subject for subject in subjects if not globs or any(_matches(subject.name, glob) for glob in globs))
    for number, subject in enumerate(wanted, 1):
        _print(run(subject))
        if number % CLEARED_EVERY == 0:
            jax.clear_caches()


def _matches(name: str, glob: str) -> bool:
    """Whether the pattern matches the whole name or its last part."""
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name.rpartition(".")[2], glob)


def _print(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(f"usage: python -m jitkey.sweep {'|'.join(LIBRARIES)} [GLOB…]")
    main(sys.argv[1], sys.argv[2:])
