"""The layers of equinox that have a state, under `equinox.filter_jit`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .sweep import Subject

DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16}

Begun = tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]


def _stateful(make: Callable[[Any], Any], dtype: Any, given: Any) -> Begun:
    """A layer whose state stands in an `equinox.nn.State`, over a batch."""
    layer, state = eqx.nn.make_with_state(make)(dtype)

    def step(state: Any, layer: Any, inputs: Any) -> tuple[Any]:
        over = jax.vmap(layer, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
        return (over(inputs, state)[1],)

    return step, (state, layer, jnp.ones((2, 4), given))


def _cell(make: Callable[[Any], Any], dtype: Any, given: Any) -> Begun:
    """A recurrent cell, whose hidden state begins with zeros of the cell's dtype."""
    cell = make(dtype)
    hidden = jnp.zeros(3, dtype)

    def step(hidden: Any, cell: Any, inputs: Any) -> tuple[Any]:
        return (cell(inputs, hidden),)

    return step, ((hidden, hidden) if isinstance(cell, eqx.nn.LSTMCell) else hidden, cell, jnp.ones(4, given))


def _spectral_norm(dtype: Any) -> Any:
    key = jax.random.key(0)
    return eqx.nn.SpectralNorm(eqx.nn.Linear(4, 4, dtype=dtype, key=key), "weight", key=key)


def _layers() -> dict[str, tuple[Callable[..., Begun], Callable[[Any], Any]]]:
    def batch_norm(dtype: Any, **options: Any) -> Any:
        return eqx.nn.BatchNorm(4, "batch", dtype=dtype, **options)

    key = jax.random.key(0)
    return {
        "BatchNorm": (_stateful, batch_norm),
        "BatchNorm(mode='ema')": (_stateful, functools.partial(batch_norm, mode="ema")),
        "BatchNorm(mode='batch')": (_stateful, functools.partial(batch_norm, mode="batch")),
        "SpectralNorm": (_stateful, _spectral_norm),
        "GRUCell": (_cell, lambda dtype: eqx.nn.GRUCell(4, 3, dtype=dtype, key=key)),
        "LSTMCell": (_cell, lambda dtype: eqx.nn.LSTMCell(4, 3, dtype=dtype, key=key)),
    }


def subjects() -> Iterator[Subject]:
    """Every layer in every dtype, with inputs of every dtype."""
    for name, (use, make) in _layers().items():
        for kind, dtype in DTYPES.items():
            for other, given in DTYPES.items():
                what = kind if kind == other else f"{kind}, {other} inputs"
                begun = functools.partial(use, make, dtype, given)
                yield Subject(f"equinox.nn.{name}", what, ("state", "layer", "inputs"), begun, "equinox.filter_jit")
