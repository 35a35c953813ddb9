"""Calls of two kinds in turns: what the one left says little of a miss of the other."""

from functools import partial

import jax
import jax.numpy as jnp


def run(f, x):
    def cond(c):
        return c < 3

    def body(c):
        return f(c)

    return jax.lax.while_loop(cond, body, x)


def add_one(c):
    return c + 1


def add_two(c):
    return c + 2


for _ in range(2):
    run(add_one, 1.0)
    run(add_two, jnp.asarray(1.0))


# Only one of its programs uses the state.
@partial(jax.jit, static_argnames="updates")
def step(count, rate, updates):
    return count + 1, jnp.sin(rate) if updates else 0.0


count = 1
for updates in (True, False, True):
    count, _ = step(count, 0.5, updates)


@jax.jit
def train(state, x):
    a, b, c = state
    return (a * jnp.float32(1), b * jnp.float32(1), c + a), x.sum()


state = (jnp.array(1.0), jnp.array(1.0), jnp.array(0.0))
for size in (8, 4, 8):
    state, _ = train(state, jnp.ones(size))
