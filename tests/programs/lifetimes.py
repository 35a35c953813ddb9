"""What the program lets go of, right after a call that was given it: a recording holds nothing of that for longer."""

import gc
import sys
import weakref

import jax
import jax.numpy as jnp


class Config:
    """A static object, compared by identity."""


def gone(reference):
    gc.collect()
    return reference() is None


doubled = jax.jit(lambda x, config=None: x * 2, static_argnames="config")
for shape in ((4,), (4,), (5,)):
    x, config = jnp.ones(shape), Config()
    references = [weakref.ref(x), weakref.ref(config)]
    y = doubled(x)
    print(sys.getrefcount(x))
    doubled(x, config=config)
    print(sys.getrefcount(x), sys.getrefcount(config))
    # The function's caches hold what is static.
    del x, config
    print(*map(gone, references))

# The last thing of all that is described.
x = {"w": jnp.ones(6)}
reference = weakref.ref(x["w"])
jax.jit(jax.grad(lambda x: doubled(x["w"]).sum()))(x)
del x
print(gone(reference))
x = jnp.ones(7)
reference = weakref.ref(x)
jax.lax.scan(lambda carry, _: (carry, None), x, None, length=2)
del x
print(gone(reference))
