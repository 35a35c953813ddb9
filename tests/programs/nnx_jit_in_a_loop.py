"""What nnx.jit is called for anew in each step."""

import jax.numpy as jnp
from flax import nnx

x = jnp.ones(3)


class Holder:
    def __init__(self, scale):
        self.scale = scale
        self.jitted = nnx.jit(self.scaled)

    def scaled(self, x):
        return x * self.scale


for scale in (1, 2, 3):
    print(nnx.jit(lambda x: x * 2)(x))
    print(Holder(scale).jitted(x))
