"""Loops outside of jit whose carry starts as a Python number and comes out as an array of another dtype."""

import jax
import jax.numpy as jnp

xs = jnp.arange(3.0)


def add(i, total):
    return total + xs[i]


def grow(carry):
    return carry[0] * 1.5, carry[1] + 1


def is_small(carry):
    return carry[1] < 5


def count(carry, x):
    return (carry[0] + x, carry[1] + 1), x


def narrow(carry, x):
    return carry + x.astype(jnp.int8), x


total = 0
for _ in range(3):
    total = jax.lax.fori_loop(0, 3, add, total)
print(total, *(jax.lax.fori_loop(0, 3, add, start) for start in (0, 0.0, jnp.float32(0))))

carry = (1, 0)
for _ in range(3):
    carry = (jax.lax.while_loop(is_small, grow, carry)[0], 0)
print(carry)

carry = (0, jnp.int32(0))
for _ in range(3):
    carry, _ = jax.lax.scan(count, carry, xs)
print(carry, jax.lax.scan(count, (0, jnp.int32(0)), xs)[0])

carry = 0
for _ in range(3):
    carry, _ = jax.lax.scan(narrow, carry, xs)
print(carry, carry.dtype)


def failing(carry, x):
    if carry.dtype == jnp.float32 and is_failing:
        raise ValueError("not yet")
    return carry, x


is_failing = True
for start in (1.0, 1.0, 1.0, 1, 1):
    try:
        print(jax.lax.scan(failing, start, xs))
    except ValueError as error:
        print(error)
    is_failing = False


def added(carry, x):
    return carry + x, carry


# What the body calls is traced with it, and no call of its own: the jaxpr is that of the call before.
for start in (0.0, jnp.float32(0), 0, 0):
    jax.lax.scan(added, start, jnp.arange(5.0))
