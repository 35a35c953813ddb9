"""Objects with `__jax_array__` as arguments, which newer versions of jax refuse."""

import jax
import jax.numpy as jnp
import numpy as np


class Variable:
    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return self.value


@jax.jit
def scaled(x, by):
    return jnp.asarray(x) * by


variable = Variable(jnp.ones(3))
print(scaled(variable.value, 2.0))
for x in (variable, variable, Variable(jnp.ones(3)), Variable(jnp.ones(4))):
    try:
        print(scaled(x, 2.0))
    except ValueError:
        print("refused")
print(scaled(jnp.ones(5), 2.0))

# What stands in another order of bytes is refused, and keeps the function off the fast path.
swapped = jax.jit(lambda x: x * 2)
for array in (jnp.ones(3), np.ones(3, ">f4"), np.ones(3), np.ones(3)):
    try:
        swapped(array)
    except TypeError as error:
        print(type(error).__name__)
