"""Calls that are given what is equal to what an earlier one was given, and of another type: in statics, and in the data of nodes."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp

x = jnp.ones(3)


@eqx.filter_jit
def step(x, rate, shift):
    return x * rate + shift


step(x, 1, 2)
step(x, True, 2)
step(x, True, 2.0)


class Scaled(eqx.Module):
    """An array, and two numbers of the structure."""

    weight: jax.Array
    by: float = eqx.field(static=True)
    shift: float = eqx.field(static=True)


@eqx.filter_jit
def of_module(module):
    return module.weight * module.by + module.shift


of_module(Scaled(x, 1, 0.0))
of_module(Scaled(x, True, -0.0))


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass
class Node:
    """An array, and numbers of the structure."""

    weight: jax.Array
    sizes: tuple

    def tree_flatten(self):
        return (self.weight,), self.sizes

    @classmethod
    def tree_unflatten(cls, sizes, children):
        return cls(*children, sizes)


@jax.jit
def of_node(node):
    return node.weight * node.sizes[0]


of_node(Node(x, (1, 2)))
of_node(Node(x, (1, 2)))
of_node(Node(x, (1.0, 2)))
of_node(Node(x, (1, 2)))
print("ran")
