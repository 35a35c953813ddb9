"""Keys that a dict doesn't have or is asked for, while others of its items change; a step that reads what equinox.partition holds static,
each time anew; and an object whose `__call__` is jitted."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp

x = jnp.ones(3)


class Trainer:
    def __init__(self):
        self.config, self.cache, self.names = {"rate": 0.1, "step": 0}, {}, ["a"]

    def by_get(self, x):
        return x * self.config["rate"] * self.config.get("scale", 1.0)

    def by_in(self, x):
        return x * self.config["factor"] if "factor" in self.config else x

    def by_two(self, x):
        return x * (self.cache["k"] if "k" in self.cache else 1.0)

    def by_presence(self, x):
        return x * ("rate" in self.config) + ("b" not in self.names)

    def by_error(self, x):
        try:
            return x * self.config["none"]
        except KeyError:
            return x


config = {"rate": 0.1, "step": 0}


@jax.jit
def of_module(x):
    return x * config["scale"] if "scale" in config else x * config.get("factor", 1.0)


trainer = Trainer()
jitted = [jax.jit(getattr(trainer, f"by_{name}")) for name in ("get", "in", "two", "presence", "error")] + [of_module]
for number in range(3):
    for function in jitted:
        function(x)
    trainer.config["step"] = trainer.cache["other"] = config["step"] = number + 1
    trainer.config["rate"] = 0.1
# These are there now.
trainer.config["factor"] = 2.0
trainer.names.append("b")
config["scale"] = 3.0
for function in jitted:
    function(x)


class Net(eqx.Module):
    layers: tuple

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Fitted:
    def __init__(self):
        first, second = jax.random.split(jax.random.key(0))
        self.net = Net((eqx.nn.Linear(3, 3, key=first), eqx.nn.MLP(3, 1, 4, 1, key=second)))
        self.jitted = jax.jit(self.loss)

    def loss(self, params, x):
        return eqx.combine(params, self.static)(x).sum()


fitted = Fitted()
for _ in range(2):
    params, fitted.static = eqx.partition(fitted.net, eqx.is_array)
    fitted.jitted(params, x)


class Loss:
    def __init__(self):
        self.weight = 1.0

    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.weight


@functools.partial(jax.jit, static_argnames="loss")
def doubled(x, loss):
    return 2 * x * loss.weight


loss = Loss()
loss(x)
doubled(x, loss=loss)
loss.weight = 5.0
loss(x)
doubled(x, loss=loss)
