"""References to arrays (`jax.Ref`) through which functions count and accumulate."""

import equinox as eqx
import jax
import jax.numpy as jnp

new_ref = getattr(jax, "new_ref", None)


@jax.jit
def accumulate(total, x):
    total[...] += x
    return x * 2


@jax.jit
def copy(to, by):
    to[...] = by[...]


@eqx.filter_jit
def counted(count, x):
    count[...] += 1
    return x


if new_ref is not None:
    total, other = new_ref(jnp.zeros(3)), new_ref(jnp.zeros(3))
    for x in (jnp.ones(3), jnp.ones(3), jnp.arange(3.0)):
        accumulate(total, x), accumulate(other, x)
    accumulate(new_ref(jnp.zeros(4)), jnp.ones(4))
    total[...] = jnp.ones(3)
    accumulate({"a": total}["a"], 1.0)
    print(total[...], other[...])
    # Two references that are one are refused, whatever was traced for two.
    for to, by in ((total, other), (total, total), (other, total)):
        try:
            copy(to, by)
        except ValueError:
            print("refused")
    count = new_ref(jnp.zeros((), int))
    for _ in range(3):
        counted(count, 1.0)
    print(counted(new_ref(jnp.zeros((), int)), 1.0), count[...])
same = jax.jit(lambda x: x)
print(same(1.0), same(jnp.ones(2)), same(2.0))
