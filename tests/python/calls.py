"""Calls of a function of which each shape compiles once: as a program's text, and here."""

from __future__ import annotations

import jax
import jax.numpy as jnp

CALLS = """
import jax, jax.numpy as jnp, pytest

def run(shapes):
    @jax.jit
    def step(x):
        return x + 1
    for n in shapes:
        step(jnp.ones(n))
"""


def run(shapes: list[int]) -> None:
    @jax.jit
    def step(x):
        return x + 1

    for n in shapes:
        step(jnp.ones(n))
