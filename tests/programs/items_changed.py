"""Configurations in dicts, which no key sees: items that a body takes are changed, and items that it doesn't."""

import copy

import jax
import jax.numpy as jnp

x = jnp.ones(3)
config = {"gain": 1.0, "name": "a", "optimizer": {"rate": 1.0, "betas": [1, 2]}, "shifts": [1.0, [2.0]]}
weights = {"w": jnp.ones(3), "note": [1]}
schedule = {"warm": [1, 2], "cold": {"steps": 3}}
traces = {"forward": 0, "other": 0}
shapes = []


class Trainer:
    def __init__(self):
        self.config = {"rate": 0.5, "deep": {"n": 1.0}, "unread": [3]}

    def step(self, x):
        return x * self.config["rate"] * self.config["deep"]["n"]


@jax.jit
def forward(x):
    traces["forward"] += 1
    shapes.append(x.shape)
    return x * config["gain"] * config["optimizer"]["rate"] + config.get("shifts", [0])[0]


@jax.jit
def other(x):
    traces["other"] += 1
    return x * len(schedule) * sum(schedule["warm"]) * max(value["steps"] for key, value in schedule.items() if key == "cold")


@jax.jit
def weighted(x):
    return x * weights["w"]


trainer = Trainer()
step = jax.jit(trainer.step)
print(forward(x), other(x), weighted(x), step(x))

# Nothing of this is read, or it is the same as before.
config["name"] = "b"
config["optimizer"]["betas"] = [3]
traces["other"] = 9
shapes.append("another")
config = copy.deepcopy(config)
weights["note"] = [2]
trainer.config["unread"] = [4]
print(forward(x), weighted(x), step(x))

config["optimizer"]["rate"] = 2.0
print(forward(x))
config["optimizer"]["rate"], config["gain"] = 1.0, 3.0
print(forward(x))
config["gain"] = 1.0
config["shifts"][0] = 5.0
print(forward(x))
schedule["cold"]["steps"] = 4
print(other(x))
weights["w"] = jnp.zeros(3)
print(weighted(x))
trainer.config["deep"]["n"] = 2.0
print(step(x))

# Beside an item it is asked how many there are.
terms = {"first": 2.0, "second": 3.0}
layers = [1.0, 2.0]


@jax.jit
def mean(x):
    return x * terms["first"] / len(terms) + layers[0] / len(layers)


print(mean(x))
terms["second"] = 4.0
layers[1] = 5.0
print(mean(x))
terms["third"] = 5.0
layers.append(6.0)
print(mean(x))

# Nor is all of it read where it is asked whether it is there, or whether there is anything in it.
chosen, listed = {"by": 2.0, "of": 3.0}, [1.0, 2.0]


@jax.jit
def asked(x):
    if listed:
        x = x + listed[0]
    return x * chosen["by"] if chosen is not None else x


print(asked(x))
chosen["of"] = listed[1] = 4.0
print(asked(x))
chosen = None
print(asked(x))
listed.clear()
print(asked(x))
