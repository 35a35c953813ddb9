"""Arrays that the program deletes, and passes again."""

import jax
import jax.numpy as jnp

doubled = jax.jit(lambda x: x * 2)
deleted = jnp.ones(4)
deleted.delete()
for x in (deleted, jnp.ones(4), deleted, deleted, jnp.ones(4), jnp.ones(5)):
    try:
        print(doubled(x))
    except RuntimeError as error:
        print(type(error).__name__)
