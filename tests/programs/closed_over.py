"""Functions that are jitted anew, each over something else: functions in a tuple, and what a partial is given."""

import functools

import jax
import jax.numpy as jnp


def train(hooks):
    @jax.jit
    def step(w):
        for hook in hooks:
            w = hook(w)
        return w

    return step(jnp.ones(3))


def loss(w, x, rate=0.1):
    return ((x @ w) ** 2).mean() + rate * (w**2).sum()


train((jnp.tanh,))
train((jnp.tanh, jnp.sin))

x, w = jnp.ones((4, 3)), jnp.ones(3)
given_both = [jax.jit(functools.partial(loss, x=x, rate=rate)) for rate in (0.1, 0.2)]
for function in given_both:
    function(w)
for rate in (0.1, 0.2):
    jax.jit(functools.partial(loss, rate=rate))(w, x)
