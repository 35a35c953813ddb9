"""A factory is given one optimizer after the other, and then the last one with another rate."""

import jax
import jax.numpy as jnp
import optax


def make_step(opt):
    @jax.jit
    def step(params, state):
        updates, state = opt.update(params, state, params)
        return optax.apply_updates(params, updates), state

    return step


for opt in (optax.sgd(0.1), optax.adam(0.1), optax.adam(0.2)):
    step = make_step(opt)
    params = jnp.ones(3)
    state = opt.init(params)
    for _ in range(2):
        params, state = step(params, state)
