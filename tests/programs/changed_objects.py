"""Objects that are compared by identity and hold something else in a later call: the old program is served."""

import functools

import jax
import jax.numpy as jnp


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
