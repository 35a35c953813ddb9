"""Parameters that are made where they are to be: what a body returns has other shapes than what it is given."""

import functools
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))


def over(*axes):
    return NamedSharding(mesh, PartitionSpec(*axes))


def init(sizes, key):
    return {"w": jax.random.normal(key, (sizes["width"], 8)), "b": jnp.zeros(sizes["width"])}


class Model:
    def init(self, key):
        return jax.random.normal(key, (8, 8))


noise = jax.jit(lambda key: jax.random.normal(key, (8, 4)), out_shardings=over("data"))
for key in (jax.random.key(0), jax.random.key(1), jax.random.PRNGKey(0)):
    print(noise(key).sharding.spec)
for width in (4, 8):
    made = jax.jit(functools.partial(init, {"width": width}), out_shardings={"w": over("data", "model"), "b": over()})
    print(made(jax.random.PRNGKey(0))["w"].shape)
print(jax.jit(Model().init, out_shardings=over("data"))(jax.random.key(0)).shape)
pair = jax.jit(lambda w, x: (w.sum(), x), out_shardings=(None, over("data")))
print([pair(jnp.ones((3, 3)), jnp.ones(size))[1].shape for size in (8, 4, 8)])
