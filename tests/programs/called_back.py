"""What compiled programs call back jits and compiles on its own: calls and compiles of the program's, in whichever thread they are made."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

seen = []


@jax.jit
def total(x):
    return x.sum()


def on_host(x):
    return np.asarray(total(jnp.asarray(x)))


@jax.jit
def score(x):
    return jax.pure_callback(on_host, jax.ShapeDtypeStruct((), x.dtype), x) * 2


def log(x, step):
    seen.append(float(total(jnp.ones(int(step) + 10))))


@jax.jit
def logged(x, step):
    io_callback(log, None, x, step, ordered=True)
    return x + 1


@jax.jit
def watched(x):
    jax.debug.callback(lambda x: seen.append(float(jnp.mean(jnp.asarray(x)))), x)
    return x - 1


for size in (3, 3, 4, 3):
    score(jnp.ones(size)).block_until_ready()
for step in range(3):
    logged(jnp.ones(3), step).block_until_ready()
for size in (3, 3, 5):
    watched(jnp.ones(size)).block_until_ready()
jax.effects_barrier()
print(sorted(seen))
