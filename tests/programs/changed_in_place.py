"""Static objects, dicts and lists that are changed in their place, in aux data and as arguments; a method of a base that reads what
changes; and what isn't read though it is named: by a callback or a log, or but for whether it is there, of which class it is, how long,
or its first item."""

import collections
import dataclasses
import functools
import logging

import equinox as eqx
import jax
import jax.numpy as jnp

x = jnp.ones(3)


@dataclasses.dataclass
class Config:
    rate: float = 1.0


class Model(eqx.Module):
    weight: jax.Array
    config: Config = eqx.field(static=True)


@eqx.filter_jit
def forward(model):
    return model.weight * model.config.rate


config = Config()
model = Model(x, config)
forward(model)
config.rate = 0.5
forward(model)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["params"], meta_fields=["config"])
@dataclasses.dataclass
class State:
    params: jax.Array
    config: Config


@jax.jit
def step(state):
    return dataclasses.replace(state, params=state.params * state.config.rate)


config = Config()
step(State(x, config))
config.rate = 0.5
step(State(x, config))
# The key of the first call has what is 0.5 now.
step(State(x, Config()))


@dataclasses.dataclass(unsafe_hash=True)
class Hashed:
    rate: float = 1.0


# Aux data is compared and never hashed.
config = Hashed()
step(State(x, config))
config.rate = 0.5
step(State(x, config))
step(State(x, Hashed(0.5)))
step(State(x, Hashed()))


class Mode:
    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return type(other) is Mode and self.scale == other.scale

    def __hash__(self):
        return hash(self.scale)


@functools.partial(jax.jit, static_argnames="mode")
def scaled(x, mode):
    return x * mode.scale


mode = Mode(1.0)
scaled(x, mode=mode)
mode.scale = 2.0
scaled(x, mode=mode)
scaled(x, mode=Mode(1.0))


class Base:
    def __init__(self):
        self.scale = 1.0
        self.jitted = jax.jit(self.forward)

    def forward(self, x):
        return x * self.scale


class Child(Base):
    def forward(self, x):
        return super().forward(x) + 0


child = Child()
child.jitted(x)
child.scale = 5.0
child.jitted(x)


class Trainer:
    def __init__(self):
        self.number, self.best, self.kind, self.losses = 0, x, 1, [1.0]
        self.queue, self.noted = collections.deque([1.0, 2.0]), []
        self.logger = logging.getLogger("trainer")
        self.jitted = jax.jit(self.step)

    def note(self, loss):
        self.noted.append((self.number, float(loss)))

    def step(self, x):
        self.logger.debug("traced at %d", self.number)
        jax.debug.callback(self.note, x.sum())
        if self.best is not None:
            x = x * 2
        if isinstance(self.kind, int):
            x = x + 1
        return x * len(self.losses) * self.queue[0]


trainer = Trainer()
for number in range(3):
    trainer.number, trainer.best, trainer.kind = number, x + number, number
    trainer.queue.append(3.0)
    trainer.jitted(x).block_until_ready()
jax.effects_barrier()
trainer.losses.append(2.0)
trainer.best = None
trainer.jitted(x).block_until_ready()
jax.effects_barrier()
print(trainer.noted)


class Net(eqx.Module):
    weight: jax.Array
    options: dict = eqx.field(static=True)
    widths: list = eqx.field(static=True)


@jax.jit
def net(it):
    y = it.weight * it.options["optimizer"]["rate"]
    for width in it.widths:
        y = y * width
    return y


options, widths = {"optimizer": {"rate": 1.0}}, [1, 2]
net(Net(x, options, widths))
options["optimizer"]["rate"] = 0.5
net(Net(x, options, widths))
widths.append(3)
net(Net(x, options, widths))
# Equal to what they are now, and to what they were: only the first is found.
net(Net(x, {"optimizer": {"rate": 0.5}}, [1, 2, 3]))
net(Net(x, {"optimizer": {"rate": 1.0}}, [1, 2]))


@dataclasses.dataclass(eq=False)
class Other:
    rate: float = 1.0


class Layers(eqx.Module):
    weight: jax.Array
    names: list = eqx.field(static=True)
    widths: list = eqx.field(static=True)
    options: dict = eqx.field(static=True)


@jax.jit
def layers(it):
    return it.weight * len(it.names) * it.options["rate"]


# Two that are equal are two, and what a dict holds besides numbers is none to compare by its text.
it = Layers(x, [], [], {"rate": 1.0, "dtype": jnp.float32, "other": Other()})
layers(it)
it.names.append("a")
layers(it)
it.options["rate"] = 0.5
layers(it)


class Reader:
    def __init__(self):
        self.rate, self.other = 1.0, Other()

    def of_other(self, x):
        return x * self.rate * (1 if id(self.other) else 2)


reader = Reader()
jitted = jax.jit(reader.of_other)
jitted(x)
reader.rate = 2.0
jitted(x)
