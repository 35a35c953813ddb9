"""Functions that go through containers of arrays around them, which are changed in their place."""

import collections

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.ones(3)
weights = [jnp.ones(3), jnp.ones(3)]
params = {"a": {"w": jnp.ones(3)}, "b": {"w": jnp.ones(3)}}
queue = collections.deque([jnp.ones(3)])
pair = (jnp.ones(3), [jnp.ones(3)])
ordered = collections.OrderedDict(a=jnp.ones(3))
counts = {"n": np.arange(3)}


@jax.jit
def of_list(x):
    for weight in weights:
        x = x * weight
    return x


@jax.jit
def of_tree(x):
    return jax.tree_util.tree_map(lambda param: param * x, params)


@jax.jit
def of_queue(x):
    return x + sum(queue)


@jax.jit
def of_pair(x):
    one, [other] = pair
    return x + one + other


@jax.jit
def of_values(x):
    return x + sum(ordered.values())


@jax.jit
def of_counts(x):
    return jax.tree_util.tree_map(jnp.asarray, counts)["n"] + x.sum()


def run():
    for function in (of_list, of_tree, of_queue, of_pair, of_values, of_counts):
        print(function(x))


run()
# The same again, in other arrays and another dict.
weights[1] = params["b"]["w"] = queue[0] = ordered["a"] = pair[1][0] = jnp.ones(3)
params = dict(params)
run()
weights[1] = params["b"]["w"] = ordered["a"] = pair[1][0] = jnp.zeros(3)
queue.append(jnp.ones(3))
counts["n"][1] = 7
run()
