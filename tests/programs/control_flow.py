"""Loops and conditionals called outside of jit: of more operands than parameters have names, of one by its old name; with
conditions that are methods, partials and objects."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def first(*operands):
    return operands[0]


def last(*operands):
    return operands[-1]


class Limit:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, carry):
        return carry[0] < self.limit

    def above(self, carry):
        return carry[0] < self.limit

    def step(self, carry):
        return carry[0] + 1, carry[1] * 2.0


def below(limit, carry):
    return carry[0] < limit


@jax.jit
def jitted(x):
    return x * 2


def main():
    for limit in (2, 3):
        limited = Limit(limit)
        lax.while_loop(limited.above, limited.step, (0, 1.0))
        lax.while_loop(Limit(limit), limited.step, (0, 1.0))
        lax.while_loop(functools.partial(below, limit), limited.step, (0, 1.0))
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
    # An index is converted first, whatever it is; a switch with one branch is a call of that.
    for index in (np.int64(1), np.uint8(1), jnp.int16(1)):
        lax.switch(index, [first, last], jnp.ones(3), jnp.ones(3))
        lax.switch(index, [jitted], jnp.ones(3))
        lax.switch(index, [lambda x: x * 3], jnp.ones(3))


main()
