"""The classes of cases.

A case must meet no class that another case met: a class whose `__eq__` raises can poison the entries of unrelated
functions. But jax and equinox keep every registered class for ever, and of others jaxlib remembers by their addresses how it
takes their instances. So classes are lent, and none ever goes: when all caches have been cleared, nothing else remembers
them, and they can be lent again.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from . import digest, environment, functions
from .errors import Malformed, Unsupported

BUILTINS = {"str": str, "int": int, "float": float, "tuple": tuple, "list": list, "dict": dict}

_lent: list[tuple[str, type]] = []
_free: dict[str, list[type]] = collections.defaultdict(list)


@dataclasses.dataclass(frozen=True)
class Made:
    """A class with what its instances are made of."""

    kind: str
    made: Any


def reclaim() -> None:
    """Takes all lent classes back; only right after every cache was cleared."""
    for key, made in _lent:
        _free[key].append(made)
    _lent.clear()


def make(name: str, form: dict[str, Any], known: dict[str, Made]) -> Made:
    """A class of a case; `known` are those before it."""
    ((kind, spec),) = form.items()
    base = _base(name, spec["of"], known) if kind == "subclass" else None
    makers: dict[str, Callable[[str, Any], type]] = {
        "namedtuple": _namedtuple, "node": _node, "dataclass": _dataclass, "module": _module,
        "nnx_module": _nnx_module, "plain": _plain, "plain_dataclass": _plain_dataclass, "enum": _enum, "int_enum": _int_enum,
    }  # fmt: skip
    if base is None and kind not in makers:
        raise Unsupported(f"class {kind}")
    key = json.dumps([name, form, id(base.made) if base is not None else None])
    if _free[key]:
        made = _free[key].pop()
    else:
        # As what is defined again has the name of what was there, `Config1` is another class that is called `Config`.
        called = re.sub(r"(?<=.)(__)?\d+$", "", name)
        made = makers[kind](called, spec) if base is None else _subclass(called, base, shows_itself=spec.get("repr", False))
        digest.name(made, name)
    _lent.append((key, made))
    return Made(kind if base is None else base.kind, made)


def _method() -> dict[str, Any]:
    return {name: made for name, made in functions.methods().items() if name != "__call__"}


def _with_method(made: Any) -> Any:
    for name, method in _method().items():
        setattr(made, name, method)
    return made


def _namedtuple(name: str, fields: list[str]) -> type:
    return _with_method(collections.namedtuple(name, fields))  # type: ignore[misc]


def _node(name: str, _spec: dict[str, Any]) -> type:
    def __init__(self: Any, children: list[Any], aux: Any) -> None:
        self.children, self.aux = children, aux

    made: Any = type(name, (), {"__init__": __init__, **_method()})

    def unflatten(aux: Any, children: Any) -> Any:
        node: Any = object.__new__(made)
        node.children, node.aux = children, aux
        return node

    jax.tree_util.register_pytree_node(made, lambda node: (tuple(node.children), node.aux), unflatten)
    return made


def _dataclass(name: str, spec: dict[str, Any]) -> type:
    data, meta = spec.get("data", []), spec.get("meta", [])
    made = dataclasses.make_dataclass(name, [*data, *meta], namespace=_method())
    jax.tree_util.register_dataclass(made, data, meta)
    return made


def _module(name: str, spec: dict[str, Any]) -> type:
    equinox: Any = environment.optional("equinox")
    if equinox is None:
        raise Unsupported("equinox.Module")
    lines = [f"    {field}: Any" for field in spec.get("fields", [])]
    lines += [f"    {field}: Any = static()" for field in spec.get("static", [])]
    parts = functions.methods()
    lines += [f"    {method} = _parts['{method}']" for method in parts]
    scope = {
        "Module": equinox.Module, "Any": Any, "static": lambda: equinox.field(static=True),
        "_parts": parts, "__name__": __name__,
    }  # fmt: skip
    exec(f"class {name}(Module):\n" + "\n".join(lines), scope)
    return scope[name]


def _nnx_module(name: str, spec: dict[str, Any]) -> type:
    flax: Any = environment.optional("flax.nnx")
    if flax is None:
        raise Unsupported("flax.nnx.Module")

    def __init__(self: Any, **fields: Any) -> None:
        for field in spec.get("params", []):
            setattr(self, field, flax.Param(fields[field]))
        for field in spec.get("static", []):
            setattr(self, field, fields[field])

    looked_at = tuple(spec.get("static", []))
    return type(flax.Module)(name, (flax.Module,), {"__init__": __init__, "looked_at": looked_at, **_method()})


def _plain_dataclass(name: str, spec: dict[str, Any]) -> type:
    return dataclasses.make_dataclass(name, spec["fields"], frozen=spec.get("frozen", False), namespace=_method())


def _enum(name: str, members: list[str]) -> type:
    return _with_method(enum.Enum(name, members))  # type: ignore[misc]


def _int_enum(name: str, members: list[str]) -> type:
    return _with_method(enum.IntEnum(name, members))  # type: ignore[misc]


def _base(name: str, of: str, known: dict[str, Made]) -> Made:
    if of in known:
        return known[of]
    if of not in BUILTINS:
        raise Malformed(f"class {name} is a subclass of {of}, which isn't there")
    return Made("builtin", BUILTINS[of])


def _subclass(name: str, base: Made, *, shows_itself: bool) -> type:
    shown = {"__repr__": lambda self: f"{type(self).__name__}({base.made.__repr__(self)})"} if shows_itself else {}
    if base.made in BUILTINS.values():
        return type(name, (base.made,), {**shown, **_method()})
    return type(base.made)(name, (base.made,), shown)


def _plain(name: str, spec: dict[str, Any]) -> type:
    def __init__(self: Any, value: Any, hash_: int = 0) -> None:
        self.value, self.hash = value, hash_

    namespace: dict[str, Any] = {"__init__": __init__, **_method()}
    if spec.get("callable"):
        namespace["__call__"] = functions.methods()["__call__"]
    made: Any = type(name, (), namespace)
    equal, hashed = spec.get("eq", "identity"), spec.get("hash", "identity")
    if equal != "identity":
        made.__eq__ = _equality(equal, made)
    # `type()` would set it to None if `__eq__` stood in the namespace; set afterwards, both are independent.
    made.__hash__ = _hashing(hashed)
    return made


def _raise(self: Any, *_: Any) -> Any:
    raise RuntimeError(f"{type(self).__name__} can't be compared or hashed")


def _equality(policy: str, made: type) -> Callable[[Any, Any], Any]:
    def same_value(self: Any, other: Any) -> bool:
        related = isinstance(other, type(self)) or isinstance(self, type(other))
        return related and bool(self.value == other.value)

    policies: dict[str, Callable[[Any, Any], Any]] = {
        "value": same_value,
        "always": lambda _, other: isinstance(other, made),
        "never": lambda _, __: False,
        "raises": _raise,
        "array": lambda _, __: np.array([True, True]),
        "truthy": lambda self, other: "x" if same_value(self, other) else "",
    }
    return policies[policy]


def _hashing(policy: str) -> Any:
    policies: dict[str, Any] = {
        "identity": object.__hash__,
        "value": lambda self: hash(self.value),
        "constant": lambda _: 7,
        "chosen": lambda self: self.hash,
        "none": None,
        "raises": _raise,
    }
    return policies[policy]
