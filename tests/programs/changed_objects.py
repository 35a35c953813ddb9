"""Objects that hold something else in a later call where no key sees it: the old program is served."""

import dataclasses
import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


class Agent:
    def __init__(self, gain):
        self.gain = gain
        self.steps = 0
        self.params = {"w": jnp.ones(3)}
        self.update = jax.jit(self._update)

    @functools.partial(jax.jit, static_argnums=0)
    def act(self, obs):
        """Reads `gain`, by way of another method, and no `params`."""
        return obs * self.scale()

    def scale(self):
        return 2 * self.gain

    @functools.partial(jax.jit, static_argnums=0)
    def value(self, obs):
        return obs @ self.params["w"]

    def _update(self, params, by):
        return {"w": params["w"] - by * self.gain}


agent = Agent(0.5)
for step in range(3):
    print(agent.act(jnp.ones(3))[0], agent.value(jnp.ones(3)))
    agent.params = agent.update(agent.params, 1.0)
    agent.steps += 1
agent.gain = 0.25
print(agent.act(jnp.ones(3))[0], agent.update(agent.params, 1.0)["w"][0])
# Another shape reads what is there now.
print(agent.act(jnp.ones(4))[0], agent.act(jnp.ones(4))[0])
print(Agent(0.25).act(jnp.ones(4))[0])


class Config:
    def __init__(self, rate):
        self.rate, self.name = rate, "a"


class Trainer:
    def __init__(self, rate):
        self.config = Config(rate)

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):
        return x * self.config.rate


trainer = Trainer(0.5)
print(trainer.step(jnp.ones(3))[0])
trainer.config.name = "b"
print(trainer.step(jnp.ones(3))[0])
trainer.config.rate = 0.25
print(trainer.step(jnp.ones(3))[0])
trainer.config = Config(0.125)
print(trainer.step(jnp.ones(3))[0])


class Solver:
    training = True
    rate = 0.5

    @functools.partial(jax.jit, static_argnums=0)
    def run(self, x):
        return x * (self.rate if self.training else 1)


solver = Solver()
print(solver.run(jnp.ones(3))[0])
solver.training = False
print(solver.run(jnp.ones(3))[0], solver.run(jnp.ones(3))[0])


class Named:
    """Is equal to what has its name."""

    def __init__(self, name, rate, options):
        self.name, self.rate, self.options = name, rate, options

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    weight: float = dataclasses.field(compare=False)
    config: Config


@functools.partial(jax.jit, static_argnums=(0, 1))
def loss(named, task, x):
    return len(task.name) * task.weight * task.config.rate * named.rate * len(named.options) * x


config = Config(0.5)
print(loss(Named("a", 0.5, [1]), Task("t", 1.0, config), jnp.ones(3))[0])
print(loss(Named("a", 0.5, [1]), Task("t", 1.0, config), jnp.ones(3))[0])
print(loss(Named("a", 0.25, [1]), Task("t", 1.0, config), jnp.ones(3))[0])
print(loss(Named("a", 0.5, [1]), Task("t", 2.0, config), jnp.ones(3))[0])
config.rate = 0.25
print(loss(Named("a", 0.5, [1]), Task("t", 1.0, config), jnp.ones(3))[0])
print(loss(Named("b", 0.25, [1]), Task("t", 1.0, config), jnp.ones(3))[0])


@dataclasses.dataclass
class Layer:
    """Is called itself, and its methods; they are told apart by their object, whatever `==` says."""

    gain: float

    def __call__(self, x):
        return x * self.gain

    def energy(self, x):
        return jnp.sum(x * self.gain)


class Halved(Layer):
    __eq__, __hash__ = object.__eq__, object.__hash__


layer, halved = Layer(0.5), Halved(0.5)
functions = [jax.jit(f) for f in (halved, layer.energy, functools.partial(Layer.energy, layer), jax.grad(layer.energy))]
print([f(jnp.ones(3)).shape for f in functions])
layer.gain = halved.gain = 0.25
print([f(jnp.ones(3)).sum() for f in functions])


class Batch(NamedTuple):
    x: jax.Array
    steps: jax.Array


class Counter:
    def __init__(self):
        self.rate, self.steps = 0.5, 0


def scaled(by, other, x):
    return x * by.gain * other.gain


def stepped(counter, batch):
    """Reads the `steps` of the batch, and those of the counter not."""
    return batch.x * batch.steps * counter.rate


first, second, counter = Layer(0.5), Layer(2.0), Counter()
scaling, stepping = jax.jit(functools.partial(scaled, first, second)), jax.jit(functools.partial(stepped, counter))
batch = Batch(jnp.ones(3), jnp.ones(()))
print(scaling(jnp.ones(3)), stepping(batch))
counter.steps, first.gain = 1, 1.0
print(scaling(jnp.ones(3)), stepping(batch))


class Model(eqx.Module):
    w: jax.Array

    def loss(self, x):
        return jnp.sum(self.w * x)


# What filter_jit is given of a Module is an argument.
loss_of = [eqx.filter_jit(Model(jnp.full(3, w)).loss) for w in (1.0, 2.0)]
print([loss(jnp.ones(3)) for loss in loss_of])


@dataclasses.dataclass(unsafe_hash=True)
class Valued:
    """Is another one to who looks for it by its hash, and its wrapper has found it already."""

    gain: float

    def __call__(self, x):
        return x * self.gain


valued = Valued(0.5)
apply = jax.jit(valued)
print(apply(jnp.ones(3)))
valued.gain = 0.25
print(apply(jnp.ones(3)))


