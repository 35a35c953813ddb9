"""Arrays that a function reads and that no key sees: changed in their place, made again, and held by objects that are equal."""

import dataclasses
import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np

table = np.arange(3.0)
scale = jax.block_until_ready(jnp.ones(3))
large = np.zeros(100_000)
x = jnp.ones(3)


@jax.jit
def scaled(x):
    return x * table * scale + large[:3]


scaled(x)
table[0] = 7.0
print(scaled(x))
table = np.arange(3.0)
scaled(x)
scale = jax.block_until_ready(jnp.ones(3) * 1)
scaled(x)
scale = jax.block_until_ready(jnp.ones(3) * 2)
print(scaled(x))
scale = jax.block_until_ready(jnp.ones(3))
# Of one that is large it isn't looked at what it holds.
large = np.zeros(100_000)
scaled(x)


class Net:
    def __init__(self, width, by):
        self.width, self.shift = width, np.zeros(width)
        self.w = jax.block_until_ready(jnp.full(width, by))

    def __hash__(self):
        return hash(self.width)

    def __eq__(self, other):
        return type(other) is Net and self.width == other.width and np.array_equal(self.shift, other.shift)

    @functools.partial(jax.jit, static_argnums=0)
    def forward(self, x):
        return self.w * x + self.shift


print(Net(3, 1.0).forward(x))
Net(3, 1.0).forward(x)
print(Net(3, 2.0).forward(x))


@dataclasses.dataclass(frozen=True)
class Basis:
    count: int
    values: jax.Array = dataclasses.field(compare=False)


@functools.partial(jax.jit, static_argnames="basis")
def projected(x, basis):
    return x * basis.values


for by in (1.0, 1.0, 2.0):
    projected(x, Basis(3, jax.block_until_ready(jnp.full(3, by))))
# Of these the form alone is asked, or they are the body's own.
buffer, traced, seen = np.zeros(3), np.zeros(1), [0.5]


@jax.jit
def asked(x):
    traced[0] = x.shape[0]
    assert buffer is not None and isinstance(buffer, np.ndarray) and len(seen) == 1
    return x * len(buffer) * np.ndim(buffer) + jnp.full_like(buffer, 2.0)


for _ in range(2):
    asked(x)
    buffer[0] += 1
    traced[0] += 1
    seen[0] += 1


class Weights:
    """Equal to others, whatever it holds and whoever else holds the lock."""

    def __init__(self, count, by):
        self.count, self.by, self.lock = count, np.full(count, by), threading.Lock()

    def __hash__(self):
        return self.count

    def __eq__(self, other):
        with self.lock:
            with other.lock:
                return self.is_alike(other)

    def is_alike(self, other):
        return self.by.shape == other.by.shape

    @functools.partial(jax.jit, static_argnums=0)
    def weighted(self, x):
        return x * self.by[:3]


# Of large ones it isn't known that they hold the same.
for count in (3, 20_000):
    for by in (1.0, 1.0, 2.0):
        Weights(count, by).weighted(x)
# It can still be given away, once it was looked at.
print(jax.jit(lambda a: a + 1, donate_argnums=0)(scale), scale.is_deleted())
