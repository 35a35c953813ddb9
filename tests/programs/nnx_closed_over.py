"""Functions that close over an nnx.Module, which is changed in its place, and not by them."""

import warnings

import jax
import jax.numpy as jnp
from flax import nnx

warnings.simplefilter("error", DeprecationWarning)


class Net(nnx.Module):
    def __init__(self, rngs):
        self.encoder = nnx.Linear(2, 3, rngs=rngs)
        self.head = nnx.Linear(3, 1, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, deterministic=True, rngs=rngs)
        self.scale = 2.0

    def __call__(self, x):
        return self.dropout(self.head(self.encoder(x))) * self.scale


net = Net(nnx.Rngs(0))
x = jnp.ones((4, 2))


@jax.jit
def evaluated(x):
    return net(x).mean()


@jax.jit
def encoded(x):
    return net.encoder(x)


def mean_of(model, x):
    return model(x).mean()


@jax.jit
def helped(x):
    return mean_of(net, x)


@jax.jit
def scaled(x):
    return x * net.scale


@jax.jit
def merged(x):
    return nnx.merge(nnx.graphdef(net), state)(x)


state = nnx.state(net)


def all_of_them():
    for f in (evaluated, encoded, helped, scaled, merged):
        f(x)


def moved(layer):
    nnx.update(layer, jax.tree.map(lambda array: array + 1.0, nnx.state(layer)))


# Calls 1 to 5, and three times five more: one of the two layers is moved, the other one, and none.
all_of_them()
moved(net.encoder)
all_of_them()
moved(net.head)
all_of_them()
all_of_them()
# Calls 21 to 25: what is there again is as good as it was before.
nnx.update(net.head, jax.tree.map(jnp.array, nnx.state(net.head)))
all_of_them()
# Calls 26 to 30: layers that are told to train.
net.train()
all_of_them()
