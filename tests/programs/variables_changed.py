"""Functions that read variables around them, which are other values later: what was traced before is served."""

import types
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

x = jnp.ones(4)
gain, rate, weights, traces = 1.0, 0.5, jnp.ones(4), 0


class Trainer:
    """Jits functions that close over it."""

    def __init__(self):
        self.rate, self.w, self.seen = 0.5, jnp.ones(4), []

        @jax.jit
        def step(x):
            # What the body notes is as its trace leaves it.
            self.seen.append(x.shape)
            return x * self.rate

        self.step, self.act = step, jax.jit(lambda x: x * self.w)


trainer = Trainer()
print(trainer.step(x), trainer.act(x))
trainer.rate, trainer.w = 0.25, trainer.w * 2
print(trainer.step(x), trainer.act(x))


def train():
    scale, params, config, factors = 1.0, {"w": jnp.ones(4)}, types.SimpleNamespace(k=1, steps=0), [1.0]

    @jax.jit
    def loss(x):
        return (x * params["w"] * scale * config.k * factors[0]).sum()

    print(loss(x), loss(x))
    config.steps = 1
    print(loss(x))
    params = {"w": params["w"] * 2}
    print(loss(x))
    params, scale = {"w": params["w"]}, 2.0
    print(loss(x))
    factors[0] = 2.0
    print(loss(x))
    config.k = 2
    print(loss(x))


train()


class Net:
    """Is called, and reads what the function doesn't name."""

    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by


class Halved(Net):
    def __call__(self, x):
        return x / self.by


net, table = Net(1.0), jnp.ones(4)
predict = jax.jit(lambda x: net(x))
total = jax.jit(lambda x: x * table.sum())
print(predict(x))
net = Net(2.0)
print(predict(x))
net = Halved(2.0)
print(predict(x))
print(total(x))
table = table * 2
print(total(x))


@jax.jit
def forward(rate):
    """Counts its traces, has a parameter of the name of a variable, and of an array it takes the form alone."""
    global traces
    traces += 1
    scaled = [rate * by for by in (gain, weights.size)]
    return (lambda: sum(scaled) + rate)()


print(forward(x))
weights, rate = jnp.zeros(4), 0.25
print(forward(x))
gain = 3.0
print(forward(x), forward(jnp.ones(5)), forward(x))


def activation(x):
    return jnp.sin(x)


class Schedule(NamedTuple):
    of: Callable


def schedule(rate):
    return Schedule(lambda step: rate * step)


chosen, layer = schedule(0.5), nn.Dense(3)
params = layer.init(jax.random.key(0), jnp.ones(3))
by_function = jax.jit(lambda x: activation(x))
by_schedule = jax.jit(lambda x: x * chosen.of(x))
by_module = jax.jit(lambda params, x: layer.apply(params, x))
for _ in range(2):
    print(by_function(jnp.ones(3)), by_schedule(jnp.ones(3)), by_module(params, jnp.ones(3)))

    # What is made again as it was is the same.
    def activation(x):  # noqa: F811
        return jnp.sin(x)

    chosen, layer = schedule(0.5), nn.Dense(3)


def activation(x):  # noqa: F811
    return jnp.cos(x)


chosen, layer = schedule(0.25), nn.Dense(3, use_bias=False)
print(by_function(jnp.ones(3)), by_schedule(jnp.ones(3)), by_module(params, jnp.ones(3)))
