"""Two functions in turns, each of them made anew: what a call is compared with is the like of its function, not the last one."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import struct


@functools.partial(jax.jit, static_argnums=0)
def apply(f, x):
    return f(x)


class Layer(eqx.Module):
    weight: jax.Array
    activation: object


@eqx.filter_jit
def forward(layer, x):
    return layer.weight * x


@struct.dataclass
class State:
    weight: jax.Array
    apply: object = struct.field(pytree_node=False)


@jax.jit
def step(state):
    return state.weight * 2


class Norm:
    def __init__(self, momentum):
        self.momentum = momentum


@functools.partial(jax.jit, static_argnums=0)
def init(make, x):
    return x * make().momentum


for _ in range(2):
    apply(lambda x: x + 1, 1.0)
    apply(lambda x: x + 2, 1.0)
    forward(Layer(jnp.ones(2), lambda x: x), jnp.ones(2))
    forward(Layer(jnp.ones(2), lambda x: -x), jnp.ones(2))
    step(State(jnp.ones(2), lambda x: x))
    step(State(jnp.ones(2), lambda x: -x))
    init(functools.partial(Norm, 0.9), 1.0)
