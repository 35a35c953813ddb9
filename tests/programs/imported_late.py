"""A module that is imported where it is needed first, and a context that is made there."""

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x * 2)
x, longer = jnp.ones(3), jnp.ones(4)


def body(carry, _):
    return carry + 1, None


def run():
    step(x)
    jax.lax.scan(body, x, None, 3)


run()
run()
import flax  # noqa: E402, F401

run()
step(longer)
run()
if hasattr(jax, "make_user_context"):
    stage = jax.make_user_context(None)
    run()
    with stage("warm-up"):
        run()
    run()
