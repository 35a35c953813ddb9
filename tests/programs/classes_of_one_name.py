"""Classes that are called alike: a library's, the program's, and those that functions make."""

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp

x = jnp.ones(3)


class Linear(eqx.Module):
    w: jax.Array

    def __call__(self, x):
        return self.w * x


def made(scale):
    class Linear(eqx.Module):
        w: jax.Array
        b: jax.Array

        def __call__(self, x):
            return self.w * x * scale + self.b

    return Linear(x, x)


@eqx.filter_jit
def applied(layer, x):
    return layer(x)


applied(eqx.nn.Linear(3, 3, key=jax.random.key(0)), x)
for layer in (Linear(x), made(1), made(2), made(3)):
    print(applied(layer, x))
step = jax.jit(lambda layer, x: layer.apply({}, x), static_argnums=0)


class Dropout(nn.Module):
    rate: float

    def __call__(self, x):
        return x * self.rate


for layer in (nn.Dropout(0.5, deterministic=True), Dropout(0.5), Dropout(0.25)):
    print(step(layer, x))
