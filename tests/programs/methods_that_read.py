"""Functions whose methods, or those of what they are given, read variables of the module, which are changed afterwards."""

import collections
import functools

import equinox as eqx
import jax
import jax.numpy as jnp

RATE = SCALE = GAIN = MORE = DEEP = NOISE = FEED = EPOCH = BIAS = COEF = 1.0


class Deep:
    def __call__(self, x):
        return x * DEEP


class Model:
    def __init__(self):
        self.act, self.layers = lambda x: x * GAIN, [Deep(), Deep()]

    def apply(self, w, x):
        return self.act(x @ w * RATE)

    def __call__(self, w, x):
        x = self.helper(x)
        for layer in self.layers:
            x = layer(x)
        return x @ w

    def helper(self, x):
        return x * SCALE


class Trainer:
    def __init__(self):
        self.model = Model()

    def loss(self, w, x):
        return self.model.apply(w, x).sum()


class Block(eqx.Module):
    w: jax.Array

    def __call__(self, x):
        return x * self.w * FEED


class Net(eqx.Module):
    blocks: list

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x * NOISE


def loss(model, x):
    return jax.vmap(model)(x).sum()


@eqx.filter_jit
def step(model, x):
    return eqx.filter_value_and_grad(loss)(model, x)


def by_more(w, x):
    return (x * MORE).sum()


def applied(function, w, x):
    return function(w, x)


model, w, x = Model(), jnp.ones((2, 2)), jnp.ones(2)
evaluate = jax.jit(lambda w, x: model.apply(w, x).sum())
called = jax.jit(lambda w, x: model(w, x).sum())
of_trainer = jax.jit(Trainer().loss)
of_static = functools.partial(jax.jit(applied, static_argnums=0), model)
of_function = functools.partial(jax.jit(applied, static_argnums=0), by_more)
net = Net([Block(jnp.ones(2)), Block(jnp.ones(2))])
of_net = functools.partial(step, net)


def run(*functions):
    for function in functions:
        function(*((jnp.ones((3, 2)),) if function is of_net else (w, x)))


run(evaluate, called, of_trainer, of_static, of_function, of_net)
RATE = 2.0
run(evaluate, called, of_trainer)
SCALE = 2.0
run(evaluate, called, of_static)
GAIN = 2.0
run(of_trainer)
DEEP = 2.0
run(of_static)
MORE = 2.0
run(of_function)
NOISE = 2.0
run(of_net)
FEED = 2.0
run(of_net)

# What is only said, asked for, or that of a base where the object has its own.
Pair = collections.namedtuple("Pair", "low high")


class Base:
    by = 1.0

    def scaled(self, x):
        return x * self.by


class Own(Base):
    def __init__(self):
        self.by, self.pair, self.seen = 2.0, Pair(1.0, 2.0), [1]

    def scaled(self, x):
        with jax.named_scope(f"epoch {EPOCH}"):
            x = super().scaled(x) * self.pair.high
        return x if self.seen else -x


own, history = Own(), [1]
of_own = jax.jit(own.scaled)
of_history = jax.jit(lambda x: x if history else -x)
of_own(x)
of_history(x)
EPOCH = 2.0
Base.by = 7.0
own.pair = own.pair._replace(low=5.0)
own.seen.append(2)
history.append(2)
of_own(x)
of_history(x)
own.pair = own.pair._replace(high=5.0)
of_own(x)
own.seen.clear()
history.clear()
of_own(x)
of_history(x)


class Head:
    def forward(self, x):
        return self.scaled(x) + BIAS

    def scaled(self, x):
        return x


class Last(Head):
    def forward(self, x):
        return super().forward(x) * self.by


class Agent:
    def __init__(self):
        self.net, self.mode = Last(), "train"
        self.net.by = 1.0

    @property
    def training(self):
        return self.mode == "train"

    def scaled(self, x):
        return x * COEF

    def act(self, x):
        return self.net.forward(x) if self.training else -x


@functools.partial(jax.jit, static_argnums=0)
def of_net(self, x):
    return self.net.forward(x)


agent = Agent()
of_agent = jax.jit(lambda x: agent.act(x))
of_agent(x)
of_net(agent, x)
COEF = 2.0
# It isn't called, though another object's method of that name is.
of_net(agent, x)
of_agent(x)
BIAS = 2.0
agent.mode = "eval"
of_agent(x)
