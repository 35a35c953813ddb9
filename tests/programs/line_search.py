"""Optax's backtracking line search recompiles its while_loop each step."""

import jax
import jax.numpy as jnp
import optax


def loss(params):
    return jnp.sum((params - 3.0) ** 2)


optimizer = optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(max_backtracking_steps=15))
params = jnp.zeros(3)
state = optimizer.init(params)
for _ in range(3):
    value, grad = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(grad, state, params, value=value, grad=grad, value_fn=loss)
    params = optax.apply_updates(params, updates)
print(params)
