"""Layers in lists and tuples that jitted functions go through, and what a module of the program has, which are changed in their place."""

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
