"""A Module that is given an attribute in each call, which is removed again before it ends."""

import jax.numpy as jnp
from flax import nnx


class Loss(nnx.Variable):
    pass


class Model(nnx.Module):
    def __init__(self):
        self._scale = 2
        self.weights = nnx.Param(jnp.ones(2))


@nnx.jit
def step(model, x):
    model.loss = Loss(x.sum())
    nnx.pop(model, Loss)


model = Model()
for _ in range(3):
    step(model, jnp.ones(2))