@functools.partial(jax.jit, static_argnums=0)
def asked(agent, x):
    """Asks for an attribute by its name."""
    return x * getattr(agent, "gain", 1.0)


agent = Agent(0.5)
print(asked(agent, jnp.ones(3)))
agent.gain = 0.25
print(asked(agent, jnp.ones(3)))


class State:
    """One is made of the other in each step."""

    def __init__(self, apply, count):
        self.apply, self.count = apply, count


class Net:
    def __init__(self):
        self.state, self.rate, self.shift = State(lambda w: w * 2, 0), 0.5, 1.0

    @functools.partial(jax.jit, static_argnums=0)
    def forward(self, w):
        return self.state.apply(w) * self.rate + self.shift


net = Net()
for _ in range(2):
    print(net.forward(jnp.ones(3))[0])
    net.state = State(net.state.apply, net.state.count + 1)
net.rate = 0.25
print(net.forward(jnp.ones(3))[0])
net.shift = 0.0
print(net.forward(jnp.ones(3))[0])


class Holder:
    """What it holds is behind a property, or can't be looked into."""

    def __init__(self, rate, net):
        self._config, self.table, self.forward = Config(rate), np.full(3, rate), net.scale

    @property
    def config(self):
        return self._config


class Holds:
    def __init__(self, rate):
        self.agent = Agent(rate)
        self.held = Holder(rate, self.agent)

    @functools.partial(jax.jit, static_argnums=0)
    def by_property(self, x):
        return x * self.held.config.rate

    @functools.partial(jax.jit, static_argnums=0)
    def by_item(self, x):
        return x * self.held.table[0]

    @functools.partial(jax.jit, static_argnums=0)
    def by_method(self, x):
        return x * self.held.forward()


holds = Holds(0.5)
for rate in (0.5, 0.25):
    print(holds.by_property(jnp.ones(3))[0], holds.by_item(jnp.ones(3))[0], holds.by_method(jnp.ones(3))[0])
    # A method of the same object is the same.
    holds.held = Holder(0.25, holds.agent)


class Loss:
    """Its method is jitted, and it can be called."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, x):
        return x

    @functools.partial(jax.jit, static_argnums=0)
    def of(self, x):
        return x * self.rate


loss = Loss(0.5)
for rate in (0.5, 0.25):
    loss.rate = rate
    print(loss.of(jnp.ones(3)))


class Settings:
    def __init__(self):
        self.rate = 0.5
        self.steps = 0


class Scale(eqx.Module):
    w: jax.Array
    settings: Settings = eqx.field(static=True)

    def scaled(self, x):
        return self.w * x * self.settings.rate


@struct.dataclass
class State:
    w: jax.Array
    settings: Settings = struct.field(pytree_node=False)


@eqx.filter_jit
def of_leaf(settings, x):
    return x * settings.rate


@eqx.filter_jit
def of_field(scale, x):
    return scale.scaled(x)


@jax.jit
def of_state(state, x):
    return state.w * x * state.settings.rate


@functools.partial(jax.jit, static_argnames="all_settings")
def of_tuple(x, all_settings):
    return x * all_settings[0].rate


# Where it is that a key has an object by its identity.
settings = Settings()
for settings.rate in (0.5, 0.25):
    for settings.steps in range(2):
        x = jnp.ones(3)
        print(of_leaf(settings, x), of_field(Scale(x, settings), x), of_state(State(x, settings), x))
        print(of_tuple(x, all_settings=(settings,)))
print(of_leaf(x=x, settings=settings))


class Plain:
    """What its method takes of it says nothing of another class that is passed there, too."""

    def __init__(self):
        self.gain = 1

    def scaled(self, x):
        return x * 2


class Gained(Plain):
    def scaled(self, x):
        return x * self.gain


@eqx.filter_jit
def scaled_by(settings, x):
    return settings.scaled(x)


plain, gained, longer = Plain(), Gained(), jnp.ones(4)
print(scaled_by(gained, x), scaled_by(plain, x), scaled_by(gained, longer), scaled_by(plain, longer))
plain.gain = 2
print(scaled_by(plain, x), scaled_by(plain, longer))


class Counter:
    """What is called, whose count another parameter has, too."""

    def __init__(self):
        self.rate = 0

    def __call__(self, x):
        return x * 2


class Rated(NamedTuple):
    rate: jax.Array


@functools.partial(jax.jit, static_argnames="counter")
def counted(rated, x, counter):
    return counter(x) + rated.rate


counter = Counter()
for counter.rate in range(2):
    print(counted(Rated(x), x, counter=counter))


class Clip:
    """What is called reads its `limit`, and not how often that was."""

    def __init__(self, limit):
        self.limit, self.times = limit, 0

    def __call__(self, x):
        return jnp.minimum(x, self.limit)


@functools.partial(jax.jit, static_argnames="clip")
def clipped(x, clip):
    return clip(x)


clip = Clip(0.5)
for clip.times in range(2):
    print(clipped(x, clip=clip))
clip.limit = 0.25
print(clipped(x, clip=clip))


class Remembers:
    """Counts and keeps what its body itself sets and adds to."""

    def __init__(self):
        self.times, self.memory, self.shapes = 0, {}, []

    def called(self, x):
        self.times = self.times + 1
        self.shapes.append(x.shape)
        if x.shape not in self.memory:
            self.memory[x.shape] = 2.0
        return x * self.memory[x.shape]


remembers = Remembers()
called = jax.jit(remembers.called)
for remembers.times in range(2):
    remembers.shapes.append(None)
    remembers.memory[None] = remembers.times
    print(called(x))
