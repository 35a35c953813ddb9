"""Calls that differ in how arguments are passed, in what libraries make of them, and in what loops are given."""

import functools

import equinox as eqx
import flax.nnx as nnx
import jax
import jax.numpy as jnp
import numpy as np

pair, triple = jnp.ones(2), jnp.ones(3)


@eqx.filter_jit
def total(first, *rest):
    return first + sum(part.sum() for part in rest)


total(1.0 * pair, pair)
total(1.0 * pair, pair, pair)


@functools.partial(jax.jit, static_argnames="train")
def step(x, train=True):
    return x * 2 if train else x


step(pair)
step(pair, train=False)


class Trainer:
    def __init__(self):
        self.plain, self.step = jax.jit(self._plain), nnx.jit(self._step)

    def _plain(self, net, x):
        return x * 2

    def _step(self, net, x):
        return net(x).sum()


trainer, net = Trainer(), nnx.Linear(2, 1, rngs=nnx.Rngs(0))
trainer.plain(1, pair)
trainer.plain(1, triple)
trainer.step(net, jnp.ones((2, 2)))
trainer.step(net, jnp.ones((3, 2)))
net.bias.value = net.bias.value.astype(jnp.bfloat16)
trainer.step(net, jnp.ones((3, 2)))


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


jax.tree_util.register_pytree_with_keys(
    Pair,
    lambda it: (((jax.tree_util.GetAttrKey("left"), it.left), (jax.tree_util.GetAttrKey("right"), it.right)), None),
    lambda _, parts: Pair(*parts),
)
swap = jax.jit(lambda it: it.left)
swap(Pair(pair, pair))
swap(Pair(pair, triple))


def body(i, x):
    return x * 2


# Of another function, with as many steps as the last.
jax.lax.fori_loop(0, 5, lambda i, x: x, 1.0)
jax.lax.fori_loop(0, jnp.int32(4), body, 1.0)
jax.lax.fori_loop(0, np.array(5, np.int32), body, 1.0)
jax.lax.fori_loop(0, 5, body, 1.0)
jax.lax.fori_loop(0, 5, body, pair)

double = jax.jit(lambda x: x * 2)
jax.lax.map(double, pair)
jax.lax.map(double, pair)


def negate(x):
    return -x


jax.lax.cond(True, double, negate, 1.0)
jax.lax.cond(jnp.array(True), double, negate, 1.0)

complexes = jax.jit(lambda x: x)
complexes(1j)
complexes(2j)


def both(x):
    return (x * x).sum()


# Two programs of one function, and none is made anew.
jax.jit(jax.grad(both))(pair)
jax.jit(jax.vmap(jax.grad(both)))(jnp.ones((2, 3)))


def blend(scale, x, y, shift=0.0):
    return scale * x + y + shift


blended = jax.jit(functools.partial(blend, 2.0, shift=1.0))
blended(pair, pair)
blended(pair, pair.astype(jnp.bfloat16))


# A field that a subclass overrides, by a property or by an attribute of the class, is no part of the Module.
class Declared(eqx.Module):
    sizes: list
    scale: jax.Array


class Overridden(Declared):
    sizes = ["small", "large"]

    def __init__(self):
        self.scale = jnp.ones(())


def scaled(module, x):
    return module.scale * x * len(module.sizes)


for _ in range(2):
    jax.jit(scaled)(Overridden(), jnp.ones(3))
    eqx.filter_jit(scaled)(Overridden(), jnp.ones(3))


# What filter_jit binds for a Module, it binds by the names that the function in it has.
@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(weights, batch):
    return (weights * batch).sum()


loss(pair, pair)
loss(pair, batch=pair)
loss(pair, batch=jnp.ones(()))
summed = jax.jit(jax.value_and_grad(both))
summed(pair)
summed(triple)


# A method of a Module is a Module, and `__call__` is a plain method of that very Module.
class Scaling(eqx.Module):
    weight: jax.Array

    def __call__(self, x):
        return self.weight * x


first, second = Scaling(pair), Scaling(pair)
for scaling in (first, first, second):
    eqx.filter_jit(scaling.__call__)(pair)
for scaling in (first, second):
    jax.jit(scaling.__call__)(pair)

# What is wrapped anew isn't found, whatever else it differs in.
jax.lax.map(double, triple)

# What a library calls is called for a line of the program.
dispatched = functools.singledispatch(jax.jit(lambda x, y: x + y))
dispatched(pair, pair)
dispatched(pair, jnp.ones(()))
