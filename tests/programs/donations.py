"""Arrays that were given away or deleted, and are passed again: what raises, and what is found afterwards."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def added(x, y):
    return x + y


@functools.partial(jax.jit, donate_argnums=0)
def step(state, i):
    return {"a": state["a"] + i, "b": state["b"]}


@eqx.filter_jit(donate="all")
def moved(state):
    return jax.tree_util.tree_map(lambda x: x + 1, state)


doubled = jax.jit(lambda x: x * 2)
first = eqx.filter_jit(lambda state: state["a"] * 2)


def attempt(function, *args):
    try:
        print(function(*args))
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__)


x, y = jnp.ones(3), jnp.ones(3)
attempt(doubled, y)
added(x, y)
# Given away, where it was found before and where nothing was.
attempt(added, x, y)
attempt(doubled, x)
attempt(doubled, x)
attempt(doubled, y)
attempt(doubled, jnp.ones(2))
attempt(jax.jit(lambda x: x * 3), x)

state = {"a": jnp.ones(2), "b": jnp.zeros(2)}
new = step(state, 1.0)
attempt(step, state, 1.0)
new = step(new, 1.0)
attempt(first, state)
attempt(first, new)
attempt(first, state)
moved(new)
attempt(moved, new)
attempt(first, new)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def both(x, y):
    return x + y, y


# One array in two places can't be given twice.
x, y = jnp.ones(5), jnp.ones(5)
attempt(both, x, x)
attempt(both, x, y)
attempt(both, x, jnp.ones(5))


class Trainer:
    # Some versions of jax count these without the static ones, and keep the names of all.
    @functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=(1, 3))
    def update(self, x, by, y):
        return x * by, y + by


trainer, pair = Trainer(), (jnp.ones(3), jnp.ones(2))
for _ in range(3):
    pair = trainer.update(pair[0], 2, pair[1])
attempt(doubled, pair[0])


@functools.partial(jax.jit, donate_argnums=0)
def train(state, x):
    return {"w": state["w"] - x.mean(), "n": state["n"] + 1}


@jax.jit
def metrics(state, x):
    """Reads of the old state what is there."""
    return x.sum() * state["n"]


state = {"w": jnp.ones(3), "n": jnp.zeros(())}
old = {"w": state["w"], "n": jnp.zeros(())}
for _ in range(3):
    state = train(state, jnp.ones(3))
    attempt(metrics, old, jnp.ones(3))
attempt(metrics, state, jnp.ones(3))
attempt(metrics, old, jnp.ones(4))


class Decay(eqx.Module):
    rate: jax.Array

    def step(self, x):
        return x * 1, self.rate * 2


# What a method that is jitted is called with goes as well; an array that both have goes once.
method = eqx.filter_jit(Decay(jnp.ones(3)).step, donate="all")
method(jnp.ones(3))
attempt(method, jnp.ones(3))
rate = jnp.ones(3)
attempt(eqx.filter_jit(Decay(rate).step, donate="all"), rate)
