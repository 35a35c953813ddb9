"""A recurrent network of equinox: a method that is jitted, gradients accumulated, a trainer for each learning rate."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Classifier(eqx.Module):
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear
    hidden: int = eqx.field(static=True)

    def __init__(self, key):
        cell, out = jax.random.split(key)
        self.hidden = 8
        self.cell = eqx.nn.GRUCell(2, 8, key=cell)
        self.out = eqx.nn.Linear(8, 1, key=out)

    def __call__(self, xs):
        last, _ = jax.lax.scan(lambda carry, x: (self.cell(x, carry), None), jnp.zeros(self.hidden), xs)
        return jax.nn.sigmoid(self.out(last))


@eqx.filter_value_and_grad
def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x)[:, 0] - y) ** 2)


class Trainer:
    def __init__(self, rate):
        self.optimizer = optax.MultiSteps(optax.adam(rate), 2)

    @eqx.filter_jit(donate="all")
    def step(self, model, state, x, y):
        value, grads = loss(model, x, y)
        updates, state = self.optimizer.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, value


@eqx.filter_jit
def sample(model, n: int, key):
    return jax.random.normal(key, (n,)) + jax.vmap(model)(jnp.ones((n, 5, 2)))[:, 0]


rng = np.random.default_rng(0)
for rate in (1e-2, 1e-3):
    model = Classifier(jax.random.PRNGKey(0))
    trainer = Trainer(rate)
    state = trainer.optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    for _ in range(4):
        model, state, value = trainer.step(model, state, jnp.asarray(rng.normal(size=(4, 5, 2))), jnp.zeros(4))
    print(float(value), float(eqx.filter_jit(loss)(model, jnp.ones((2, 5, 2)), jnp.zeros(2))[0]))
for n in (3, 4, 3):
    print(sample(model, n, jax.random.PRNGKey(n)).shape)
# The static part of a model as a static argument.
params, static = eqx.partition(model, eqx.is_array)
applied = jax.jit(lambda params, static, x: eqx.combine(params, static)(x), static_argnums=1)
other = eqx.partition(Classifier(jax.random.PRNGKey(1)), eqx.is_array)
print(applied(params, static, jnp.ones((5, 2))).shape, applied(*other, jnp.ones((5, 2))).shape)
