"""What a function reads as a whole is another one later, of which one setting is another: that is said by its path."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import nnx

x = jnp.ones((3, 4))
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
rate = optax.linear_schedule(0.0, 1.0, 10)
clip = functools.partial(jnp.clip, min=0, max=3)
config = {"net": {"width": 3, "act": jax.nn.relu}, "name": "run"}
acts = {"relu": jax.nn.relu, "tanh": jnp.tanh}
mlp = eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0))
scale = 1.0


class Net(nnx.Module):
    def __init__(self):
        self.first = nnx.Linear(4, 8, rngs=nnx.Rngs(0))
        self.drop = nnx.Dropout(0.5, deterministic=True, rngs=nnx.Rngs(1))

    def __call__(self, x):
        return self.drop(self.first(x))


net = Net()


@jax.jit
def step(p):
    return tx.update(p, tx.init(p))[0]


@jax.jit
def at_rate(x):
    return rate(3) * x


@jax.jit
def clipped(x):
    return clip(x)


@jax.jit
def widened(x):
    return sum(v for v in config["net"].values() if isinstance(v, int)) * x


@jax.jit
def activated(x, kind="tanh"):
    return acts[kind](x)


@jax.jit
def evaluated(x):
    return net(x)


@eqx.filter_jit
def model(x):
    return jax.vmap(mlp)(x)


@eqx.filter_jit
def inner(x):
    return x * scale


@eqx.filter_jit
def outer(x, n):
    return inner(x) + n


def run():
    for function in (step, at_rate, clipped, widened, activated, evaluated, model):
        function(x)


run()
# The same again is no other.
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))
run()
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
rate = optax.linear_schedule(0.0, 2.0, 10)
clip = functools.partial(jnp.clip, min=0, max=2)
config["net"]["width"] = 5
acts["tanh"] = jnp.sin
net.train()
mlp = eqx.tree_at(lambda m: m.layers[0].weight, mlp, mlp.layers[0].weight * 2)
run()
outer(x, 1)
scale = 2.0
outer(x, 2)
