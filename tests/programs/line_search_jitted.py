"""Inside of jit the line search compiles twice, because its first state is weakly typed."""

import jax
import jax.numpy as jnp
import optax


def loss(params):
    return jnp.sum((params - 3.0) ** 2)


optimizer = optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(max_backtracking_steps=15))


@jax.jit
def step(params, state):
    value, grad = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(grad, state, params, value=value, grad=grad, value_fn=loss)
    return optax.apply_updates(params, updates), state


params = jnp.zeros(3)
state = optimizer.init(params)
for _ in range(3):
    params, state = step(params, state)
print(params)
