"""A Module that is created anew with a callable inside recompiles."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp


class Net(eqx.Module):
    w: jax.Array
    activation: Callable


def relu(x):
    return jnp.maximum(x, 0)


def make_net(w):
    return Net(w, lambda x: jnp.maximum(x, 0))


@eqx.filter_jit
def loss(net, x):
    return jnp.sum(net.activation(net.w * x))


for _ in range(3):
    print(loss(make_net(jnp.ones(3)), jnp.ones(3)))
