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


class Items(dict):
    """A dict that gives its items as attributes."""

    __getattr__ = dict.__getitem__


class Itself(dict):
    """One that is its own attributes."""

    def __init__(self, **given):
        super().__init__(given)
        self.__dict__ = self


class Wrapped:
    """It has them in a dict."""

    def __init__(self, **given):
        self._given = given

    def __getattr__(self, name):
        try:
            return self._given[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name):
        return self._given[name]


class User(collections.UserDict):
    """As Python does."""


config, itself, wrapped, user = Items(model=Items(rate=1.0)), Itself(rate=1.0), Wrapped(rate=1.0, gain=1.0), User(rate=1.0)

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
    "items": jax.jit(lambda x: x * config.model.rate),
    "itself": jax.jit(lambda x: x * itself.rate),
    "wrapped": jax.jit(lambda x: x * wrapped.rate),
    "asked": jax.jit(lambda x: x * wrapped["gain"]),
    "user": jax.jit(lambda x: x * user["rate"]),
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
config.model["rate"] = itself.rate = wrapped._given["rate"] = wrapped._given["gain"] = user["rate"] = 2.0
# What nothing reads.
config["epochs"] = itself.epochs = wrapped._given["epochs"] = user["epochs"] = 3
log.debug("nor what a logger notes of it")
for function in (*read.values(), logs):
    print(function(x))
