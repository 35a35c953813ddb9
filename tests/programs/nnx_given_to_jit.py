"""Objects of flax.nnx that are given to jax.jit, which flattens them by itself: attributes that change, come and go."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Model(nnx.Module):
    def __init__(self):
        self.layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        self.bias = nnx.Param(jnp.ones(3))
        self.scale = 1.0


@jax.jit
def step(model, x):
    return (model.layer(x) * model.scale).sum()


@jax.jit
def update(optimizer, x):
    return x * optimizer.step


def main():
    x = jnp.ones((1, 2))
    model = Model()
    step(model, x)
    model.scale = 2.0
    step(model, x)
    model.flag = 3
    step(model, x)
    model.extra = nnx.Param(jnp.ones(2))
    step(model, x)
    step(Model(), x)
    for _ in range(2):
        update(nnx.Optimizer(Model(), optax.adam(1e-3), wrt=nnx.Param), x)


main()
