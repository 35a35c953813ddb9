"""Configs that a function hands to its helpers, which read some of what is in them, and things change that they read and don't."""

import argparse
import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Model:
    width: float = 1.0
    depth: int = 0


@dataclasses.dataclass
class Config:
    rate: float = 1.0
    steps: int = 0
    model: Model = dataclasses.field(default_factory=Model)


class Static:
    """Compared by its identity."""

    def __init__(self):
        self.by, self.calls = 1.0, 0


config, table, static = Config(), {"a": 1.0, "b": 2.0}, Static()
options = argparse.Namespace(gain=1.0, verbose=0)


def of_config(x, given, *, scale=1.0):
    return x * given.rate * scale


def of_model(model, x):
    return model.width * x


def helper(given, x):
    return of_config(x + 1, given, scale=2.0) + of_model(given.model, x)


def of_table(x, items):
    return x * items["a"]


def of_options(x, given=None):
    return x * given.gain


def of_static(given, x):
    def scaled(y):
        return y * given.by

    return scaled(x)


@jax.jit
def step(x):
    return helper(config, x) + of_table(jnp.sin(x), table) + of_options(x, given=options)


@functools.partial(jax.jit, static_argnums=0)
def with_static(given, x):
    return of_static(given, x)


@jax.jit
def gradient(x):
    return jax.grad(lambda y: of_static(static, y).sum())(x)


def run():
    print(step(x), with_static(static, x), gradient(x))


x = jnp.ones(3)
run()
config.steps = config.model.depth = options.verbose = static.calls = 1
table["b"] = 5.0
run()
config.rate = 2.0
run()
config.model.width = 2.0
run()
table["a"] = 3.0
run()
options.gain = 3.0
run()
static.by = 4.0
run()
print(step(jnp.ones(4)))
