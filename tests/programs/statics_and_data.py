"""Statics and aux data of many kinds: enums, numbers of NumPy, dicts, what is made anew at each flattening; options of scans."""

import collections
import dataclasses
import enum
import functools
import math
import pathlib

import jax
import jax.numpy as jnp
import numpy as np


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 5


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class Scale:
    """Static here, and a node of a tree there."""

    by: float

    def tree_flatten(self):
        return (self.by,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@functools.partial(jax.jit, static_argnums=1)
def scaled(x, scale):
    return x * scale.by


@jax.jit
def scaled_too(x, scale):
    return x * scale.by


@functools.partial(jax.jit, static_argnums=1)
def step(x, mode):
    return x + 1 if mode is Mode.TRAIN else x


@jax.tree_util.register_pytree_node_class
class Ring:
    def __init__(self, buffer, capacity):
        self.buffer, self.capacity = buffer, capacity

    def tree_flatten(self):
        return (self.buffer,), {"capacity": self.capacity, "kind": ("ring", None)}

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux["capacity"])


class Meta:
    def __init__(self, n):
        self.n = n


@jax.tree_util.register_pytree_node_class
class Box:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def tree_flatten(self):
        return (self.x,), Meta(self.n)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0], aux.n)


@jax.jit
def pushed(ring, x):
    return ring.buffer.at[0].set(x)[: ring.capacity]


@jax.jit
def boxed(box):
    return box.x * box.n


x = jnp.ones(3)
for static in (*Mode, *Mode, *Size, 3, np.int64(3), np.float32(2), 2.0, 1 + 2j, b"x", float("nan"), float("nan")):
    print(static, step(x, static))
for capacity in (4, 4, 2):
    print(pushed(Ring(jnp.zeros(4), capacity), 1.0))
for scale in (Scale(2.0), Scale(2.0), Scale(3.0)):
    print(scaled(x, scale), scaled_too(x, scale))
box = Box(x, 3)
print([boxed(box).sum() for _ in range(3)])


def decayed(carry, reward):
    return reward + 0.9 * carry, carry


for options in ({"reverse": True}, {}, {"unroll": 2}, {"unroll": True}, {"unroll": 4}, {"reverse": True}):
    print(jax.lax.scan(decayed, jnp.float32(0), jnp.arange(4.0), **options)[0])
for steps in (2, 3, 2):
    print(jax.lax.fori_loop(0, steps, lambda i, carry: carry + i, jnp.float32(0)))


def root(x):
    return x**0.5


for _ in range(2):
    print(jax.lax.map(root, jnp.arange(3.0)))


class Depth(enum.IntEnum):
    ONE = 1


class Stage(str, enum.Enum):
    TRAIN = "train"


@functools.partial(jax.jit, static_argnums=1)
def chosen(x, _):
    return x


# Equal to what their bases hold, and inside of a tuple no type is looked at.
for choice in (Depth.ONE, 1, Stage.TRAIN, "train", (Depth.ONE,), (1,), (Stage.TRAIN,), ("train",)):
    print(chosen(1.0, choice))
for dtype in (jnp.float32, np.float32, np.dtype("float32"), jnp.bfloat16):
    print(chosen(1.0, (dtype,)))


@functools.partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["n"])
@dataclasses.dataclass
class Both:
    x: object
    n: int = dataclasses.field(default=1, metadata={"static": True})


# The same object is data and static.
held = jax.jit(lambda both: both.x)
for both in (Both(jnp.ones(2)), Both(1), Both(2), Both(2, 2)):
    print(held(both))



@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.1
    layers: tuple = (4, 4)
    activation: object = jnp.tanh


# A static dataclass is compared field by field, each type with itself.
configured = jax.jit(lambda x, config: config.activation(x) * config.rate, static_argnames="config")
for config in (Config(), Config(), Config(rate=0.2), Config(layers=(4, 8)), Config(activation=jnp.sin), Config(rate=np.float32(0.5)), Config(rate=0.5)):
    print(configured(jnp.ones(2), config=config))



class Named:
    """Known by its hash alone, whatever `==` says of what it holds."""

    def __init__(self, name):
        self.name = name

    __hash__ = object.__hash__


class Sized(Named):
    def __eq__(self, other):
        return isinstance(other, Sized) and self.name == other.name

    def __hash__(self):
        return id(self)


class Alone(Named):
    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


class Equal(Sized):
    def __hash__(self):
        return hash(self.name)


# What is found by identity: by a hash that is one, or an `==`.
named = jax.jit(lambda x, by: x, static_argnames="by")
kept = [kind(name) for kind in (Equal, Sized, Alone, Named) for name in ("a", "a", "b")]
for one in kept:
    print(named(1.0, by=one))

# Branches that don't fit together: each is traced, and then jax raises.
try:
    jax.lax.cond(True, lambda: 1.0, lambda: 2)
except TypeError as error:
    print(type(error).__name__)


class Agent:
    """What it holds are functions, and it is none."""

    def __init__(self, rate):
        self.rate, self.act = rate, jax.jit(root)


# What says by itself what it is.
told = jax.jit(lambda x, what: x, static_argnames="what")
agents = [Agent(1), Agent(1), Agent(2)]
for what in (pathlib.Path("a"), pathlib.Path("a"), pathlib.Path("b"), b"a", b"b", *agents):
    told(1.0, what=what)


class Scaled:
    """Its rate is aux data."""

    def __init__(self, array, rate):
        self.array, self.rate = array, rate


jax.tree_util.register_pytree_node(Scaled, lambda it: ((it.array,), (it.rate,)), lambda aux, children: Scaled(*children, *aux))

# What is of the structure besides the children.
of = jax.jit(lambda it: jax.tree.leaves(it))
for factory in (None, int, list, list, lambda: 0):
    of(collections.defaultdict(factory, b=1.0, a=2.0))
for rate in (math.nan, math.nan, float("nan")):
    of(Scaled(1.0, rate))


class Learner:
    """What it holds can't be hashed."""

    def __init__(self):
        self.params, self.bias = {"w": jnp.ones(2)}, jnp.ones(3)


learners = [Learner(), Learner()]
for learner in learners:
    told(1.0, what=learner)

# Functions of jax.numpy that have methods, and the text of their documentation.
for what in (jnp.add, jnp.add, jnp.multiply):
    told(1.0, what=what)

# By keyword no type is looked at before jax 0.9: NumPy's strings and complex numbers are equal to Python's.
for what in (np.str_("c"), "c", np.str_("c"), 4 + 0j, 4):
    told(1.0, what=what)


# What a class leaves out where it is flattened is in no key.
@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass
class Scale:
    value: jax.Array
    steps: int = 3
    floor: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(()))

    def tree_flatten(self):
        return (self.value,), (self.steps,)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, *aux)


@jax.jit
def halved(scale):
    return Scale(scale.value / 2, scale.steps)


scale = Scale(jnp.ones(2))
for _ in range(3):
    scale = halved(scale)
