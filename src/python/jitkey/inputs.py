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
        "f32": (_layer(jnp.float32), _layer(jnp.float32)),
        "bf16": (_layer(jnp.bfloat16), _layer(jnp.bfloat16)),
        "f16": (_layer(jnp.float16), _layer(jnp.float16)),
        "bf16, f32 grads": (_layer(jnp.bfloat16), _layer(jnp.float32)),
        "f32, bf16 grads": (_layer(jnp.float32), _layer(jnp.bfloat16)),
        "f32[]": ({"b": jnp.float32(1.0)}, {"b": jnp.float32(1.0)}),
        "f32[], weak grads": ({"b": jnp.float32(1.0)}, _weak()),
        "weak": (_weak(), _weak()),
        # The gradient of a Python float is a weakly typed array.
        "float": ({"b": 1.0}, _weak()),
        # As when the parameters are all arrays of a model, and the gradients those of its floating-point ones.
        "None grad": ({**_layer(jnp.float32), "index": index}, {**_layer(jnp.float32), "index": None}),
    }
