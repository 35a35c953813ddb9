"""A loop, a checkpoint and a jit inside that meet a dict whose keys are equal and print otherwise; a Module with a field that is set in
some instances; a node that holds one array twice; a class that asks jax as it is made again; dtypes by name; and an enum of texts."""

import dataclasses
import enum
import functools

import equinox as eqx
import jax
import jax.numpy as jnp


def double(carry, _=None):
    return jax.tree.map(lambda leaf: leaf * 2, carry), None


x = jnp.ones(3)
for carry in ({1: x}, {True: x}, {1: x}):
    jax.lax.scan(double, carry, None, length=2)

kept = jax.jit(double)
for carry in ({1: x}, {True: x}, {1.0: x}):
    jax.jit(lambda carry: kept(carry))(carry)
    jax.jit(jax.checkpoint(double))(carry)


class Model(eqx.Module):
    linear: jax.Array
    norm: jax.Array | None = None
    name: str = eqx.field(static=True, default="plain")

    def __init__(self, width, normed=False):
        self.linear = jnp.ones(width)
        if normed:
            self.norm = jnp.ones(width)
            self.name = "normed"


@eqx.filter_jit
def run(model, x):
    return x * model.linear if model.norm is None else x * model.linear * model.norm


for normed in (False, True, False):
    run(Model(3, normed), x)


@jax.tree_util.register_pytree_node_class
class State:
    def __init__(self, params, target):
        self.params, self.target = params, target

    def tree_flatten(self):
        return (self.params, self.target), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@jax.jit
def update(state):
    return state.params.sum() - state.target.sum()


update(State(x, x))
update(State(x, jnp.ones(2)))


@dataclasses.dataclass(frozen=True)
class Scale:
    value: jax.Array

    def __post_init__(self):
        if isinstance(self.value, jax.Array):
            jax.eval_shape(lambda: self.value)


jax.tree_util.register_dataclass(Scale, ["value"], [])

@jax.jit
def halve(scale):
    return Scale(scale.value * 0.5)


scale = Scale(jnp.float32(8.0))
for _ in range(4):
    scale = halve(scale)


@functools.partial(jax.jit, static_argnames="dtype")
def cast(x, dtype):
    return x.astype(dtype)


def scale(by, x):
    return x * by


scaled = functools.update_wrapper(jax.jit(functools.partial(scale, 2.0)), scale)
summed = functools.wraps(double)(jax.jit(lambda x: jnp.sum(x)))
for _ in range(2):
    scaled(x)
    summed(x)


cast(x, dtype=jnp.float32)
cast(x, dtype="bfloat16")
cast(x, dtype="float32")


class Part(str, enum.Enum):
    KERNEL = "kernel"


for key in ("kernel", Part.KERNEL, "kernel"):
    jax.lax.scan(double, {key: x}, None, length=2)
