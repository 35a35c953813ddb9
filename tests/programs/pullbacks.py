"""What jax.vjp and jax.linearize return, given to jitted functions: made outside of jit, each is another key."""

import functools

import jax
import jax.numpy as jnp


def predict(w, x):
    return jnp.tanh(x @ w)


@jax.jit
def apply(fn, x):
    return fn(x)


w, x = jnp.ones((3, 3)), jnp.ones((2, 3))
for _ in range(3):
    y, pull = jax.vjp(lambda w: predict(w, x), w)
    print(apply(pull, y)[0].sum())
for _ in range(3):
    y, push = jax.linearize(lambda w: predict(w, x), w)
    print(apply(push, w).sum())

# Those of a jitted function are the same as long as it hits.
pulled = jax.jit(lambda w: jax.vjp(lambda w: predict(w, x), w))
for _ in range(3):
    y, pull = pulled(w)
    print(apply(pull, y)[0].sum())

# Partials of functions are compared as these are, and those of functools by identity.
total = functools.partial(jnp.sum, axis=0)
for _ in range(2):
    print(apply(jax.tree_util.Partial(predict, w), x).sum(), apply(jax.tree_util.Partial(total), x).sum())
