"""A step whose helpers read variables, of its module, of another one and around them, which change."""

import dataclasses
import enum
import functools

import jax
import jax.numpy as jnp
from parts import layers
from parts.layers import dense, log

rate = 0.1
table = [1.0, 2.0]
hosts = {"calls": 0}
factors = [3.0]


@dataclasses.dataclass
class Config:
    """What one helper reads, and what none does."""

    gain: float = 1.0
    steps: int = 0


config = Config()


def penalty(param):
    return rate * (param**2).sum() * table[0]


def make(by):
    def scaled(x):
        return x * by[0]

    return scaled


scaled = make(factors)


def count(x):
    hosts["calls"] += 1


@jax.jit
def jitted(param):
    return param * config.gain


def loss(param, x):
    jax.debug.callback(count, x)
    return (dense(param, x) + scaled(jitted(param))).sum() + penalty(param)


@jax.jit
def step(param, x):
    value, gradient = jax.value_and_grad(loss)(param, x)
    jax.debug.callback(log, value)
    return param - gradient


def run():
    step(x, x).block_until_ready()
    jax.effects_barrier()


x = jnp.ones(3)
run()
# What no helper reads, or a callback alone.
config.steps, layers.VERBOSE, hosts["calls"], table[1] = 3, 2, 9, 8.0
run()
rate = 0.2
run()
layers.SCALE = 2.0
run()
config.gain = 2.0
run()
table[0] = 5.0
run()
factors[0] = 4.0
run()
layers.Settings.gain = 4.0
run()


def penalty(param):
    return 0.0


run()
step(jnp.ones(4), jnp.ones(4))
jax.effects_barrier()

gain = 1.0


class Base:
    def scaled(self, x):
        return x * gain


class Trainer(Base):
    """Its methods, one of them of a base, read what is of the module."""

    def __init__(self):
        self.step = jax.jit(self.loss)

    def loss(self, x):
        return self.scaled(x)

    @functools.partial(jax.jit, static_argnums=0)
    def of_static(self, x):
        return self.loss(x)


class Called:
    """An object that is jitted itself."""

    def __call__(self, x):
        return x * gain


trainer, called = Trainer(), jax.jit(Called())
for gain in (1.0, 2.0):
    trainer.step(x), trainer.of_static(x), called(x)


def make_layer(by):
    def layer(x):
        return x * by[0]

    return layer


firsts, seconds = [1.0], [2.0]
first, second = make_layer(firsts), make_layer(seconds)


@jax.jit
def layers_of_one_place(x):
    return first(x) + second(x)


layers_of_one_place(x)
seconds[0] = 3.0
layers_of_one_place(x)

base = offset = 1.0


def shifted(x):
    return x + base


@jax.jit
def of_replaced(x):
    return shifted(x)


of_replaced(x)


def shifted(x):
    return x + offset


of_replaced.clear_cache()
of_replaced(x)
offset = 2.0
of_replaced(x)


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


mode = Mode.TRAIN


@jax.jit
def of_mode(x):
    return x if mode is Mode.TRAIN else 2 * x


of_mode(x)
mode = Mode.EVAL
of_mode(x)


class Rates:
    now = 1.0

    @classmethod
    def of_class(cls, x):
        return cls.now * x

    @staticmethod
    def of_name(x):
        return Rates.now * x


@jax.jit
def of_module(x):
    return layers.shifted(x)


of_class, of_name = jax.jit(lambda x: Rates.of_class(x)), jax.jit(lambda x: Rates.of_name(x))
for called in (of_module, of_class, of_name):
    called(x)
layers.SHIFT, Rates.now = 1.0, 2.0
for called in (of_module, of_class, of_name):
    called(x)

scale, kind = 1.0, "relu"


@jax.jit
def of_kinds(x):
    return x if isinstance(scale, float) and len(kind) == 4 and callable(of_name) else 2 * x


of_kinds(x)
scale, kind = 2.0, "tanh"
of_kinds(x)
scale, kind = 2, "tanh"
of_kinds(x)
kind = "sigmoid"
of_kinds(x)
