"""Parameters over eight devices, a state that gets its sharding late, shardings that are asked for, a mesh around a call."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))


def over(*spec):
    return NamedSharding(mesh, PartitionSpec(*spec))


params = {
    "w1": jax.device_put(np.ones((8, 16), np.float32), over(None, "model")),
    "w2": jax.device_put(np.ones((16, 4), np.float32), over("model", None)),
}
optimizer = optax.adam(1e-3)
state = jax.jit(optimizer.init)(params)


def loss(params, x):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"]) ** 2)


@partial(jax.jit, donate_argnums=(0, 1), static_argnames="clip")
def step(params, state, x, *, clip=1.0):
    value, grads = jax.value_and_grad(loss)(params, x)
    grads = jax.tree.map(lambda grad: jnp.clip(grad, -clip, clip), grads)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


for _ in range(5):
    params, state, value = step(params, state, jax.device_put(np.ones((16, 8), np.float32), over("data", None)))
print(float(value))
shardings = {"w1": over(None, "model"), "w2": over("model", None)}
evaluate = jax.jit(loss, in_shardings=(shardings, over("data")), out_shardings=over())
for n in (16, 8):
    print(evaluate(params, np.ones((n, 8), np.float32)))
# A wrapper with other shardings of the leaves is another, and a prefix of a tree serves all that is below it.
for where in ({"w1": over(), "w2": over()}, {"w1": over("data"), "w2": over()}, over()):
    evaluate = jax.jit(loss, in_shardings=(where, over("data")), out_shardings=over())
    for _ in range(2):
        print(evaluate(jax.device_get(params), np.ones((16, 8), np.float32)))
placed = jax.jit(lambda pair: {"x": pair[0][0], "y": pair[1]}, in_shardings=((over("data"), over()),), out_shardings={"x": over(), "y": None})
placed(([np.ones(8), np.ones(16)], np.ones(8)))
placed(([np.ones(8), np.ones(16)], np.ones(8)))
total = jax.jit(jnp.sum, in_shardings=over("data"))
print(total(np.ones((8, 8), np.float32)), total(np.ones((8, 8), np.float32)))
with mesh:
    print(jax.jit(lambda x: x.sum())(params["w1"]))
