"""Jitted functions that loops of jax.lax and calls have in common, and loops over arrays that are deleted."""

import jax
import jax.numpy as jnp

start, rows = jnp.float32(0), jnp.arange(4.0)


@jax.jit
def total(carry, x):
    return carry + x, x


@jax.jit
def doubled(x):
    return x * 2


@jax.jit
def less(x):
    return x - 1


# What is called first leaves its jaxpr to the others.
total(start, rows[0])
for more in (rows, rows, jnp.arange(5.0)):
    print(jax.lax.scan(total, start, more)[0])
print(jax.lax.cond(True, doubled, less, start), doubled(start), less(start))
print(jax.lax.switch(1, [doubled, less], start), jax.lax.map(doubled, rows))
print(jax.lax.cond(False, less, doubled, rows), doubled(rows), jax.lax.map(doubled, jnp.ones((3, 4))))
jax.clear_caches()
print(jax.lax.map(less, jnp.ones((2, 4))), less(rows), jax.lax.map(less, jnp.ones((3, 4))))

deleted = jnp.ones(4)
deleted.delete()


def kept(carry, x):
    return carry + x, x


def smaller(x):
    return x.sum() < 3


def more_of(x):
    return x + 1


for call in (
    lambda: jax.lax.scan(kept, start, deleted),
    lambda: jax.lax.scan(kept, start, deleted),
    lambda: jax.lax.scan(kept, start, rows),
    lambda: jax.lax.scan(kept, start, deleted),
    lambda: jax.lax.while_loop(smaller, more_of, deleted),
    lambda: jax.lax.while_loop(smaller, more_of, rows),
    lambda: jax.lax.while_loop(smaller, more_of, deleted),
    lambda: jax.lax.cond(True, more_of, more_of, deleted),
    lambda: jax.lax.map(more_of, deleted),
):
    try:
        print(call())
    except RuntimeError as error:
        print(type(error).__name__)
