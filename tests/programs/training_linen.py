"""A classifier of flax.linen: batch statistics, dropout, donated state, a last batch that is smaller, an evaluation."""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Classifier(nn.Module):
    train: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=not self.train)(nn.Dense(16)(x))
        x = nn.Dropout(0.1, deterministic=not self.train)(nn.relu(x))
        return nn.Dense(4)(x)


class State(train_state.TrainState):
    batch_stats: Any
    key: Any


def create(key):
    model = Classifier()
    variables = model.init({"params": key, "dropout": key}, jnp.ones((1, 8)))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 10)))
    return State.create(
        apply_fn=model.apply, params=variables["params"], tx=optimizer, batch_stats=variables["batch_stats"], key=key
    )


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, batch):
    key, dropout = jax.random.split(state.key)

    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, updates = state.apply_fn(variables, batch["x"], rngs={"dropout": dropout}, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean(), updates

    (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads).replace(batch_stats=updates["batch_stats"], key=key)
    return state, {"loss": loss}


@jax.jit
def eval_step(state, batch):
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    return Classifier(train=False).apply(variables, batch["x"]).argmax(-1) == batch["y"]


rng = np.random.default_rng(0)
data = {"x": rng.normal(size=(70, 8)).astype(np.float32), "y": rng.integers(0, 4, 70)}
batches = [{name: values[i : i + 16] for name, values in data.items()} for i in range(0, 70, 16)]
state = create(jax.random.key(0))
for epoch in range(2):
    for batch in batches:
        state, metrics = train_step(state, batch)
    right = jnp.concatenate([eval_step(state, batch) for batch in batches])
    print(epoch, float(metrics["loss"]), float(right.mean()))
