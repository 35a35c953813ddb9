"""Every public transformation of optax, as the installed version has them."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
import optax.contrib

from .inputs import Tree, inputs
from .sweep import Subject

Given = tuple[tuple[Any, ...], dict[str, Any]]


def _everywhere(value: Any) -> Callable[[Any], Any]:
    return lambda params: jax.tree.map(lambda _: value, params)


def _norm(updates: Any) -> Any:
    return optax.global_norm(updates)


def _required() -> dict[str, Any]:
    """What a required parameter is given, by its name: the value of a tutorial, and for what wraps another transformation,
    one with a state."""
    return {
        "learning_rate": 0.1, "step_size": 0.1, "decay": 0.9, "clipping": 0.1, "max_delta": 1.0, "max_norm": 1.0,
        "threshold": 1.0, "eta": 0.01, "gamma": 0.55, "max_consecutive_errors": 3, "sync_period": 2, "slow_step_size": 0.5,
        "max_backtracking_steps": 5, "max_linesearch_steps": 5, "l2_norm_clip": 1.0, "noise_multiplier": 0.1, "seed": 0,
        "inner": optax.adam(0.1), "tx": optax.adam(0.1), "optimizer": optax.adam(0.1), "base_optimizer": optax.adam(0.1),
        "fast_optimizer": optax.adam(0.1), "adv_optimizer": optax.sgd(0.1), "inner_factory": optax.adam,
        "should_transform_fn": lambda step, **_: step % 2 == 0, "mask": _everywhere(True), "freeze_mask": _everywhere(False),
        "measure": _norm, "measure_name": "norm", "measures": {"norm": _norm}, "step_size_fn": lambda count: 0.1 / (1 + count),
        "transforms": {"all": optax.adam(0.1)}, "param_labels": _everywhere("all"), "f": lambda updates, _params: updates,
    }  # fmt: skip


def _alone() -> dict[str, Given]:
    """Arguments that go by the function, not by the parameter."""
    clipped = (optax.clip(1.0), optax.adam(0.1))
    return {
        "optax.chain": (clipped, {}),
        "optax.named_chain": (tuple(zip(("clip", "adam"), clipped, strict=True)), {}),
        # Here a mask is a tree that is applied as it stands, and True all of it.
        "optax.freeze": ((True,), {}),
        "optax.selective_transform": ((optax.adam(0.1),), {"freeze_mask": False}),
    }


def constructors() -> dict[str, Callable[..., Any]]:
    """The public functions that say that they return a transformation; where one says nothing of what it returns, those
    whose code names the type."""
    found: dict[str, Callable[..., Any]] = {}
    for module in (optax, optax.contrib):
        for name, value in sorted(vars(module).items()):
            if isinstance(value, types.FunctionType) and not name.startswith("_") and value not in found.values():
                returned = inspect.signature(value).return_annotation
                said = inspect.getsource(value) if returned is inspect.Signature.empty else str(returned)
                if "GradientTransformation" in said:
                    found[f"{module.__name__}.{name}"] = value
    return found


def make(name: str, constructor: Callable[..., Any]) -> Any:
    """The transformation.

    Raises `TypeError` for a parameter that the tables above have no value for.
    """
    if name in _alone():
        args, kwargs = _alone()[name]
        return constructor(*args, **kwargs)
    table = _required()
    parameters = inspect.signature(constructor).parameters.values()
    required = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    unknown = [parameter for parameter in required if parameter not in table]
    if unknown:
        raise TypeError(f"nothing is known to give the required parameters {', '.join(unknown)}")
    made = constructor(**{parameter: table[parameter] for parameter in required})
    # `inject_hyperparams` and its like return a constructor.
    return made if isinstance(made, optax.GradientTransformation) else made(learning_rate=0.1)


def _applied(params: Any, updates: Any) -> Any:
    """The parameters with the updates applied, to those that have one."""
    return jax.tree.map(
        lambda update, param: param if update is None else optax.apply_updates(param, update),
        updates,
        params,
        is_leaf=lambda update: update is None,
    )


def _loss(params: Any, *_: Any) -> Any:
    return sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(params))


def begin(name: str, constructor: Callable[..., Any], kind: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A training step of that transformation, and what it is called with first."""
    params, grads = inputs()[kind]
    transformation = optax.with_extra_args_support(make(name, constructor))
    if name == "optax.lookahead":
        params = optax.LookaheadParams.init_synced(params)
    extra: Tree = {"value_fn": _loss}
    if name in ("optax.contrib.sophia", "optax.contrib.hutchinson_estimator_diag_hessian"):
        extra = {"obj_fn": _loss}
    if "differentially_private" in name or name.endswith("dpsgd"):
        # Gradients of each example, along a first axis.
        grads = jax.tree.map(lambda grad: jnp.broadcast_to(grad, (2, *jnp.shape(grad))), grads)

    def step(params: Any, state: Any, grads: Tree) -> tuple[Any, Any]:
        known = {} if name == "optax.contrib.sam" else {"value": _loss(params), "grad": grads, **extra}
        updates, state = transformation.update(grads, state, params, **known)
        return _applied(params, updates), state

    return step, (params, transformation.init(params), grads)


def subjects() -> Iterator[Subject]:
    """Every transformation with every kind of input."""
    for name, constructor in constructors().items():
        for kind in inputs():
            begun = functools.partial(begin, name, constructor, kind)
            yield Subject(name, kind, ("params", "state", "gradients"), begun)
