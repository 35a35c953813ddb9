"""What libraries make for a program: functions of three losses, copies, initializers, wrappers; and a function that is jitted anew
with other static arguments."""

import copy
import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

x = jnp.ones((2, 3))
net = nnx.Linear(3, 2, rngs=nnx.Rngs(0))

# Each is made once, and has a loss of its own.
losses = (lambda m, x: m(x).sum(), lambda m, x: (m(x) ** 2).sum(), lambda m, x: (m(x) ** 4).sum())
grads = [nnx.jit(nnx.grad(loss)) for loss in losses]
for grad in grads:
    grad(net, x)
    grad(net, x)

# A copy has copies of its functions, if these are objects.
mlp = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
forward = eqx.filter_jit(lambda m, x: jax.vmap(m)(x))
forward(mlp, x)
forward(copy.deepcopy(mlp), x)

# What jax makes is a function as any other.
draw = jax.jit(lambda init, key: init(key, (3,)), static_argnums=0)
for _ in range(2):
    draw(jax.nn.initializers.normal(0.02), jax.random.key(0))


def scaled(x, n):
    return x * n


jax.jit(scaled)(x, 2)
jax.jit(scaled, static_argnums=1)(x, 2)
jax.jit(scaled, static_argnames="n")(x, n=3)
jax.jit(scaled)(x, n=3)


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.5
    dtype: object = jnp.float32


@functools.partial(jax.jit, static_argnums=0)
def cast(config, x):
    return x.astype(config.dtype) * config.rate


cast(Config(), x)
cast(Config(rate=0.25), x)
cast(Config(dtype=jnp.dtype("float32")), x)
