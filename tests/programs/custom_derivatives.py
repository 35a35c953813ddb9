"""Jitted functions and loops under functions with derivatives of their own, called eagerly: jax gives them literals of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp

x = jnp.ones(2)


def with_derivative(function):
    made = jax.custom_jvp(function)
    made.defjvp(lambda primals, tangents: (made(*primals), tangents[-1]))
    return made


scaled = jax.jit(lambda rate, x: rate * x)
outer = with_derivative(lambda rate, x: scaled(rate, x))
for rate in (0.1, jnp.asarray(0.3), 1, True, 1j):
    print(outer(rate, x))
    print(scaled(rate, x))

filtered = eqx.filter_jit(lambda rate, x: rate * x)
outer = with_derivative(lambda rate, x: filtered(rate, x))
for rate in (0.1, 0.1, 0.2, 1):
    print(outer(rate, x))
    print(filtered(rate, x))


@jax.custom_vjp
def run(start, rate):
    return jax.lax.while_loop(lambda state: state[0] < 1.0, lambda state: (state[0] + 1.0, state[1]), (start, rate))


run.defvjp(lambda start, rate: (run(start, rate), None), lambda _, cotangents: cotangents)
for rate in (0.1, jnp.array(0.3), jnp.float32(0.3)):
    print(run(jnp.zeros(()), rate))

static = jax.jit(lambda rate, x: rate * x, static_argnums=0)
outer = with_derivative(lambda rate, x: static(rate, x))
for rate in (0.1, 2):
    print(outer(rate, x), static(rate, x))
