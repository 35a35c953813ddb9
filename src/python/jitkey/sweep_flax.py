"""The optimizers of flax: what wraps an optax transformation in an object with the parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import optax
from flax import nnx
from flax.training.train_state import TrainState

from .inputs import Tree, inputs
from .sweep import Subject

TRANSFORMATIONS = {"sgd": optax.sgd(0.1), "momentum": optax.sgd(0.1, momentum=0.9), "adam": optax.adam(0.1)}
"""Without a state, and with."""

Begun = tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]


def _train_state(transformation: Any, kind: str) -> Begun:
    params, grads = inputs()[kind]

    def step(state: Any, grads: Tree) -> tuple[Any]:
        return (state.apply_gradients(grads=grads),)

    return step, (TrainState.create(apply_fn=None, params=params, tx=transformation), grads)


class _Model(nnx.Module):
    """A module that holds those parameters."""

    def __init__(self, params: Tree) -> None:
        for name, value in params.items():
            setattr(self, name, nnx.Param(value))


def _nnx(optimizer: Callable[..., Any], transformation: Any, kind: str) -> Begun:
    """The functional form, in which the step is a function of the state of model and optimizer."""
    params, grads = inputs()[kind]
    model = _Model(params)
    graph, state = nnx.split((model, optimizer(model, transformation, wrt=nnx.Param)))
    given = nnx.state(_Model(grads), nnx.Param)

    def step(state: Any, grads: Any) -> tuple[Any]:
        model, optimizer = nnx.merge(graph, state)
        optimizer.update(model, grads) if type(optimizer) is nnx.Optimizer else optimizer.update(grads)
        return (nnx.state((model, optimizer)),)

    return step, (state, given)


def subjects() -> Iterator[Subject]:
    """Every optimizer with every kind of input."""
    optimizers: dict[str, Callable[[Any, str], Begun]] = {"flax.training.train_state.TrainState": _train_state}
    for name in ("Optimizer", "ModelAndOptimizer"):
        if hasattr(nnx, name):
            optimizers[f"flax.nnx.{name}"] = functools.partial(_nnx, getattr(nnx, name))
    for name, begin in optimizers.items():
        for short, transformation in TRANSFORMATIONS.items():
            for kind in inputs():
                begun = functools.partial(begin, transformation, kind)
                yield Subject(f"{name}({short})", kind, ("state", "gradients"), begun)
