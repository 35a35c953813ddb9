"""Optimizers, modules, derivatives and numbers that libraries make of what the program gives them, which is another one later."""

import functools

import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

x = jnp.ones(2)
tx = optax.sgd(0.1)


class Agent:
    def __init__(self):
        self.tx, self.round = optax.sgd(0.1), 0

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, p):
        # What is raised before the context isn't caught by it.
        assert p.ndim == 1, f"in round {self.round}"
        with jax.named_scope("step"):
            return self.tx.update(p, self.tx.init(p))[0]


@jax.jit
def step(p):
    return tx.update(p, tx.init(p))[0]


agent = Agent()
agent.step(x)
step(x)
# One of the same settings does the same.
tx = agent.tx = optax.sgd(0.1)
agent.round = 1
agent.step(x)
step(x)
tx = agent.tx = optax.sgd(0.5)
agent.step(x)
step(x)

clip = 0.5


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -clip, clip),))


@jax.jit
def slope(x):
    return jax.grad(lambda x: jnp.sum(3 * clipped(x)))(x)


slope(x)
clip = 0.01
slope(x)


class Policy:
    def __init__(self):
        self.compute, self.stored = jnp.float32, np.dtype("float32")


policy = Policy()


@jax.jit
def cast(x):
    return x.astype(policy.compute).astype(policy.stored)


cast(x)
policy.compute, policy.stored = jnp.bfloat16, np.dtype("int32")
cast(x)


class Config:
    cap = 1.0


class Capped(nnx.Module):
    def __init__(self, config):
        self.config, self.inner = config, nnx.Linear(2, 2, rngs=nnx.Rngs(0))

    def __call__(self, x):
        return self.config.cap * self.inner(x)


@nnx.jit
def apply(model, x):
    return model(x)


@nnx.jit
def cap_of(model, x):
    return x * model.config.cap


model = Capped(Config())
apply(model, x)
cap_of(model, x)
model.config.cap = 5.0
apply(model, x)
cap_of(model, x)


class Settings(flax.struct.PyTreeNode):
    w: jax.Array
    config: object = flax.struct.field(pytree_node=False)


# A mapping of flax's is equal to a dict.
scale = jax.jit(lambda s: s.w * s.config["g"])
scale(Settings(x, flax.core.FrozenDict(g=0.5)))
scale(Settings(np.ones(2, np.float32), {"g": 0.5}))
