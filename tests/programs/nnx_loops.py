"""Loops of flax.nnx outside of jit: each gives a loop of jax an object of its own, which says that it stands around the user's
function and takes other arguments than that."""

import jax
import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x):
        return nnx.gelu(self.linear(x))


class Count(nnx.Module):
    def __init__(self):
        self.n = nnx.BatchStat(jnp.zeros(()))


@nnx.split_rngs(splits=5)
@nnx.vmap(in_axes=(0,), out_axes=0)
def create(rngs):
    return Block(rngs)


@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
def forward(x, block):
    return block(x)


@nnx.scan(in_axes=nnx.Carry, out_axes=nnx.Carry, length=3)
def counted(count):
    count.n.value += 1
    return count


def halved(state):
    block, x = state
    return block, block(x) / 2


blocks, one, count = create(nnx.Rngs(0)), Block(nnx.Rngs(1)), Count()
for size in (1, 1, 2):
    x = jnp.ones((size, 3))
    print(forward(x, blocks).shape)
    print(counted(count).n.value)
    print(nnx.while_loop(lambda state: jnp.abs(state[1]).sum() > 1, halved, (one, x))[1].shape)
    print(nnx.fori_loop(0, 3, lambda _, state: halved(state), (one, x))[1].shape)
    print(nnx.cond(x.sum() > 4, lambda block, x: block(x), lambda block, x: x, one, x).shape)
