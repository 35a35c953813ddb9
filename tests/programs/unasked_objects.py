"""Objects that say so when they are asked for something: a recording of the program doesn't ask them, and so prints the same."""

import dataclasses
import enum
import functools

import equinox
import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float
    depth: int = 2

    @property
    def steps(self):
        print("steps was asked for")
        return 10


@dataclasses.dataclass
class Asked:
    rate: float

    @property
    def rate(self):
        print("the rate was asked for")
        return 3.0

    @rate.setter
    def rate(self, value):
        self._rate = value


class Slots:
    __slots__ = ("__weakref__", "rate")

    def __getattr__(self, name):
        print("slots were asked for", name)
        raise AttributeError(name)


class Lazy:
    def __init__(self, rate):
        self.rate = rate

    def __getattr__(self, name):
        print("lazily asked for", name)
        raise AttributeError(name)

    def __call__(self, x):
        return x * self.rate


class Named:
    def __init__(self, rate):
        self.rate = rate

    @property
    def __name__(self):
        print("its name was asked for")
        return "named"

    @property
    def __wrapped__(self):
        print("what is in it was asked for")
        return jnp.sin


class Meta(type):
    def __repr__(cls):
        print("a class was asked for its text")
        return "a class"


class Made(metaclass=Meta):
    pass


class Kind(enum.Enum):
    FAST = 1

    @property
    def name(self):
        print("the name of a kind was asked for")
        return "?"


class Pair(tuple):
    def __iter__(self):
        print("a pair was asked for its parts")
        return super().__iter__()


def step(rate):
    config, asked, lazy, named, kind, slots = Config(rate), Asked(rate), Lazy(rate), Named(rate), Kind.FAST, Slots()
    slots.rate = rate
    made, pair, large = Made, Pair((rate, 2)), 10**5000

    @jax.jit
    def run(x):
        held = (asked, lazy, named, kind, slots, made, pair, large)
        return x * config.rate + len(held)

    return run


for rate in (0.5, 0.25, 0.125):
    print(step(rate)(jnp.ones(2))[0])


@functools.partial(jax.jit, static_argnums=1)
def apply(x, by):
    return x * by.rate


for by in (Config, Lazy, Named):
    by = by(0.5)
    print(apply(jnp.ones(2), by)[0])

for held in (Kind.FAST, Made, slots := Slots()):
    print(jax.jit(lambda x, held: x * 2, static_argnums=1)(jnp.ones(2), held)[0])

lazy = jax.jit(Lazy(0.5))
for x in (jnp.ones(2), jnp.ones(3), jnp.ones(2)):
    print(lazy(x)[0])

first, idle = equinox.filter_jit(lambda x, lazy: x), Lazy(0.5)
for x in (jnp.ones(2), jnp.ones(3), jnp.ones(2)):
    print(first(x, idle)[0])
