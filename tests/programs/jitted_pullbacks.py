"""What jax makes of functions - a pullback, the transposed, what was exported - and the program jits, once or in a loop."""

import jax
import jax.export
import jax.numpy as jnp

square = jax.jit(lambda x: jnp.square(x).sum())
x = jnp.ones(3)
for _ in range(2):
    y, pull = jax.vjp(square, x)
    pulled = jax.jit(pull)
    print(pulled(y)[0].sum())
    print(pulled(y)[0].sum())
    print(jax.jit(jax.linearize(square, x)[1])(x))

transposed = jax.jit(jax.linear_transpose(lambda x: 2 * x, x))
print(transposed(x)[0].sum())
print(transposed(x)[0].sum())

# A method is taken of its object anew each time, and goes with what is jitted of it.
exported = jax.export.export(jax.jit(lambda x: x * 2))(x)
for _ in range(2):
    print(jax.jit(exported.call)(x).sum())

# What jax jits itself is none of these.
print(jnp.linalg.norm(x), jax.nn.relu(x).sum(), jnp.add(x, x).sum())
