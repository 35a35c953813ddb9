"""Which arrays are known to be described alike."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jitkey.known import Alike

MESH = Mesh(np.array(jax.devices()[:1]), "x")


def placed(*spec: object) -> jax.Array:
    """Three zeros over the mesh; its aval and its sharding are its own."""
    return jax.device_put(np.zeros(3, np.float32), NamedSharding(MESH, PartitionSpec(*spec)))


LIKE: dict[str, Callable[[], jax.Array]] = {
    "another shape": lambda: jax.device_put(np.zeros(4, np.float32)),
    "another dtype": lambda: jax.device_put(np.zeros(3, np.int32)),
    "weakly typed": lambda: jnp.asarray(0.0),
    "strongly typed": lambda: jax.device_put(np.float32(0)),
    "not committed": lambda: jax.device_put(np.zeros(3, np.float32)),
    "committed": lambda: jax.device_put(np.zeros(3, np.float32), jax.devices()[0]),
    "over an axis": lambda: placed("x"),
    # Equal to it, and written otherwise where jax writes it so.
    "over a tuple of one axis": lambda: placed(("x",)),
    "over no axis": lambda: placed(None),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("kind", LIKE)
def test_arrays_have_one_number_only_if_they_are_alike(kind: str, place: int) -> None:
    alike = Alike()

    def number(middle: str) -> int:
        arrays = [placed("x") for _ in range(3)]
        arrays[place] = LIKE[middle]()
        return alike.arrays("step", arrays)

    def looks(of: str) -> str:
        array = LIKE[of]()
        return f"{array.aval!r} {array.weak_type} {array.sharding!r} {array._committed}"

    for other in LIKE:
        first = number(kind)
        assert number(kind) == first
        assert (number(other) == first) == (looks(other) == looks(kind)), (kind, other)
        # Whatever it was compared with last.
        assert number(kind) == first
