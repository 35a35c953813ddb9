"""What a caller looks for inside of: objects that hold what differs, arrays of other classes, and functions that stand around others.

Each call that compiles again says by its path what differs.
"""

import dataclasses
import functools
import os
import tempfile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx


# Static objects are taken apart, whether or not they are frozen, and can be called.
@dataclasses.dataclass(unsafe_hash=True)
class Optim:
    rate: float = 0.1


@dataclasses.dataclass(unsafe_hash=True)
class Config:
    optim: Optim = dataclasses.field(default_factory=Optim)
    depth: int = 2


class Net(linen.Module):
    width: int = 2

    @linen.compact
    def __call__(self, x):
        return linen.Dense(self.width)(x)


x = jnp.ones((1, 3))
configured = jax.jit(lambda x, config: x * config.optim.rate, static_argnames="config")
for config in (Config(), Config(), Config(Optim(0.2))):
    configured(x, config=config)
params = Net().init(jax.random.PRNGKey(0), x)
applied = jax.jit(lambda net, x: net.width * x, static_argnums=0)
for net in (Net(), Net(), Net(3)):
    applied(net, x)


# The attributes of an nnx.Module, in each way that flax has written them down.
class Counted(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(3, 3, rngs=rngs)
        self.mode = "train"

    def __call__(self, x):
        return self.inner(x)


@nnx.jit
def forward(module, x):
    return module(x)


module = Counted(nnx.Rngs(0))
for mode in ("train", "train", "eval"):
    module.mode = mode
    forward(module, x)

# An array of another class is an array, and a complex number has no dimensions.
total = jax.jit(lambda tokens, scale: (tokens * scale).sum())
with tempfile.TemporaryDirectory() as folder:
    np.arange(64, dtype=np.int32).tofile(os.path.join(folder, "tokens"))
    tokens = np.memmap(os.path.join(folder, "tokens"), dtype=np.int32, mode="r")
    for length in (8, 8, 4):
        total(tokens[:length], np.complex64(1j))
    del tokens
total(np.asmatrix(np.ones((2, 2), np.int32)), np.complex64(2j))


# Arguments are called as by the function that another one stands around.
def logged(function):
    @functools.wraps(function)
    def log(*args, **kwargs):
        return function(*args, **kwargs)

    return log


@jax.jit
@logged
def step(weights, batch):
    return weights * batch


step(jnp.ones(2), jnp.ones(2))
step(jnp.ones(2), jnp.ones(1))

# A node without keys of its own holds its children in attributes; one that holds an object twice doesn't say which is which.
@jax.tree_util.register_pytree_node_class
class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left, self.right = left, right

    def tree_flatten(self):
        return (self.left, self.right), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def shifted(by, x, scale):
    return x * scale + by


run = jax.jit(lambda f, x: f(x))
take = jax.jit(lambda it: 0)
for length in (2, 1):
    run(jax.tree_util.Partial(shifted, jnp.ones(length), scale=jnp.ones(2)), jnp.ones(2))
    take(Pair(jnp.ones(2), [jnp.ones(length)]))
    same = jnp.ones(length)
    take({"pair": Pair(same, same)})


class Noted(eqx.Module):
    index: eqx.nn.StateIndex

    def __init__(self, length):
        self.index = eqx.nn.StateIndex(jnp.zeros(length))


stateful = eqx.filter_jit(lambda state: 0)
for length in (2, 3):
    stateful(eqx.nn.make_with_state(Noted)(length)[1])

# A loop over batches is one of jax.lax's like any other.
if jax.__version_info__ >= (0, 4, 31):
    jax.lax.map(jnp.sin, jnp.arange(4.0), batch_size=2)

# Bound methods of objects that are made anew are functions that are made anew.
for _ in range(3):
    jax.jit(Net().init)(jax.random.PRNGKey(0), x)

# What jax makes as the program runs is the program's function.
jax.jit(jax.nn.initializers.normal(), static_argnums=1)(jax.random.PRNGKey(0), (2, 3))
print("done")
