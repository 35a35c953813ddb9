"""The optimizer is initialised with what has a gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Model(eqx.Module):
    w: jax.Array
    steps: jax.Array


optimizer = optax.sgd(0.1, momentum=0.9)


@eqx.filter_jit
def make_step(model, opt_state, x):
    grads = eqx.filter_grad(lambda model: jnp.sum(model.w * x))(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


model = Model(jnp.zeros(3), jnp.zeros((), jnp.int32))
opt_state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for _ in range(4):
    model, opt_state = make_step(model, opt_state, jnp.ones(3))
print(model.w)
