"""Misses that look alike and have other causes."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from functools import partial
from jax.sharding import Mesh, NamedSharding, PartitionSpec

x, key = jnp.ones((1, 3)), jax.random.key(0)


# A static argument that is left out first and is another function each time then, or another number.
@partial(jax.jit, static_argnames="act")
def op(x, act=jnp.tanh):
    return act(x)


op(x)
for _ in range(2):
    op(x, act=lambda y: y + 1)


@partial(jax.jit, static_argnames="width")
def pad(x, width=0):
    return jnp.pad(x, width)


pad(x)
pad(x, width=1)
pad(x, width=2)


# The methods of a library's class are those of two classes here.
class Actor(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))


for module in (Actor(), Critic()):
    params = jax.jit(module.init)(key, x)
for _ in range(2):
    jax.jit(Critic().apply)(params, x)


# One that is kept, and others that are made beside it and used up.
class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.step = jax.jit(self.one)

    def one(self, x):
        return x - self.rate


kept = Trainer(0.5)
kept.step(x)
for rate in (0.1, 0.01, 0.001):
    trainer = Trainer(rate)
    trainer.step(x)
kept.step(x)

# What is passed by name is no longer static.
@partial(jax.jit, static_argnums=1, static_argnames="b")
def scaled(x, a=2, b=3):
    return x * a * b


scaled(x, 1)
scaled(x, a=1)

# One mesh, and another spec over its Explicit axes.
if hasattr(jax.sharding, "AxisType") and jax.__version_info__ >= (0, 7):
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",), axis_types=(jax.sharding.AxisType.Explicit,))
    double = jax.jit(lambda x: x * 2)
    for spec in (PartitionSpec("data"), PartitionSpec(None, "data")):
        double(jax.device_put(np.ones((2, 2)), NamedSharding(mesh, spec)))


# What is kept is no loop that makes one after the other.
def block(n):
    def scaled(x):
        return x * n

    return jax.jit(scaled)


blocks = [block(n) for n in (1, 2, 3)]
for run in blocks:
    x = run(x)


# A method that two classes have from a third one.
class Base:
    def run(self, x):
        return x * self.by


class Twice(Base):
    by = 2


class Thrice(Base):
    by = 3


for made in (Twice(), Thrice()):
    run = jax.jit(made.run)
    run(x)
