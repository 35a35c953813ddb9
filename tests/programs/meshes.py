"""Meshes of Auto and of Explicit axes: dimensions that are split over two axes, a function inside of another, jax.set_mesh, bare
PartitionSpecs as options, host memory."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


@jax.jit
def loss(w, x):
    return jnp.mean((x @ w) ** 2)


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


def train(mesh, around):
    def put(shape, *spec):
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    w, x = put((4, 4), None, "model"), put((8, 4), "data")
    with around:
        for _ in range(3):
            w = step(w, x)
        print(loss(w, x), loss(w, x), loss(put((4, 4)), put((8, 4), ("data", "model"))), loss(w, np.ones((8, 4), np.float32)))
        twice = jax.jit(lambda x: x * 2)
        for spec in (["data"], ["data", None], [("data",)], [("data", "model")], [("model", "data")], ["model"], []):
            print(twice(twice(put((8, 4), *spec))).sharding.spec)
    asked = jax.jit(lambda x: x + 1, in_shardings=NamedSharding(mesh, P("data")), out_shardings=NamedSharding(mesh, P("model")))
    print(asked(x).sharding.spec, asked(np.ones((8, 4), np.float32)).sharding.spec)


devices = np.array(jax.devices()).reshape(2, 2)
auto = Mesh(devices, ("data", "model"))
train(auto, nullcontext())
over = NamedSharding(auto, P("data"))
ahead = jax.jit(lambda x: x * 4)
ahead.lower(jax.ShapeDtypeStruct((8, 4), np.float32, sharding=over)).compile()
print(ahead(jax.device_put(np.ones((8, 4), np.float32), over)).sharding.spec)
chosen = jax.jit(lambda x, spec: jax.lax.with_sharding_constraint(x, NamedSharding(auto, spec)), static_argnums=1)
for spec in (P("data"), P("model"), P("data"), P(("data", "model"))):
    print(chosen(np.ones((8, 4), np.float32), spec).shape)
train(auto, auto)
# With a device, and no sharding, device_put leaves the mesh in the type.
evaluated = jax.jit(lambda x: x * 6)
spread = jax.device_put(np.ones((8, 4), np.float32), over)
for place in (jax.sharding.SingleDeviceSharding(jax.devices()[0]), *jax.devices()[1:3], over):
    print(evaluated(jax.device_put(spread, place)).sum())
if hasattr(jax, "set_mesh"):
    moved = jax.jit(lambda x: x * 5, in_shardings=over)
    print(moved(np.ones((16, 4), np.float32)).sharding.spec, moved(jnp.ones((16, 4))).sharding.spec)
    train(auto, jax.set_mesh(auto))
    explicit = Mesh(devices, ("data", "model"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    train(explicit, nullcontext())
    train(explicit, jax.set_mesh(explicit))
    placed = jax.jit(lambda x: x * 1, out_shardings=P("data"))
    for mesh in (auto, explicit):
        with jax.set_mesh(mesh):
            ones = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P()))
            print(placed(ones), placed(ones), placed(placed(ones)))
    same = jax.jit(lambda x: x)
    for kind in ("device", "pinned_host"):
        for place in (jax.sharding.SingleDeviceSharding(jax.devices()[0]), NamedSharding(auto, P("data"))):
            print(same(jax.device_put(np.ones(8, np.float32), place.with_memory_kind(kind))).sharding.memory_kind)
