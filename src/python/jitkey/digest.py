"""What tracing can see of a call, as text, and which trace served a call.

A body returns its arrays in a `Served`, a pytree node whose aux data is the number of the trace that made it. jax keeps the
tree of the output with the trace, so that the number comes back with every call that the trace serves, however it was
found, and costs nothing in the program itself.

In the text, types stand where a key may have values only (`1` and `True`). What no body can tell is left out: addresses,
the hash of an object, the order of a set, devices, commitment and contents of arrays.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import re
import types
import weakref
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import config

from . import contexts, parsed
from .observe import unobserved


class Served(list[Any]):
    """The arrays that a body returned, with the number of its trace."""

    number = 0
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


def _served(arrays: Iterable[Any], number: int) -> Served:
    served = Served(arrays)
    served.number = number
    return served


class _Any:
    """A number that is equal to that of every trace."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


_ANY: Any = _Any()


def of_each(parts: Iterable[Any]) -> Served:
    """Something for each array that a body returns, whichever trace makes it."""
    return _served(parts, _ANY)


jax.tree_util.register_pytree_node(Served, lambda served: (list(served), served.number), lambda number, arrays: _served(arrays, number))

_numbers = itertools.count(1)
_texts: dict[int, str] = {}
_names: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()
_probed: dict[tuple[str, tuple[str, ...]], str] = {}
_wanted = True
_probing = False


def begin(*, wanted: bool, probing: bool) -> None:
    """Forgets the traces of the case before. Texts are made if they are `wanted`; `probing` adds to each what a few programs
    are traced to, by which it shows whatever config flags change."""
    global _wanted, _probing
    _wanted, _probing = wanted, probing
    _texts.clear()


def traced(seen: Any, returned: Iterable[Any]) -> list[Any]:
    """The output of a body that was traced with the arguments `seen`: a `Served`, unless nothing is called."""
    if not _wanted:
        return list(returned)
    number = next(_numbers)
    text = typed(seen)
    if contexts.USER is not None:
        text = f"{text} user context {typed(contexts.USER.value)}"
    _texts[number] = f"{text} {_probe()}" if _probing and not jax.config.jax_disable_jit else text
    return _served(returned, number)


def text_of(output: Any) -> str | None:
    """What the trace saw that `output` comes from; None if that isn't known."""
    return _texts.get(output.number) if isinstance(output, Served) else None


def latest() -> tuple[int, str]:
    """The number and text of the last trace; 0 and nothing if there was none."""
    return next(reversed(_texts.items()), (0, ""))


def differing(warm: str, cold: str) -> tuple[str, str]:
    """The parts of two texts around their first difference."""
    at = next((i for i, (a, b) in enumerate(zip(warm, cold, strict=False)) if a != b), min(len(warm), len(cold)))
    start = max(0, at - 30)
    return warm[start : at + 50], cold[start : at + 50]


def name(made: type, called: str) -> None:
    """A class of the case is known by this: two of them can have one name in Python, and are two to a body."""
    _names[made] = called


def _name(made: type) -> str:
    return _names.get(made, made.__name__)


def _programs() -> Any:
    key = jax.random.key(0)
    x = jnp.ones((4, 4), jnp.float32)
    return (
        jax.random.gumbel(key, (3,)), jax.random.normal(key, (2,)), jax.random.randint(key, (2,), 0, 9),
        jax.random.PRNGKey(0), jnp.dot(x, x), jax.nn.softmax(x), jax.nn.sigmoid(x), jnp.sqrt(x) / x,
    )  # fmt: skip


def _probe() -> str:
    """What the programs are traced to, in which every config flag and context may show."""
    values = tuple(repr(holder.value) for holder in jax.config._value_holders.values())
    state = repr(config.trace_context()), values
    if state not in _probed:
        with unobserved():
            try:
                # A new function each time: what is probed for is what jax's own cache of jaxprs doesn't see.
                _probed[state] = re.sub("0x[0-9a-f]+", "", str(jax.make_jaxpr(lambda: _programs())()))
            except Exception as error:
                _probed[state] = type(error).__name__
    return _probed[state]


def is_ref(value: Any) -> bool:
    """Whether it stands for a reference to an array, inside of a trace."""
    return isinstance(value, jax.core.Tracer) and type(value.aval).__name__ == "AbstractRef"


def typed(value: Any) -> str:
    """The value with the types of everything in it."""
    kind = type(value)
    if is_ref(value):
        return f"ref {value.aval}"
    if isinstance(value, jax.core.Tracer):
        return _aval(value.aval.dtype, value.aval.shape, getattr(value.aval, "weak_type", False))
    if isinstance(value, (jax.Array, np.ndarray)):
        return f"array {value.dtype}{list(value.shape)}"
    if isinstance(value, np.generic):
        return f"numpy.{kind.__name__} {value.item()!r}"
    if isinstance(value, enum.Enum):
        return f"{_name(kind)}.{value.name}"
    if kind in parsed.CLASSES or value is None or kind in (bool, int, float, complex, str, bytes, bytearray, range, type(...)):
        return f"{kind.__name__} {value!r}"
    if isinstance(value, (np.dtype, jax.tree_util.PyTreeDef, jax.sharding.PartitionSpec, jax.ShapeDtypeStruct)):
        return f"{kind.__name__} {value}"
    return f"{_name(kind)}({', '.join(_parts(value))})"


@functools.lru_cache(4096)
def _aval(dtype: Any, shape: tuple[Any, ...], weak: bool) -> str:
    return f"{'~' if weak else ''}{dtype}{list(shape)}"


def _parts(value: Any) -> Iterable[str]:
    if isinstance(value, (set, frozenset)):
        return sorted(map(typed, value))
    if isinstance(value, collections.defaultdict):
        return [typed(value.default_factory), *_pairs(value)]
    if isinstance(value, (dict, types.MappingProxyType)):
        return _pairs(value)
    if isinstance(value, (tuple, list)):
        return map(typed, value)
    if isinstance(value, slice):
        return map(typed, (value.start, value.stop, value.step))
    if isinstance(value, (functools.partial, jax.tree_util.Partial)):
        return [typed(value.func), *map(typed, value.args), *_pairs(value.keywords)]
    if isinstance(value, types.MethodType):
        return [typed(value.__self__)]
    if isinstance(value, type):
        return [_name(value)]
    if dataclasses.is_dataclass(value):
        return [f"{field.name}={typed(getattr(value, field.name, None))}" for field in dataclasses.fields(value)]
    for base in (int, float, str):
        if isinstance(value, base):
            return [base.__repr__(value)]
    looked_at = getattr(type(value), "looked_at", _OURS)
    return [f"{name}={typed(part)}" for name, part in sorted(getattr(value, "__dict__", {}).items()) if name in looked_at]


def _pairs(items: Any) -> list[str]:
    return [f"{typed(key)}: {typed(value)}" for key, value in items.items()]


_OURS = ("value", "children", "aux", "args", "kwargs")
"""The attributes of instances of a case's classes that a body can look at, where the class doesn't say; `hash` is the
instance's own."""
