"""Functions that are made anew, and what they read from outside."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

x = jnp.ones(3)


def step_of(rate, table, model):
    @jax.jit
    def step(x):
        return model(x) * rate + table

    return step


class Model:
    def __init__(self, width):
        self.width = width

    def __call__(self, x):
        return x * self.width


for rate, width in [(0.1, 2), (0.2, 2), (0.2, 4)]:
    print(step_of(rate, jnp.zeros(3), Model(width))(x))

for scale in (1.0, 2.0, 3.0):
    print(jax.jit(jax.value_and_grad(lambda x: (x * scale).sum()))(x))

later = []
for depth in (1, 2, 3):

    def stack(x, layers):
        for _ in range(layers):
            x = x + len(later) * depth
        return x

    later.append(depth)
    print(jax.jit(functools.partial(stack, layers=2))(x))
    del stack


def early():
    first = jax.jit(lambda x: x + value)
    value = 1
    return first(x)


print(early(), early(), early())


def with_table(table):
    return jax.jit(lambda x: x * table["a"])


for table in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"b": 3, "a": 1}):
    print(with_table(table)(x))


def descent(rate):
    tx = optax.sgd(rate)

    @jax.jit
    def step(x):
        updates, _ = tx.update(x, tx.init(x))
        return x + updates

    return step


for rate in (0.5, 0.5, 0.25):
    print(descent(rate)(x))


for model in (Model(2), Model(3), Model(3)):
    print(jax.jit(model.__call__)(x))

for width in (2, 3):
    print(jax.jit(Model(width))(x))


class Runner:
    def __init__(self):
        self.tx = optax.sgd(0.5)
        self.rate = 2.0

    def run(self, x):
        return x * self.rate


for runner in (Runner(), Runner()):
    print(eqx.filter_jit(runner.run)(x))


for rate in (0.5, 0.25):
    tx = optax.sgd(rate)

    @jax.jit
    def descend(x):
        return x + tx.update(x, tx.init(x))[0]

    print(descend(x))

traces = 0
for _ in range(2):

    def counted(x):
        global traces
        traces += 1
        return x

    jax.jit(counted)(jnp.ones(3))
