"""Functions that are made anew, for what containers, defaults and arrays of the module hold."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

x = jnp.ones(3)


class Config(NamedTuple):
    rate: float
    decay: float


def with_fields(config):
    def step(x):
        return x * config.rate

    return step


def with_keys(config):
    def step(x):
        return x * config["opt"]["rate"] + config["layers"][1]["bias"]

    return step


def with_items(items):
    def step(x):
        return x * items[0] + items[1].sum()

    return step


def with_defaults(rate):
    def step(x, rate=rate, *, table=jnp.zeros(int(10 * rate))):
        return x * rate + table.sum()

    return step


for rate in (0.1, 0.2, 0.3):
    config = {"opt": {"rate": rate, "name": "sgd"}, "layers": [{"bias": 1}, {"bias": 2}], "all": list(range(99))}
    jax.jit(with_fields(Config(rate, 0.5)))(x)
    jax.jit(with_keys(config))(x)
    jax.jit(with_items((rate, jnp.ones(int(10 * rate)))))(x)
    jax.jit(with_defaults(rate))(x)


def loss(x):
    return (x * points.sum()).sum()


for size in (4, 5, 5):
    points = jnp.ones(size)
    jax.jit(lambda x: loss(x))(x)
    jax.jit(jax.grad(loss))(x)


class Wrapped:
    """What stands around a function by itself has attributes of the program's own."""

    def __init__(self, scale):
        self.scale, self.__wrapped__ = scale, loss

    def __call__(self, x):
        return loss(x) * self.scale


for scale in (1, 2):
    jax.jit(Wrapped(scale))(x)
