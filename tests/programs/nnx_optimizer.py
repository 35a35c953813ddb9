"""An optimizer in an nnx.Module that is created anew each step recompiles an nnx.jit step."""

import jax.numpy as jnp
import optax
from flax import nnx


class Trainer(nnx.Module):
    def __init__(self, tx):
        self.params = nnx.Param(jnp.zeros(3))
        self.tx = tx


@nnx.jit
def train_step(trainer, grads):
    params = trainer.params.value
    updates, _ = trainer.tx.update(grads, trainer.tx.init(params))
    trainer.params.value = optax.apply_updates(params, updates)


trainer = Trainer(optax.sgd(0.1))
for _ in range(3):
    train_step(trainer, jnp.ones(3))
    trainer.tx = optax.sgd(0.1)
print(trainer.params.value)
