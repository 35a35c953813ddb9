"""Modules of flax.nnx that stand in the place of others."""

import jax
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(3, 3, rngs=rngs)
        self.b = self.a

    def __call__(self, x):
        return self.b(self.a(x))


class Other(nnx.Module):
    def __init__(self, rngs):
        self.c = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        return self.c(x)


@nnx.jit
def forward(net, x):
    return net(x)


x = jnp.ones((2, 3))
net = Net(nnx.Rngs(0))
forward(net, x)
forward(Other(nnx.Rngs(0)), x)
net.b = nnx.Linear(3, 3, rngs=nnx.Rngs(1))
forward(net, x)
net.a = nnx.LoRA(3, 2, 3, base_module=net.a, rngs=nnx.Rngs(2))
print(forward(net, x))


class Stack(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(3, 3, use_bias=False, rngs=rngs)])
        self.before = nnx.Param(x)
        self.last = self.layers[0]

    def __call__(self, x):
        return self.last(x)


# How many layers there are, and that one is met twice, though what comes before it is gone.
stack = Stack(nnx.Rngs(0))
forward(stack, x)
stack.layers.append(nnx.Linear(3, 3, use_bias=False, rngs=nnx.Rngs(1)))
forward(stack, x)
del stack.before
forward(stack, x)


class Normed(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 2, rngs=rngs)
        self.mean = jnp.zeros(4)

    def __call__(self, x):
        return self.linear(x)


# An array that is no variable is a leaf by its name as well.
normed = Normed(nnx.Rngs(0))
forward(normed, x)
normed.extra = nnx.Param(jnp.ones(2))
forward(normed, x)
normed.mean = jnp.zeros(5)
forward(normed, x)
normed.extra = None
forward(normed, x)


@nnx.jit
def average(mean, net):
    return jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, mean, nnx.state(net, nnx.Param))


# What is averaged is the net's own in the first step, and of its own from then on.
net = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
mean = nnx.state(net, nnx.Param)
for _ in range(3):
    mean = average(mean, net)
