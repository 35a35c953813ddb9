"""Treedefs as static arguments and in the data of other nodes, which differ deep inside."""

import collections
import contextlib
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

Pair = collections.namedtuple("Pair", "left right")


@functools.partial(jax.jit, static_argnums=1)
def rebuilt(leaves, treedef):
    return jax.tree_util.tree_unflatten(treedef, leaves)


@jax.tree_util.register_pytree_node_class
class Scaled:
    def __init__(self, x, by):
        self.x, self.by = x, by

    def tree_flatten(self):
        return (self.x,), {"by": self.by}

    @classmethod
    def tree_unflatten(cls, data, children):
        return cls(*children, data["by"])


@dataclasses.dataclass
class Head:
    weight: jax.Array
    size: int


jax.tree_util.register_dataclass(Head, ["weight"], ["size"])


@jax.tree_util.register_pytree_node_class
class Held:
    """A node that flattens all that it holds, and keeps the treedef, as those of distrax do."""

    def __init__(self, **held):
        self.held = held

    def tree_flatten(self):
        return jax.tree_util.tree_flatten(self.held)

    @classmethod
    def tree_unflatten(cls, treedef, children):
        return cls(**jax.tree_util.tree_unflatten(treedef, children))


@jax.tree_util.register_pytree_with_keys_class
class Table:
    """A node that names its children, and keeps the treedef that lists them."""

    def __init__(self, **held):
        self.held = held

    def tree_flatten_with_keys(self):
        names = sorted(self.held)
        treedef = jax.tree_util.tree_structure(self.held)
        return [(jax.tree_util.DictKey(name), self.held[name]) for name in names], treedef

    @classmethod
    def tree_unflatten(cls, treedef, children):
        return cls(**jax.tree_util.tree_unflatten(treedef, children))


@jax.tree_util.register_pytree_node_class
class Kept:
    def __init__(self, x, kept):
        self.x, self.kept = x, kept

    def tree_flatten(self):
        return (self.x,), self.kept

    @classmethod
    def tree_unflatten(cls, kept, children):
        return cls(*children, kept)


Half = collections.namedtuple("Half", "given kept")
jax.tree_util.register_pytree_node(Half, lambda half: ((half.given,), None), lambda _, given: Half(*given, None))


@dataclasses.dataclass
class Greek:
    λ: jax.Array


jax.tree_util.register_dataclass(Greek, ["λ"], [])


@jax.jit
def doubled(it):
    return jax.tree_util.tree_map(lambda leaf: 2 * leaf, it)


def nested(levels):
    return [nested(levels - 1)] if levels else x


@functools.total_ordering
class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name

    def __lt__(self, other):
        return self.name < other.name


def scale():
    def by():
        return 1

    return by


x = jnp.ones(2)
for tree in (
    {"a": x, "b": [x, x]},
    {"a": x, "b": [x, x]},
    {"a": x, "b": (x, x)},
    {"a": x, "c": (x, x)},
    Pair(x, collections.OrderedDict(a=x, b=x)),
    Pair(x, collections.OrderedDict(b=x, a=x)),
    Pair(None, collections.defaultdict(list, a=x, b=None, c=[x, x])),
    Pair(None, collections.defaultdict(dict, a=x, b=None, c=[x, x])),
    Scaled((x, x, x), 1),
    Scaled((x, x, x), 2),
    Scaled((x, x, x), 2),
    Scaled((x, x, x), scale()),
    Scaled((x, x, x), scale()),
    Head((x, x, x), 3),
    Head((x, x, x), 4),
    # These are written as a whole.
    nested(100),
    nested(100),
    nested(101),
    {Key("a"): x, Key("b"): x},
    {Key("a"): x, Key("b"): x},
    {Key("a"): x, Key("c"): x},
    None,
    None,
):
    rebuilt(*jax.tree_util.tree_flatten(tree))

for by in (scale, scale, scale(), scale()):
    doubled(Held(inner=Held(x=x, layer=Scaled(x, by))))

doubled(Table(a=x))
doubled(Table(a=x, b=x))
for tree in (Half(x, 1), Half(x, 2), Greek(x), Greek(x)):
    rebuilt(*jax.tree_util.tree_flatten(tree))

# An array has no truth to compare by; a treedef is unequal to nothing but a treedef in later versions, and raises in earlier ones.
for kept in (np.arange(3), {1, 2}, jax.tree_util.tree_structure([x])):
    with contextlib.suppress(ValueError):
        rebuilt(*jax.tree_util.tree_flatten(Kept(x, kept)))
