"""Functions that read settings of a class, a module, flags or a container, which are changed afterwards."""

import collections
import logging

import jax
import jax.numpy as jnp
import settings
from absl import flags

x = jnp.ones(4)
flags.DEFINE_float("gain", 1.0, "")
FLAGS = flags.FLAGS
FLAGS(["program"])
log = logging.getLogger("program")


class Config:
    """Settings that are kept in a class, with what is made of them."""

    rate = 1.0

    @classmethod
    def halved(cls):
        return cls.rate / 2


class Mine(Config):
    """It has those of its base."""


class Model:
    """Holds what it is made with."""

    def __init__(self, config):
        self.config = config

    def forward(self, x):
        config = self.config
        scale = config.scale
        return x * scale


counts = collections.defaultdict(int, a=1)
order = collections.deque([1])
model = Model(type("Given", (), {})())
model.config.scale = 1.0

read = {
    "class": jax.jit(lambda x: x * Config.rate),
    "base": jax.jit(lambda x: x * Mine.rate),
    "module": jax.jit(lambda x: x * settings.RATE),
    "class of a module": jax.jit(lambda x: x * settings.Sizes.width),
    "flag": jax.jit(lambda x: x * FLAGS.gain),
    "defaultdict": jax.jit(lambda x: x * counts["a"]),
    "deque": jax.jit(lambda x: x * len(order)),
    "name": jax.jit(model.forward),
}


@jax.jit
def logs(x):
    log.info("what is logged is none")
    return x


for function in (*read.values(), logs):
    print(function(x))
Config.rate = settings.RATE = settings.Sizes.width = FLAGS.gain = model.config.scale = 2.0
counts["a"] = 2
order.append(2)
log.debug("nor what a logger notes of it")
for function in (*read.values(), logs):
    print(function(x))
