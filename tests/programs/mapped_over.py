"""A jitted function that is mapped over batches outside of any jit: each number of rows is compiled, though nothing is traced."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def score(x):
    return jnp.sin(x).sum()


for rows in (2, 2, 3, 4, 2):
    jax.vmap(score)(jnp.ones((rows, 3)))
# Each of these is another program, and compiles once.
for _ in range(2):
    jax.vmap(jax.grad(score))(jnp.ones((2, 3)))
    jax.grad(score)(jnp.ones(3))

total = jax.jit(lambda x: x.sum())
total(jnp.ones(3)), total(jnp.ones(4))
# What is given another row is another program for each number of them.
for shape in ((2, 3), (5, 4), (2, 4)):
    jax.vmap(total)(jnp.ones(shape))
# A number of rows can be NumPy's.
jax.vmap(score, axis_size=np.int64(7))(jnp.ones((7, 3)))
