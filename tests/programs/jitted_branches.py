"""Loops and conditionals over functions that are jitted themselves, in a program that jits nothing else: one's jaxpr serves another."""

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def up(x):
    return x + 1


@jax.jit
def down(x):
    return x - 1


def twice(x):
    return x * 2


x, rows = jnp.ones(3), jnp.ones((4, 3))
for first, last in ((up, down), (jnp.sin, jnp.cos), (up, twice)):
    lax.cond(True, first, last, x)
    lax.switch(0, [last, first], x)
    lax.switch(0, [last, first], x)
    lax.map(first, rows)
    lax.map(first, rows)
lax.while_loop(lambda x: x.sum() < 9, up, x)
