"""Helpers that keep things: a memory of what was made, a registry that grows, a log of traces, a count; and a state that is baked in."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

memory, registry, traces = {}, {}, []
counts = {"traces": 0}
state = {"seed": 0}
steps = 0


def register(name):
    def registered(function):
        registry[name] = function
        return function

    return registered


@register("twice")
def twice(x):
    return x * 2


def applied(name, x):
    return registry[name](x)


def basis(size):
    if size not in memory:
        memory[size] = np.eye(size)
    return memory[size]


@functools.lru_cache
def table(size):
    return np.arange(size)


def counted(x):
    global steps
    steps += 1
    counts["traces"] += 1
    traces.append(len(traces))
    return x


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


@jax.jit
def small(x):
    return basis(3) @ counted(x) + table(3) + factorial(3) + applied("twice", x)


@jax.jit
def large(x):
    return basis(4) @ counted(x) + table(4) + applied("twice", x)


def next_seed():
    state["seed"] += 1
    return state["seed"]


@jax.jit
def noisy(x):
    return x + next_seed()


x = jnp.ones(3)
for _ in range(2):
    print(small(x), large(jnp.ones(4)))
register("once")(lambda x: x)
traces.append(5)
print(small(x), large(jnp.ones(4)))
registry["twice"] = registry["once"]
print(small(x))
# Each is traced with a seed of its own, and makes the same noise ever after.
for one in (x, jnp.ones(4), x):
    print(noisy(one))
