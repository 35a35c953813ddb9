"""What recording adds to a call, in µs of processor time: benches/recorder.py, with a Python that has jax.

The recorder is called as by its hook, with nothing to run; the least of many repetitions counts, since whatever else runs on the
machine only adds. Of the calls that were seen before, those that are `known` are given the same arrays again, and those that are
`alike` a number of another value and new arrays, each with a sharding of its own.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src" / "python"))

import jax
import jax.numpy as jnp
import jitkey
import numpy as np
from jitkey.known import ALIKE

LEAVES = (1, 10, 100, 1000)


def main() -> None:
    """Prints a table."""
    print(f"jax {jax.__version__}\n{'leaves':>8} {'jax.jit':>9} {'known':>9} {'alike':>9} {'new':>9}   µs a call")
    step = jax.jit(lambda leaves: leaves[0])
    with tempfile.TemporaryDirectory() as folder, jitkey.recording(f"{folder}/recording.jsonl") as recording:
        for count in LEAVES:
            leaves = [jnp.ones((3,)) for _ in range(count)]
            plain = type(step).__call__.__wrapped__
            plain(step, leaves)
            known = least(lambda leaves=leaves: recording.call("jax.jit", step, (leaves,), {}, nothing))

            def new(leaves: list[Any] = leaves) -> None:
                recording.cleared("jax")
                recording.call("jax.jit", step, (leaves,), {}, nothing)

            cleared = least(lambda: recording.cleared("jax"))
            bare = least(functools.partial(plain, step, leaves))
            others = itertools.cycle(pool(count))
            recording.call("jax.jit", step, next(others), {}, nothing)
            lines = recording.file.stat().st_size
            alike = least(lambda others=others: recording.call("jax.jit", step, next(others), {}, nothing))
            assert b'"call"' not in recording.file.read_bytes()[lines:], "one of them was described"
            print(f"{count:8} {bare:9.1f} {known:9.1f} {alike:9.1f} {least(new) - cleared:9.1f}")
        leaf = [jnp.ones((3,))]

        def known_by(function: Callable[..., Any]) -> float:
            jitted = jax.jit(function)
            return least(lambda: recording.call("jax.jit", jitted, (leaf,), {}, nothing))

        def first(leaves: list[Any]) -> Any:
            return leaves[0]

        for what, function in READING.items():
            # Side by side, twice, since whatever else runs only adds.
            plain, reading = (min(known_by(first), known_by(first)), min(known_by(function), known_by(function)))
            print(f"{what}: {reading - plain:.1f} µs more")


class Config:
    """Holds a number that a function reads."""

    def __init__(self) -> None:
        self.rate = 0.1

    def scaled(self, leaves: list[Any]) -> Any:
        """The first leaf, scaled."""
        return leaves[0] * self.rate


gain, shift, config = 2.0, jnp.ones(3), Config()
READING: dict[str, Callable[..., Any]] = {
    "two variables": lambda leaves: leaves[0] * gain + shift,
    "an attribute of a variable": lambda leaves: leaves[0] * config.rate,
    "a method, and an attribute of its object": config.scaled,
    "a partial of an object, and its attribute": functools.partial(Config.scaled, config),
}
"""What reads something beside its arguments."""


def pool(count: int) -> list[Any]:
    """Arguments that are alike and have nothing in common: more avals, shardings and numbers than the recorder knows by their ids."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), "x")

    def array() -> jax.Array:
        return jax.device_put(np.ones(3, np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))

    return [([array() for _ in range(count)], float(i)) for i in range(2 + 2 * ALIKE // count)]


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
