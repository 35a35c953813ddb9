"""An agent whose jitted methods call what it holds, which is changed in its place."""

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
