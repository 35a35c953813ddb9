"""Eager calls of the loops and conditionals of `jax.lax`, in the words of a case."""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import Any

import jax
import numpy as np

from .dtypes import dtype_name
from .errors import Unsupported
from .objects import Objects

OPTIONS = ("reverse", "unroll")
"""Options of loops that a case has words for."""


def functions(name: str, given: inspect.BoundArguments) -> list[Any]:
    """Those that the function of that name is given."""
    if name == "switch":
        return list(given.args[1]) if isinstance(given.args[1], (list, tuple)) else []
    # What is given to them can be callable as well: a Module.
    return [value for value in given.args if callable(value)][: 2 if name in ("while_loop", "cond") else 1]


def described(given: inspect.BoundArguments, objects: Objects) -> dict[str, Any]:
    """What the call is given, in the words of a case. Raises `Unsupported` for what there are no words for."""
    parameters = given.signature.parameters
    behind = list(parameters).index("length") if "length" in parameters else len(parameters)
    others = [
        name
        for i, (name, parameter) in enumerate(parameters.items())
        if (i > behind or parameter.kind is parameter.KEYWORD_ONLY)
        and name in given.arguments
        and name != "operand"
        and repr(given.arguments[name]) != repr(parameter.default)
    ]
    options = {name: given.arguments[name] for name in others}
    if type(options.get("batch_size")) is int:
        # lax.map wraps its function anew each time, whatever it is made to take at once.
        del options["batch_size"]
    for name, option in options.items():
        if name not in OPTIONS or type(option) not in (bool, int):
            raise Unsupported(f"recording the option {name}")
    objects.converts, objects.asks = True, False
    # As a branch was given its only operand once.
    operand = [given.arguments["operand"]] if "operand" in given.arguments else []
    given.apply_defaults()
    args = given.args[:4] if "length" in given.arguments else (*given.args, *operand)
    bound = functools.partial(_bound, objects)
    written = {"lower": bound, "upper": bound}
    # There are more operands than names.
    named = zip(itertools.chain(parameters, itertools.repeat("")), args, strict=False)
    values = [written.get(name, objects.value)(objects.as_called(arg)) for name, arg in named]
    if any("array_ref" in form for form in objects.objects.values() if isinstance(form, dict)):
        raise Unsupported("recording a loop over a reference")
    if "cond_fun" in given.arguments:
        objects.returns_a_truth_value(values[0])
    return {"args": values, "kwargs": options}


def carried(given: inspect.BoundArguments, returned: Any) -> list[str | None]:
    """The dtypes with which the leaves of a carry come out, each where a weakly typed one went in with another; none if that is so of
    no leaf."""
    named = given.arguments.keys() & {"init", "init_val"}
    if not named:
        return []
    [name] = named
    before, after = map(jax.tree_util.tree_leaves, (given.arguments[name], returned[0] if name == "init" else returned))
    dtypes = [_promoted(one, other) for one, other in zip(before, after, strict=True)]
    return dtypes if any(dtypes) else []


def _promoted(before: Any, after: Any) -> str | None:
    is_weak = type(before) in (int, float, complex) or (isinstance(before, jax.Array) and before.weak_type)
    if not is_weak:
        return None
    dtype = jax.dtypes.canonicalize_dtype(getattr(before, "dtype", type(before)))
    return None if dtype == after.dtype else dtype_name(after.dtype)


def _bound(objects: Objects, value: Any) -> Any:
    """The bound of a loop: how many steps there are is part of the program, whatever holds the number."""
    form = objects.value(value)
    is_number = isinstance(value, (jax.Array, np.ndarray)) and value.ndim == 0 and value.dtype.kind in "iu"
    return f"{form}={int(value)}" if is_number and isinstance(form, str) else form
