"""Functions that a body reads where no key sees them: in a field that isn't compared, in an object that is compared by identity, and in a
variable of the module; and imports and what is made anew, which are none."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.numpy import tanh


def double(x):
    return x * 2


def triple(x):
    return x * 3


@dataclasses.dataclass(frozen=True)
class Layer:
    size: int = 2
    act: Callable[[Any], Any] = dataclasses.field(default=double, compare=False)


class Model:
    def __init__(self, act):
        self.act = act

    @functools.partial(jax.jit, static_argnums=0)
    def run(self, x):
        return self.act(x)


@functools.partial(jax.jit, static_argnums=0)
def run(layer, x):
    return layer.act(x)[: layer.size]


@jax.jit
def choose(x):
    return ACT(tanh(x)) + slope(x)


ACT = jnp.tanh
slope = jax.vmap(jax.grad(double))
x = jnp.ones(3)

run(Layer(act=double), x)
run(Layer(act=triple), x)
run(Layer(act=jnp.sin), x)
run(Layer(act=double), x)

model = Model(jnp.tanh)
model.run(x)
model.act = jnp.sin
model.run(x)

choose(x)
ACT = jnp.sin
choose(x)
ACT, slope = jnp.tanh, jax.vmap(jax.grad(double))
choose(x)
