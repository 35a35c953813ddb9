"""Calls that raise: what was traced before is kept, and nothing after it."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

devices = jax.devices()
x = np.ones(8, np.float32)


def refused(f, *args):
    try:
        f(*args)
    except ValueError as error:
        return str(error)
    raise AssertionError("it was taken")


def added(a, b):
    return a + b


# Calls 1 to 6.
for jit in (jax.jit, eqx.filter_jit):
    both = jit(added)
    refused(both, jax.device_put(x, devices[1]), jax.device_put(x, devices[2]))
    both(x, x)
    both(jax.device_put(x, devices[1]), jax.device_put(x, devices[1]))

# Calls 7 to 9: the body asks for devices that the argument isn't on.
mesh = Mesh(np.array(devices), ("d",))
split = NamedSharding(mesh, PartitionSpec("d"))
constrained = jax.jit(lambda a: jax.lax.with_sharding_constraint(a * 2, split))
constrained(x)
refused(constrained, jax.device_put(x, devices[2]))
constrained(x)


@jax.jit
def checked(a):
    if a.ndim > 1:
        raise ValueError("too many")
    return a * 2


# Calls 10 to 13: the body itself.
refused(checked, jnp.ones((2, 2)))
checked(x)
refused(checked, jnp.ones((2, 2)))
checked(x)

# Calls 14 to 19: jax's own functions, jitted more than once.
for made in (lambda: jax.jit(jnp.sin), lambda: jax.jit(jax.jit(jnp.sin)), lambda: jax.jit(jax.jit(jax.nn.relu))):
    for _ in range(2):
        made()(x)
