"""Arguments that are built otherwise, and what is jitted anew with the object or the lambda it belongs to."""

import gc
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Momentum(NamedTuple):
    count: jax.Array
    trace: jax.Array


class Adaptive(NamedTuple):
    mu: jax.Array
    nu: jax.Array


@jax.tree_util.register_pytree_with_keys_class
class State:
    def __init__(self, params, rule):
        self.params, self.rule = params, rule

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.GetAttrKey("params"), self.params)], self.rule

    @classmethod
    def tree_unflatten(cls, rule, children):
        return cls(*children, rule)


class Solver:
    def __init__(self, rate):
        self.rate = rate
        self.run = jax.jit(self.step)

    def step(self, x):
        return x * self.rate


@jax.jit
def same(state):
    return state


zeros = jnp.zeros(3)
same({"opt": Momentum(jnp.int32(0), zeros)})
same({"opt": Adaptive(zeros, zeros)})
same(State([zeros], "sgd"))
same(State([zeros, zeros], "adam"))


@jax.jit
def mean(x, labels):
    return x.mean() + sum(labels)


mean(zeros, zeros)
mean(zeros, [1.0] * 8)
mean(zeros, [1.0] * 7)


@jax.jit
def noise(x, key):
    return x


noise(zeros, 0)
noise(zeros, jax.random.key(0))

for _ in range(3):
    print(Solver(0.1).run(zeros))
# What is in a cycle is gone whenever Python looks for such.
gc.collect()

for _ in range(3):
    print(jax.eval_shape(lambda: zeros + 1).shape)

solver = Solver(0.1)
for _ in range(3):
    print(jax.jit(solver.step)(zeros))
