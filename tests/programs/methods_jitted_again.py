"""The method of an object that is kept is jitted again after those of objects that a loop makes, whose wrappers are none of its own."""

import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.jitted = jax.jit(self.step)

    def step(self, p):
        return p - self.rate * p


kept = Trainer(0.5)
kept.jitted(jnp.ones(2))
for rate in (0.1, 0.2, 0.3):
    trainer = Trainer(rate)
    for _ in range(2):
        trainer.jitted(jnp.ones(2))
for _ in range(2):
    jax.jit(kept.step)(jnp.ones(2))
