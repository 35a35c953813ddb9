"""Arguments that a program doesn't have, and what is refused, guarded or handed on: no key below the fast path has the first."""

import contextlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

x, here = jnp.ones(3), jax.devices()[0]


@jax.jit
def uses_some(x, state, key):
    return x + state["a"]


def at_home(value):
    return jax.device_put(value, here)


print(uses_some(x, {"a": x, "b": x}, x))
print(uses_some(x, {"a": x, "b": x}, at_home(x)))
print(uses_some(x, {"a": x, "b": at_home(x)}, x))
print(uses_some(x, {"a": at_home(x), "b": x}, x))
# What isn't there is read by nothing.
print(uses_some(x, {"a": x, "b": x}, 2**40 if jax.config.jax_enable_x64 else 7))



@jax.jit
def jits_inside(unused, step, key):
    return step + 1, jax.random.uniform(key)


# What lowering jits for the body is no program of the call's.
step, _ = jits_inside(x, 0, jax.random.key(0))
print(jits_inside(x, step, jax.random.key(0)))

kept = jax.jit(lambda x, y: x, keep_unused=True)
print(kept(x, x), kept(x, at_home(x)))


class Net(eqx.Module):
    """Has a leaf that isn't used."""

    w: jax.Array
    unused: jax.Array


def scale(net, x):
    return net.w * x


forward = eqx.filter_jit(scale)
print(forward(Net(x, x), x), forward(Net(x, at_home(x)), x), forward(Net(at_home(x), x), x))
# What it was lowered to is there, for another wrapper as well.
eqx.filter_jit(scale).lower(Net(x, x), x)


def plain(x):
    return x + 1


# Options that filter_jit hands on make another function; shardings of nothing make another one for the fast path.
for options in ({}, {"inline": True}, {"inline": True}, {"keep_unused": True}):
    print(eqx.filter_jit(plain, **options)(x))
print(jax.jit(plain)(x), jax.jit(plain, in_shardings=(None,))(x), jax.jit(plain, in_shardings=(None,))(x))


class Bad:
    """Its hash raises."""

    def __eq__(self, other):
        return isinstance(other, Bad)

    def __hash__(self):
        raise RuntimeError("no hash")


static = jax.jit(lambda x, by: x, static_argnums=1)
first = jax.jit(lambda x: 1)
refused = [
    lambda: static(x, Bad()),
    lambda: first(np.array(["a", "bc"])),
    lambda: first(np.array([b"xy"])),
    lambda: first(np.array([1, None])),
    lambda: first(np.zeros(2, np.longdouble)),
    lambda: first(np.zeros(2, [("a", "f4"), ("b", "i4")])),
    lambda: first(np.zeros(2, jax.dtypes.float0)),
    lambda: first(np.datetime64("2020-01-01", "s")),
]
guarded = jax.jit(lambda x: x + 1)
numbers = np.ones(2, np.float32)
print(guarded(numbers), guarded(x))
for call in refused:
    with contextlib.suppress(Exception):
        call()
with jax.transfer_guard("disallow"):
    for value in (numbers, x):
        with contextlib.suppress(Exception):
            guarded(value)
with jax.transfer_guard_host_to_device("disallow"), contextlib.suppress(Exception):
    guarded(np.ones(3, np.float32))
print(guarded(numbers))
# The wrapper's own eval_shape traces its function, statics and all.
sized = jax.jit(lambda x, n: x * n, static_argnums=1)
print(sized.eval_shape(x, 5), sized(x, 5), sized.eval_shape(x, 6), sized(x, 6))
