"""Calls under what `compute_on` and `set_xla_metadata` set, which jax keeps in another form from 0.5 on."""

import jax
import jax.numpy as jnp
from jax.experimental.compute_on import compute_on
from jax.experimental.xla_metadata import set_xla_metadata

step = jax.jit(lambda x: x + 1)
x = jnp.ones(3)
for _ in range(2):
    step(x)
    with compute_on("device_host"):
        step(x)
    with set_xla_metadata(a="1"):
        step(x)
    with set_xla_metadata(a="1", b=2):
        print(step(x))
