"""Calls that the fast path serves, in turns with others that differ from them in one thing: a shape, a static value, what is read, what
surrounds the call."""

import functools
import threading
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Rates:
    def __init__(self):
        self.rate = 0.1
        self.names = {"a": 1}

    @staticmethod
    def times(x):
        return x * 2


class Holder(eqx.Module):
    x: jax.Array
    scale: Any = eqx.field(static=True)


class Scale:
    """Equal to each other one, and another each time."""

    def __init__(self, by):
        self.by = by

    def __eq__(self, other):
        return type(other) is Scale

    def __hash__(self):
        return 1


@eqx.filter_jit
def single(x, by):
    return x * by


@eqx.filter_jit
def scaled_by(x, scale):
    return x * scale.by


@eqx.filter_jit
def first_of(holder):
    return holder.x


rates, gain = Rates(), 2.0
step = jax.jit(lambda state, x: {"w": state["w"] * x, "n": state["n"] + 1})
weak = jax.jit(lambda x: x + 1)
powered = jax.jit(lambda x, n: x * n, static_argnums=1)
scaled = jax.jit(lambda x, scale: x * scale.by, static_argnames="scale")
read = jax.jit(lambda x: x * rates.rate * gain)
asked = jax.jit(lambda x: x * rates.names["a"])
given = jax.jit(lambda x: x + 1, donate_argnums=0)
filtered = eqx.filter_jit(lambda x, by, act: act(x) * by)
held = jax.jit(lambda holder: holder.x * holder.scale.by)
applied = jax.jit(functools.partial(lambda rates, x: x * rates.rate, rates))


@jax.tree_util.register_pytree_node_class
class Copied:
    """What flattens it calls a jitted function."""

    def __init__(self, x):
        self.x = x

    def tree_flatten(self):
        return (copied(self.x),), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


copied = jax.jit(lambda x: x + 0)


def attempt(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__)


x, y = jnp.ones(3), jnp.ones(4)
for _ in range(3):
    # Two entries that differ in one leaf, and a third by the structure.
    step({"w": x, "n": 0}, x)
    step({"w": x, "n": jnp.int32(0)}, x)
    step({"w": x, "n": 0, "more": x}, x)
    # By numbers and arrays of one dtype, and by weak types.
    weak(1.0), weak(jnp.float32(1)), weak(np.float32(1)), weak(np.ones((), np.float32)), weak(jnp.asarray(1.0)), weak(True), weak(1)
for n in (2, 2, True, 1, 1, 1.0, 2):
    powered(x, n)
for by in (1, 1, 2):
    scaled(x, scale=Scale(by))
for by in (1, 1, 2, 2):
    held(Holder(x, Scale(by)))
    scaled_by(x, Scale(by))
kept = [Scale(3), Scale(4)]
for scale in (kept[0], kept[0], kept[1], kept[0]):
    scaled(x, scale=scale)
    held(Holder(x, scale))
    scaled_by(x, scale)
for rate in (0.1, 0.1, 0.2, 0.2, 0.1):
    rates.rate = rate
    read(x), read(y), applied(x)
gain = 3.0
read(x), read(x)
asked(x), asked(x)
rates.names["a"] = 2
asked(x), asked(x)
rates = Rates()
read(x), read(x), asked(x)
for by in (1, 1, True, 1.0, 2, 1):
    filtered(x, by, jax.nn.relu)
    filtered(x, by, jnp.tanh)
for by in (1, 1, True, 1.0, 1):
    single(x, by)
# What is deleted, and what is given twice.
z = given(jnp.ones(3))
for _ in range(3):
    z = given(z)
gone = jnp.ones(3)
given(gone)
attempt(given, gone)
attempt(weak, gone)
gone = jnp.ones(3)
weak(gone), weak(gone)
gone.delete()
attempt(weak, gone), attempt(weak, gone)
# What surrounds the call.
with jax.default_matmul_precision("float32"):
    weak(x), weak(x)
weak(x)
jax.config.update("jax_enable_x64", True)
weak(x), weak(np.ones(3)), weak(x)
jax.config.update("jax_enable_x64", False)
weak(x), weak(x)
placed = jax.device_put(x, jax.devices()[0])
for _ in range(2):
    weak(placed), weak(x)
other = threading.Thread(target=lambda: [weak(placed), weak(x)])
other.start()
other.join()
weak.clear_cache()
weak(placed), weak(placed), weak(x), weak(placed)
jax.clear_caches()
weak(x), weak(x), step({"w": x, "n": 0}, x), step({"w": x, "n": 0}, x)
# Two wrappers of one function, which share their entries.
same = [jax.jit(attempt, static_argnums=0), jax.jit(attempt, static_argnums=0)]
for one in (*same, *same):
    one(jnp.sin, x), one(jnp.cos, x)
same = [jax.jit(Rates.times), jax.jit(Rates.times)]
same[0](x), same[1](y), same[1](y), same[1](x), same[1](y), same[0](y), same[0](x)
# Functions of one entry, which serves what is equal to it.
single_entry = [jax.jit(lambda x: x * 2) for _ in range(4)]
for given_to, values in zip(
    single_entry,
    (
        (np.ones(3), np.ones(3), np.ones(3, np.float32), np.ones(3)),
        (np.float32(1), np.ones((), np.float32), np.float32(2)),
        (1, 2, True, 3),
        (np.int64(1), np.int32(1), np.array(3), np.int64(2)),
    ),
    strict=True,
):
    for value in values:
        given_to(value)
for args, kwargs in (((x, 2), {}), ((x,), {"by": 2}), ((), {"by": 2, "x": x}), ((x, 2), {})):
    single(*args, **kwargs)
# What surrounds a call, and no trace context has.
drawn = jax.jit(lambda x: x + jax.random.normal(jax.random.PRNGKey(0), (3,)))
drawn(x), drawn(x)
jax.config.update("jax_default_prng_impl", "rbg")
drawn(x), drawn(x)
jax.config.update("jax_default_prng_impl", "threefry2x32")
drawn(x)
with jax.transfer_guard("log"):
    drawn(x), drawn(x)
# What is made while arguments are taken apart.
whole = jax.jit(lambda holder: holder.x)
for held_by in (x, x, y, x, y):
    whole(Copied(held_by))
# What is compared by an operation that nothing has run before.
for _ in range(3):
    first_of(Holder(x, jnp.arange(1, dtype=jnp.int8)))
# What is handed to Python and makes no entry.
keyed = jax.jit(lambda x: x[...])
keyed(x), keyed(x)
if hasattr(jax, "new_ref"):
    reference = jax.new_ref(jnp.ones(5))
    keyed(reference)
keyed(x), keyed(x)
# An entry under one thing that has no words.
for _ in range(3):
    jax.vmap(lambda x: weak(x) + weak(y[0]))(x)
    weak(x)
print("done")
