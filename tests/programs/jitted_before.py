"""What is jitted again in whatever surrounds it, after it was called by itself: the body isn't run again, and the outer function is
traced."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp


def made(jit):
    @jit
    def scale(w, x):
        return (x * w).sum()

    scale(w, x)
    return scale


class Model(eqx.Module):
    k: jax.Array

    @eqx.filter_jit
    def energy(self, x):
        return (x * self.k).sum()


class Called(eqx.Module):
    k: jax.Array

    @eqx.filter_jit
    def __call__(self, x):
        return (x * self.k).sum()


class Plain:
    @functools.partial(jax.jit, static_argnums=0)
    def total(self, x):
        return x.sum()

    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x.sum()


@functools.partial(jax.jit, static_argnames="by")
def times(x, by=2):
    return x.sum() * by


w, x = jnp.ones(4), jnp.ones((8, 4))
for jit in (jax.jit, eqx.filter_jit):
    for outer in (jax.jit, eqx.filter_jit):
        around = {
            "alone": (outer(made(jit)), (w, x)),
            "partial": (outer(functools.partial(made(jit), w)), (x,)),
            "by name": (outer(functools.partial(made(jit), x=x)), (w,)),
            "grad": (outer(jax.grad(made(jit))), (w, x)),
            "vmap": (outer(jax.vmap(made(jit), in_axes=(None, 0))), (w, x)),
        }
        for name, (jitted, args) in around.items():
            print(name, *[jax.tree_util.tree_leaves(jitted(*args))[0].sum() for _ in range(2)])

model, called, plain = Model(w), Called(w), Plain()
print(model.energy(x), called(x), plain.total(x), plain(x), times(x, by=3))
for jitted in (
    eqx.filter_jit(model.energy),
    eqx.filter_jit(called),
    eqx.filter_jit(plain.total),
    eqx.filter_jit(plain),
    eqx.filter_jit(functools.partial(times, by=3)),
    jax.jit(plain.total),
    jax.jit(plain),
    jax.jit(functools.partial(times, by=3)),
):
    print(jitted(x), jitted(x))
gradient = eqx.filter_jit(eqx.filter_grad(made(eqx.filter_jit)))
print(gradient(w, x), gradient(w, x))


# What is jitted again and dropped is none that the function itself takes the place of.
@jax.jit
def kept(x):
    return x - 2


jax.jit(kept, inline=True)(jnp.ones(3))
print(kept(jnp.ones(3)))


# What is static to both is no tracer inside.
def chosen(x, loss, by=1):
    return x * (2 if loss in ("l1", 1) else 3) * by


for inside, outside in (
    ({"static_argnames": "loss"}, {"static_argnames": "loss"}),
    ({"static_argnums": 1}, {"static_argnames": "loss"}),
    ({"static_argnames": "loss"}, {"static_argnums": (1,)}),
):
    for loss in ("l1", "l2", 1):
        print(jax.jit(jax.jit(chosen, **inside), **outside)(x, loss=loss))
        print(jax.jit(jax.jit(chosen, **inside), **outside)(x, loss))
picked = jax.jit(lambda x, n: (x * n).sum(), static_argnums=1)
print(jax.jit(jax.grad(picked), static_argnums=1)(x, 1), jax.jit(picked, static_argnums=1)(x, 1), picked(x, 1), picked(x, 2))
