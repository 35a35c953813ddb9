"""One optimizer, created outside of the loop."""

import equinox as eqx
import jax.numpy as jnp
import optax


@eqx.filter_jit
def make_step(params, state, grads, optimizer):
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


optimizer = optax.sgd(0.1, momentum=0.9)
params = jnp.zeros(3)
state = optimizer.init(params)
for _ in range(4):
    params, state = make_step(params, state, jnp.ones(3), optimizer)
print(params)
