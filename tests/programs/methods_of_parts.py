"""An agent whose jitted methods call what it holds, which is changed in its place."""

import dataclasses
import functools

import jax
import jax.numpy as jnp


class Norm:
    def __init__(self):
        self.mean, self.shapes = 0.0, {}

    def __call__(self, x):
        self.shapes.setdefault("x", x.shape)
        return x - self.mean


class Schedule:
    def __init__(self):
        self.rate = 1.0

    @property
    def now(self):
        return 2 * self.rate


class Layer:
    def __init__(self):
        self.gain = 1.0

    def __call__(self, x):
        return self.gain * x


class Net:
    def __init__(self):
        self.layer = Layer()

    def forward(self, x):
        return self.layer(x)


class Agent:
    def __init__(self):
        self.norm, self.schedule, self.net = Norm(), Schedule(), Net()

    def act(self, x):
        return self.net.forward(self.norm(x)) * self.schedule.now


x = jnp.ones(3)
agent = Agent()
act = jax.jit(agent.act)
act(x)
agent.norm.mean = 1.0
act(x)
agent.schedule.rate = 0.5
act(x)
agent.schedule.rate = 0.25
act(x)
agent.net.layer.gain = 2.0
act(x)
agent.norm.mean, agent.schedule.rate = 0.0, 1.0
act(x)
agent.norm.mean, agent.net.layer.gain = 1.0, 1.0
of_variable = jax.jit(lambda x: agent.norm(x))
of_variable(x)
agent.norm.mean = 3.0
of_variable(x)
agent.norm.shapes["y"] = (2,)
of_variable(jnp.ones(4))


class Memory:
    def __init__(self):
        self.held, self.rate = {}, 1.0

    def has(self, key):
        return key in self.held

    def put(self, key, value):
        self.held[key] = value

    def find(self, key):
        return self.held[key]

    @staticmethod
    def of_settings(settings):
        return settings.rate

    def __bool__(self):
        return self.rate > 0


class Node:
    """Whose parts know it."""

    def __init__(self, depth, parent=None):
        self.parent, self.gain = parent, 1.0
        self.parts = [] if depth == 0 else [Node(depth - 1, self), Node(depth - 1, self)]
        self.first, self.second = self.parts or (None, None)

    def value(self):
        return self.gain * (self.first.value() + self.second.value() if self.first else self.depth())

    def depth(self):
        return 1 + self.parent.depth() if self.parent else 1


class Holder:
    def __init__(self):
        self.memory, self.settings, self.node = Memory(), Schedule(), Node(6)

    def run(self, x):
        if not self.memory.has(x.shape):
            self.memory.put(x.shape, 2.0)
        return self.memory.find(x.shape) * self.memory.of_settings(self.settings) * x if self.memory else x

    def of_nodes(self, x):
        return self.node.value() * x


holder = Holder()
run, of_nodes = jax.jit(holder.run), jax.jit(holder.of_nodes)
for length in (3, 3, 4, 3, 4):
    run(jnp.ones(length))
holder.memory.rate = 2.0
run(x)
of_nodes(x)
holder.node.gain = 2.0
of_nodes(x)


def scaled(x):
    return x * shift


shift = 1.0
of_scaled = jax.jit(lambda x: scaled(x))
of_scaled(x)


def scaled(x):
    return x + shift


scaled.table = [1.0]
of_scaled.clear_cache()
of_scaled(x)
shift = 2.0
of_scaled(x)


@dataclasses.dataclass
class Options:
    gain: float = 1.0

    def total(self):
        return self.gain

    @property
    def twice(self):
        return 2 * self.gain


@functools.partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["options"])
@dataclasses.dataclass
class State:
    x: jax.Array
    options: Options


of_aux = jax.jit(lambda s: s.x * s.options.total())
of_property = jax.jit(lambda s: s.x * s.options.twice)
state = State(x, Options())
of_aux(state)
of_property(state)
state.options.gain = 2.0
of_aux(state)
of_property(state)
# It is equal to what the first has become.
of_aux(State(x, Options(2.0)))
