"""What a jitted function inside of others and a function of a loop were traced to is kept, whatever they read since."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp

x = jnp.ones(3)
gain, offset, limit = 1.0, 1.0, 3.0


class Config:
    beta = 0.0


config = Config()


@jax.jit
def penalty(w):
    return config.beta * (w**2).sum()


def step_made():
    @jax.jit
    def step(w):
        return w - 0.1 * jax.grad(lambda w: (w**2).sum() + penalty(w))(w)

    return step


# Calls 1 to 3: the step is made anew so that another beta counts, which penalty doesn't look at again.
for epoch in range(3):
    config.beta = float(epoch)
    step_made()(x)


class Policy:
    def __init__(self):
        self.temperature = 1.0

    @functools.partial(jax.jit, static_argnums=0)
    def logits(self, x):
        return x / self.temperature

    @functools.partial(jax.jit, static_argnums=0)
    def act(self, x):
        return self.logits(x).argmax()

    @functools.partial(jax.jit, static_argnums=0)
    def loss(self, x):
        return (self.logits(x) ** 2).sum()


# Calls 4 and 5.
policy = Policy()
policy.act(x)
policy.temperature = 0.5
policy.loss(x)


def scanned(carry, x):
    return carry + x * gain, None


def doubled(i, carry):
    return carry * 2.0


# Calls 6 to 9: the longer one is another program, of the same jaxpr. What doesn't read it is as it was.
jax.lax.scan(scanned, 0.0, x)
jax.lax.fori_loop(0, 3, doubled, 1.0)
gain = 2.0
jax.lax.scan(scanned, 0.0, jnp.ones(4))
jax.lax.fori_loop(0, 3, doubled, 1.0)


def goes_on(carry):
    return carry < limit


def shifted(carry):
    return carry + offset


# Calls 10 to 12: each of the two reads something of its own; a new body is traced, and the condition kept.
jax.lax.while_loop(goes_on, shifted, 0.0)
offset = 1.5
jax.lax.while_loop(goes_on, shifted, 0.0)
limit = 4.0
jax.lax.while_loop(goes_on, lambda carry: carry + offset, 0.0)


# Calls 13 and 14: in its own trace it reads what is there now.
@jax.jit
def outer(w):
    return penalty(w) + 1.0


outer(jnp.ones(2))
config.beta = 7.0
outer(jnp.ones(5))


# Calls 15 to 17: each that is traced takes it over; what a library traces for shapes is none of the program's calls.
config.beta = 8.0
jax.jit(lambda w: penalty(w) + 2.0)(jnp.ones(2))
jax.jit(jax.vmap(lambda w: penalty(w) + 3.0))(jnp.ones((4, 2)))
innocent = jax.jit(lambda w: w + 1.0)
innocent(x)
config.beta = 9.0
eqx.filter_eval_shape(lambda w: penalty(w), jnp.ones(2))


def added(table, i, carry):
    return carry + table["by"]


# Calls 18 to 21: what partials of one function hold is each one's own.
one, other = (functools.partial(added, {"by": by}) for by in (1.0, 2.0))
for body in (one, other, one, other):
    jax.lax.fori_loop(0, 3, body, 0.0)


# Calls 22 to 25: all that is another is said.
factor = shift = 1.0


@jax.jit
def line(x):
    return x * factor + shift


def stepped(i, carry):
    return carry * factor + shift


jax.lax.fori_loop(0, 3, stepped, x)
jax.jit(lambda x: line(x) + 1.0)(x)
factor, shift = 2.0, 3.0
jax.jit(lambda x: line(x) + 2.0)(x)
jax.lax.fori_loop(0, 3, stepped, x)
