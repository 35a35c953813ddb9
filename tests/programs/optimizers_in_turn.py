"""Two optimizers that are made once, and one function that both are given in turn; and one that is made anew from a schedule."""

import functools

import jax
import jax.numpy as jnp
import optax


@functools.partial(jax.jit, static_argnums=0)
def update(optimizer, params, state):
    updates, state = optimizer.update(params, state, params)
    return optax.apply_updates(params, updates), state


generator, critic = optax.adam(1e-3), optax.adam(2e-3)
params = jnp.ones(3)
states = {generator: generator.init(params), critic: critic.init(params)}
for _ in range(2):
    for optimizer in (generator, critic):
        params, states[optimizer] = update(optimizer, params, states[optimizer])

schedule = optax.cosine_decay_schedule(1e-3, 8)
for _ in range(2):
    optimizer = optax.sgd(schedule)
    params, _ = update(optimizer, params, optimizer.init(params))
print(params)
