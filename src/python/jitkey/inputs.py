"""What optimizers are given: parameters and gradients, in the kinds that tell optimizers apart."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax._src.lax.lax import _convert_element_type

Tree = dict[str, Any]


def _layer(dtype: Any) -> Tree:
    return {"b": jnp.ones(3, dtype), "w": jnp.ones((4, 3), dtype)}


def _weak() -> Tree:
    return {"b": _convert_element_type(jnp.float32(1.0), weak_type=True)}


def inputs() -> dict[str, tuple[Tree, Tree]]:
    """Parameters and gradients by the name of their kind, made anew."""
    index = jnp.ones(3, jnp.int32)
    return {
        "float32": (_layer(jnp.float32), _layer(jnp.float32)),
        "bfloat16": (_layer(jnp.bfloat16), _layer(jnp.bfloat16)),
        "float16": (_layer(jnp.float16), _layer(jnp.float16)),
        "bfloat16, float32 gradients": (_layer(jnp.bfloat16), _layer(jnp.float32)),
        "float32, bfloat16 gradients": (_layer(jnp.float32), _layer(jnp.bfloat16)),
        "0-d": ({"b": jnp.float32(1.0)}, {"b": jnp.float32(1.0)}),
        "0-d, weak gradients": ({"b": jnp.float32(1.0)}, _weak()),
        "weak": (_weak(), _weak()),
        # The gradient of a Python float is a weakly typed array.
        "Python float": ({"b": 1.0}, _weak()),
        # As when the parameters are all arrays of a model, and the gradients those of its floating-point ones.
        "None gradient": ({**_layer(jnp.float32), "index": index}, {**_layer(jnp.float32), "index": None}),
    }
