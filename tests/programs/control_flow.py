"""Conditionals called outside of jit: of more operands than their parameters have names, and of one by its old name."""

import jax.numpy as jnp
from jax import lax


def first(*operands):
    return operands[0]


def last(*operands):
    return operands[-1]


def main():
    for count in (1, 2, 3, 5):
        operands = [jnp.ones(3)] * count
        for _ in range(2):
            lax.cond(jnp.array(True), first, last, *operands)
            lax.switch(0, [first, last], *operands)
            lax.switch(jnp.int32(1), [first, last, first], *operands)
    # What has no leaves is an operand, too.
    for _ in range(2):
        lax.cond(jnp.array(False), lambda x, none, rest: x, lambda x, none, rest: x + 1, jnp.ones(2), None, {})
    for _ in range(2):
        lax.cond(True, dict, dict, operand={"a": 1})


main()
