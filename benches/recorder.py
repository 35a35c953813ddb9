"""What recording adds to a call, in µs: benches/recorder.py, with a Python that has jax.

Calls that the fast path serves are made as a program makes them, each one given what the last returned, in turns with and without the
recorder. Others are handed to it as by its hook, with nothing to run: a function of which the fast path holds what the recorder has not
seen, so that each call is looked at and found to be like an earlier one, and one that is described anew each time. The least of many
repetitions counts, since whatever else runs on the machine only adds.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import pathlib
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src" / "python"))

import jax
import jax.numpy as jnp
import jitkey
import numpy as np
from jitkey import hooks
from jitkey.known import ALIKE
from jitkey.recorder import Recording

LEAVES = (1, 10, 100, 1000)


def main() -> None:
    """Prints a table."""
    print(f"jax {jax.__version__}\n{'leaves':>8} {'jax.jit':>9} {'served':>9} {'alike':>9} {'new':>9}   µs a call")
    with tempfile.TemporaryDirectory() as folder, jitkey.recording(f"{folder}/recording.jsonl") as recording:
        for count in LEAVES:
            print(f"{count:8} " + " ".join(f"{cost:9.1f}" for cost in costs(recording, count)))
        leaves = [jnp.ones((3,)) for _ in range(10)]
        bare, served = side_by_side(of_its_own(scaled), leaves)
        for what, function in OTHERS.items():
            bare_too, served_too = side_by_side(function(), leaves)
            print(f"{what}: {served_too - bare_too - (served - bare):.1f} µs more")


def costs(recording: Recording, count: int) -> list[float]:
    """µs of a call with so many leaves, and what the recorder adds to it: where it is served, where it is looked at, and where it is
    described."""
    leaves = [jnp.ones((3,)) for _ in range(count)]
    bare, served = side_by_side(of_its_own(scaled), leaves)
    seen_before = of_its_own(first)
    with unrecorded():
        seen_before([1]), seen_before([1, 2])
    others = itertools.cycle(pool(count))

    def alike() -> None:
        recording.call("jax.jit", seen_before, next(others), {}, nothing)

    def new() -> None:
        recording.cleared("jax")
        recording.call("jax.jit", seen_before, (leaves,), {}, missing)

    alike()
    lines = recording.file.stat().st_size
    looked_at = least(alike)
    assert b'"call"' not in recording.file.read_bytes()[lines:], "one of them was described"
    return [bare, served - bare, looked_at, least(new) - least(lambda: recording.cleared("jax"))]


def of_its_own(function: Callable[..., Any]) -> Any:
    """The function, jitted with a fast path that it shares with no other wrapper of it."""
    return jax.jit(lambda *args: function(*args))


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Nothing that is called inside is recorded."""
    active, hooks.active = hooks.active, None
    try:
        yield
    finally:
        hooks.active = active


def side_by_side(step: Callable[..., Any], leaves: list[Any]) -> tuple[float, float]:
    """µs of a call that is not recorded, and of one that is."""

    def calls(count: int) -> float:
        fed = leaves
        begun = time.perf_counter()
        for _ in range(count):
            fed = step(fed)
        return (time.perf_counter() - begun) / count * 1e6

    calls(10)
    bare = served = float("inf")
    for _ in range(100):
        with unrecorded():
            calls(5)
            bare = min(bare, calls(50))
        calls(5)
        served = min(served, calls(50))
    return bare, served


def scaled(leaves: list[Any]) -> list[Any]:
    """Each leaf, scaled."""
    return [leaf * 2 for leaf in leaves]


def first(leaves: list[Any], _: Any = 0) -> Any:
    """The first leaf."""
    return leaves[0]


class Config:
    """Holds a number that a function reads."""

    def __init__(self) -> None:
        self.rate = 0.1

    def scaled(self, leaves: list[Any]) -> list[Any]:
        """Each leaf, scaled."""
        return [leaf * self.rate for leaf in leaves]


def of_two_entries() -> Any:
    """A function that has compiled twice."""
    step = of_its_own(scaled)
    step([*scaled([jnp.ones((3,))] * 9), jnp.ones((4,))])
    return step


gain, shift, config = 2.0, jnp.ones(3), Config()
held = [jnp.ones(3) for _ in range(16)]
OTHERS: dict[str, Callable[[], Callable[..., Any]]] = {
    "a function that has compiled twice": of_two_entries,
    "a static argument": lambda: functools.partial(jax.jit(lambda leaves, by: [leaf * by for leaf in leaves], static_argnames="by"), by=2),
    "two variables": lambda: jax.jit(lambda leaves: [leaf * gain + shift for leaf in leaves]),
    "a list of sixteen arrays": lambda: jax.jit(lambda leaves: [leaf * sum(held) for leaf in leaves]),
    "an attribute of a variable": lambda: jax.jit(lambda leaves: [leaf * config.rate for leaf in leaves]),
    "a method, and an attribute of its object": lambda: jax.jit(config.scaled),
    "a partial of an object, and its attribute": lambda: jax.jit(functools.partial(Config.scaled, config)),
}
"""What is more to look at than leaves."""

if importlib.util.find_spec("equinox") is not None:
    import equinox

    OTHERS["equinox.filter_jit"] = lambda: equinox.filter_jit(scaled)


def pool(count: int) -> list[Any]:
    """Arguments that are alike and have nothing in common: more avals, shardings and numbers than the recorder knows by their ids."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), "x")

    def array() -> jax.Array:
        return jax.device_put(np.ones(3, np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))

    return [([array() for _ in range(count)], float(i)) for i in range(2 + 2 * ALIKE // count)]


def missing(*_: Any) -> None:
    """What a call misses is noted by hooks of jax."""
    hooks.local.missed |= {"dispatch", "trace", "lower", "compile"}


def nothing(*_: Any) -> None:
    """What is called instead of the function."""


def least(call: Callable[[], Any]) -> float:
    """µs that it takes at best."""
    call()
    once = max(timeit.timeit(call, number=3) / 3, 1e-6)
    number = max(1, int(0.002 / once))
    return min(timeit.repeat(call, number=number, repeat=200, timer=time.process_time)) / number * 1e6


if __name__ == "__main__":
    main()
