"""Layers in lists and tuples that jitted functions go through, and what a module of the program has, which are changed in their place."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from parts import layers as parts


class Dense:
    def __init__(self, scale):
        self.scale, self.is_training, self.calls = scale, True, 0

    def __call__(self, x):
        self.calls += 1
        return self.scale * x + (1 if self.is_training else 0)


class Net:
    def __init__(self):
        self.layers, self.last = [Dense(1.0), Dense(2.0)], (Dense(3.0),)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for i, layer_or_head in enumerate(self.last):
            x = layer_or_head(x) + i
        return x


x = jnp.ones(3)
net = Net()
forward = jax.jit(net.forward)
forward(x)
forward(x)
net.layers[1].is_training = False
forward(x)
net.last[0].scale = 4.0
forward(x)
net.layers.append(Dense(5.0))
forward(x)

stack, tower = [Dense(1.0), Dense(2.0)], (Dense(1.0), Dense(2.0))


@jax.jit
def of_list(x):
    for layer in stack:
        x = layer(x)
    return x


@jax.jit
def of_tuple(x):
    y = x
    for layer in reversed(tower):
        y = y * layer.scale
    return y


of_list(x)
stack[0].scale = 6.0
of_list(x)
of_tuple(x)
# It isn't called there.
tower[0].is_training = False
of_tuple(x)
tower[1].scale = 7.0
of_tuple(x)
# Without a loop.
of_one = jax.jit(lambda x: stack[1](x))
of_one(x)
stack[1].scale = 8.0
of_one(x)
stack[0].scale = 9.0
of_one(x)


@jax.jit
def of_module(x):
    return parts.dense(x, 2.0)


of_module(x)
parts.dense = parts.log
of_module(x)


@dataclasses.dataclass
class Config:
    rate: float = 1.0
    dtype: str = "float32"


def scaled(x):
    return x * config.rate


def by_two(x, config=None):
    return scaled(x) * config.rate


# A parameter of the name that a variable has.
config = Config()
of_both = jax.jit(functools.partial(by_two, config=Config()))
of_both(x)
config.rate = 2.0
of_both(x)
# What has the name of an array's form.
of_dtype = jax.jit(lambda x: x.astype(config.dtype))
of_dtype(x)
config.dtype = "bfloat16"
of_dtype(x)

# What is in a list is compared by what it holds.
configs = [Config()]
of_items = jax.jit(lambda x: x * sum(one.rate for one in configs))
of_items(x)
configs[0].rate = 3.0
of_items(x)


def remembered(function):
    known = {}

    def inner(n):
        if n not in known:
            known[n] = function(n)
        return known[n]

    return inner


parts.log = remembered(lambda n: n)
of_memory = jax.jit(lambda x: x * parts.log(x.shape[0]) * parts.SCALE)
of_memory(x)
of_memory(jnp.ones(4))
parts.SCALE = 2.0
of_memory(x)
parts.SCALE = 1.0
# It knows more than it did.
of_memory(x)


class Gate:
    def __init__(self, scale):
        self.scale = scale


gates, weights = [Gate(1.0), Gate(2.0), Gate(3.0)], jnp.ones(3)


@jax.jit
def of_slice(x):
    for gate in gates[1:]:
        x = x * gate.scale
    return x


@jax.jit
def of_zip(x):
    for weight, gate in zip(weights, gates):
        x = x * gate.scale * weight
    return x


@jax.jit
def of_comprehension(x):
    return sum(x * gate.scale for gate in gates)


@jax.jit
def of_closure(x):
    for gate in gates:
        x = jax.checkpoint(lambda y, gate=None: y)(x) if gate is None else jax.checkpoint(lambda y: y * gate.scale)(x)
    return x


for function in (of_slice, of_zip, of_comprehension, of_closure):
    function(x)
gates[1].scale = 4.0
for function in (of_slice, of_zip, of_comprehension, of_closure):
    function(x)
# It is none of the slice.
gates[0].scale = 5.0
of_slice(x)

heads = [Gate(1.0), Gate(2.0)]
for head in heads:
    head.calls = 0
named, sizes = {"in": Gate(1.0), "out": Gate(2.0)}, {"sizes": {"wide": 1.0}}


@jax.jit
def of_values(x):
    for gate in named.values():
        x = x * gate.scale
    return x


@jax.jit
def of_places(x):
    for i in range(len(heads)):
        heads[i].calls = heads[i].calls + 1
        x = x * heads[i].scale
    return x


@functools.partial(jax.jit, static_argnums=1)
def of_one_of_them(x, name):
    return x * named[name].scale


@jax.jit
def of_parts(x):
    first, _ = stack
    return x * first.scale


@jax.jit
def of_items(x):
    return x * sum(size for _, size in sizes["sizes"].items())


of_one = functools.partial(of_one_of_them, name="in")
for function in (of_values, of_places, of_parts, of_items, of_one):
    function(x)
of_places(jnp.ones(4))
named["out"].scale = stack[0].scale = sizes["sizes"]["wide"] = heads[1].scale = 3.5
# Nothing takes it.
stack[1].scale = 9.5
for function in (of_values, of_places, of_parts, of_items, of_one):
    function(x)
