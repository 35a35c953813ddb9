"""A size is a number of NumPy's or a tuple of it, which are equal to NumPy; a dict is given, and two with other factories."""

import collections
import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.partial(jax.jit, static_argnames="shape")
def filled(x, shape):
    return jnp.zeros(shape) + x


@functools.partial(jax.jit, static_argnames="shape")
def scaled(x, shape):
    return jnp.ones(shape) * x


@jax.jit
def total(d):
    return sum(d.values())


for shape in (np.int64(2),), np.int64(2):
    filled(1.0, shape=shape)
for shape in np.int64(2), (np.int64(2),):
    scaled(1.0, shape=shape)
for d in (collections.defaultdict(int), {}, collections.defaultdict(float)):
    d["a"] = 1.0
    total(d)
