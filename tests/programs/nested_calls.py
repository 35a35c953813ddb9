"""Jitted functions that are called inside of traces first, and by themselves later; a function that is compiled ahead of time."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp


@jax.jit
def double(x):
    return 2 * x


@functools.partial(jax.jit, static_argnames="power")
def raised(tree, power=2):
    return jax.tree.map(lambda leaf: leaf**power, tree)


class Scale(eqx.Module):
    weight: jax.Array
    sign: int = eqx.field(static=True, default=1)

    def __call__(self, x):
        return self.sign * self.weight * x


@eqx.filter_jit
def applied(model, x):
    return model(x)


@jax.jit
def outer(x):
    for _ in range(5):
        x = double(x)
    return raised({"a": x, "b": [x, 1.0]}, power=3)["a"]


def loss(model, x):
    return jnp.sum(applied(model, double(x)))


step = jax.jit(jax.grad(loss))
ints, floats = jnp.arange(5), jnp.ones(4)
print(outer(ints), outer(floats))
print(double(ints), double(floats), raised({"a": floats, "b": [floats, 1.0]}, power=3)["b"])
model = Scale(jnp.float32(3))
print(step(model, floats).weight, applied(model, floats), applied(Scale(jnp.float32(3), -1), floats))
print(jax.vmap(double)(jnp.ones((2, 7))), double(jnp.ones(7)))
scanned = jax.jit(lambda x: jax.lax.scan(lambda carry, y: (double(carry), raised(y)), x, jnp.ones((3, 2))))
print(scanned(1.0)[0], double(1.0), raised(jnp.ones(2)))
ahead = jax.jit(lambda x: x + 1)
print(ahead.lower(floats).compile()(floats), ahead(floats))
print(jax.eval_shape(double, jnp.ones((4, 4))), double(jnp.ones((4, 4))).shape)
traced = double.trace(jnp.ones(8)).lower()
print(double(jnp.ones(8))[0], traced.compile()(jnp.ones(8))[0], double(jnp.ones(8))[0])
print(ahead.trace(jnp.ones(9)).lower().compile()(jnp.ones(9))[0], ahead(jnp.ones(9))[0])
applied.lower(model, jnp.ones(9)), applied.lower(model, jnp.ones(10)).compile()
print(applied(model, jnp.ones(9))[0], applied(model, jnp.ones(10))[0])
less, more = jax.jit(lambda x: x - 1), jax.jit(lambda x: x + 1)
print(less(floats), more(floats), jax.jit(lambda x: x - 2)(floats))
# Partials of what is jitted share what it was traced to.
added = jax.jit(lambda x, y: x + y)
print(added(1.0, 2.0))
for first in (1.0, 1.0, 1, jnp.ones(2)):
    print(jax.jit(functools.partial(added, first))(2.0), jax.jit(functools.partial(added, y=first))(2.0))
