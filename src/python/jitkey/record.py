"""Values of a running program in the words of a case: the inverse of `build`.

What a leaf or a node is made of is read off jax's own registry of pytrees; contents of arrays are never recorded, since no
key looks at them. An object that cases have no word for (a function, aux data of a library's own class) is recorded as a
named object: the one that was met before if it is equal to it, as a cache would find, and a new one otherwise.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import re
import sys
import types
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.tree_util import default_registry

from .dtypes import dtype_name
from .errors import Unsupported
from .parameters import NAME
from .source import NOTHING, held_by, stored

DICTS = {dict: "dict", collections.OrderedDict: "ordered_dict"}
"""What cases call the classes of dicts."""

LEVELS, DEEPEST = 16, 1000
"""More containers of one element in each other are a nest, which is no deeper than that."""

BASES = ("str", "int", "float", "tuple", "list", "dict")
"""What a subclass is one of, where cases have no class of that name."""

_IMPLEMENTATIONS = {"threefry2x32": "fry", "rbg": "rbg", "unsafe_rbg": "urbg"}


def is_real(value: Any) -> bool:
    """Whether it is a complex scalar of NumPy without an imaginary part, which is all that a case has words for."""
    return isinstance(value, np.complexfloating) and value.dtype.itemsize <= 16 and bool(value.imag == 0)


class _Unset:
    """The class of what stands for a field that isn't set."""


_Unset.__name__ = _Unset.__qualname__ = "unset"


class Recorder:
    """Writes a case: its classes, its objects and its calls."""

    def __init__(self) -> None:
        self.classes: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}
        self.calls: list[dict[str, Any]] = []
        self._known: list[tuple[str, Any]] = []
        self._names: dict[tuple[type, tuple[str, ...]], str] = {}
        self._stems: dict[str, tuple[str, str]] = {}
        """Where the first class of each name is written."""
        self._numbers: collections.Counter[str] = collections.Counter(BASES)
        """How many classes are called so."""

    def call(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Records a call with these arguments, before it is made; the record can still be added to."""
        call = {"args": [self.value(arg) for arg in args]}
        self.calls.append(call)
        return call

    def case(self) -> dict[str, Any]:
        """What was recorded so far."""
        return {"classes": self.classes, "objects": self.objects, "steps": [{"call": call} for call in self.calls]}

    def value(self, value: Any) -> Any:
        """The value as a case writes it.

        Raises `Unsupported` for an array that is spread over several devices.
        """
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind in (int, float):
            return _number(value)
        if kind is complex:
            return {"complex": [_number(value.real), _number(value.imag)]}
        if kind is str:
            return {"str": value}
        if kind is np.ndarray:
            return f"np:{'>' if value.dtype.byteorder == '>' else ''}{_aval(value)}"
        if is_real(value) or (isinstance(value, np.generic) and value.dtype.kind in "biuf"):
            number = value.item()
            # A longdouble is an item of itself.
            number = number.real if type(number) is complex else float(number) if isinstance(number, np.generic) else number
            return {"numpy_scalar": [dtype_name(value.dtype), _number(number)]}
        if kind in (list, tuple):
            levels, inner = _levels(value)
            if LEVELS < levels <= DEEPEST:
                return {"nest": {"levels": levels, "in": kind.__name__, "value": self.value(inner)}}
            return self._all(value) if kind is list else {"tuple": self._all(value)}
        if kind in DICTS:
            return {DICTS[kind]: self._items(value)}
        if kind is collections.defaultdict:
            return {"default_dict": {"factory": self._named(value.default_factory), "items": self._items(value)}}
        if isinstance(value, jax.Array):
            return _array(value)
        if kind is jax.ShapeDtypeStruct:
            return {"shape_dtype_struct": _placeholder(value)}
        return self._instance(value)

    def _all(self, values: Any) -> list[Any]:
        return [self.value(value) for value in values]

    def _items(self, value: Any) -> Any:
        if all(type(key) is str for key in value):
            return {key: self.value(item) for key, item in value.items()}
        return [[self.value(key), self.value(item)] for key, item in value.items()]

    def _instance(self, value: Any) -> Any:
        """An instance of a class that jax knows as a node, or a leaf that cases have no word for."""
        if isinstance(value, tuple) and hasattr(value, "_fields") and default_registry.flatten_one_level(value)[1] is type(value):
            # One that is registered as another node has other aux data than its class.
            name = self._class(value, {"namedtuple": list(value._fields)})
            return {"new": {"class": name, "args": self._all(value)}}
        if is_module(value) and not isinstance(value, types.MethodType):
            return self._module(value)
        try:
            children, aux = default_registry.flatten_one_level(value)
        except (TypeError, ValueError):
            return self._named(value)
        if type(value) is jax.tree_util.Partial and all(map(NAME.match, value.keywords)):
            kwargs = {name: self.value(part) for name, part in value.keywords.items()}
            return {"tree_partial": {"func": self._aux(aux), "args": self._all(value.args), "kwargs": kwargs}}
        keys = _keys(value)
        return {
            "new": {
                "class": self._class(value, {"node": {}}),
                "children": self._all(children),
                **({} if keys is None else {"keys": keys}),
                "aux": self._aux(aux),
            }
        }

    def _module(self, module: Any) -> Any:
        """An `equinox.Module`; a field that was never set, or that its class overrides, is no value, but tells it from one that has it."""
        own, fields = vars(module), dataclasses.fields(module)
        static = [field.name for field in fields if field.metadata.get("static", False)]
        dynamic = [field.name for field in fields if field.name not in static]
        values = {name: self.value(own[name]) if name in own else self._unset() for name in dynamic}
        values |= {name: self._aux(own[name]) if name in own else {"str": "<unset>"} for name in static}
        return {"new": {"class": self._class(module, {"module": {"fields": dynamic, "static": static}}), "fields": values}}

    def _unset(self) -> Any:
        """What equinox has in the place of a field that isn't set: a node without children."""
        return {"new": {"class": self._class_of(_Unset, (), {"node": {}}), "children": [], "aux": None}}

    def _class(self, value: Any, form: dict[str, Any]) -> str:
        return self._class_of(type(value), (), form)

    def _class_of(self, made: type, kind: tuple[str, ...], form: dict[str, Any]) -> str:
        """The name of a class, or of one of several `kind`s of its instances."""
        key = (made, kind)
        if key not in self._names:
            stem = identifier(made.__name__)
            place = (made.__module__, made.__qualname__)
            known = self._stems.setdefault(stem, place)
            if known != place:
                # Two libraries call a class alike, or one of them is in a function.
                inside = made.__qualname__.rpartition(".")[0] if known[0] == made.__module__ else ""
                parts = re.split("[^A-Za-z0-9]+", inside or made.__module__)
                stem = "_".join([stem, "of", *filter(None, parts)])
            self._numbers[stem] += 1
            number = self._numbers[stem]
            self._names[key] = name = f"{stem}__{number}" if number > 1 else stem
            self.classes[name] = form
        return self._names[key]

    def _aux(self, value: Any) -> Any:
        """What a node has besides its children."""
        return self._named(value)

    def _named(self, value: Any) -> Any:
        """A static value: itself if it is plain, and otherwise an object that stands for all that are equal to it."""
        if value is None or type(value) in (bool, int, float, str):
            return self.value(value)
        for name, known in self._known:
            if known is value or (type(known) is type(value) and equal(known, value)):
                return {"ref": name}
        name = f"{identifier(type(value).__name__)}_{len(self._known) + 1}"
        self._known.append((name, value))
        self.objects[name] = {"object": {}}
        return {"ref": name}


def _number(value: float) -> Any:
    """A number of Python's as a case writes it, by itself and inside another form."""
    if isinstance(value, int):
        return value if abs(value) < 2**63 else {"int": str(value)}
    return value if math.isfinite(value) else {"float": str(value)}


def _keys(node: Any) -> list[str] | None:
    """What paths call the children of a node; None if these are their places."""
    try:
        keyed, _ = jax.tree_util.tree_flatten_with_path(node, is_leaf=lambda part: part is not node)
    except Exception:  # It runs the program's own code.
        return None
    keys = [path[0] for path, _ in keyed]
    if not keys or any(isinstance(key, jax.tree_util.FlattenedIndexKey) for key in keys):
        return _attributes(node, [child for _, child in keyed])
    return [jax.tree_util.keystr((key,)) for key in keys]


def _attributes(node: Any, children: list[Any]) -> list[str] | None:
    """The attributes of a node that hold its children, or the items of a dict in one, as those of a `functools.partial` or of equinox's
    `State`; None if one of them is in none. Children that are one object have its attributes in the order of these."""
    slots = {name for base in type(node).__mro__ for name, it in vars(base).items() if type(it) is types.MemberDescriptorType}
    held = {name: stored(node, name, NOTHING) for name in sorted(slots)} | (held_by(node) or {})
    names: dict[int, list[str]] = {}
    for name, part in held.items():
        names.setdefault(id(part), []).append(f".{name}")
        for key, item in part.items() if type(part) is dict else ():
            if type(key) in (str, int):
                names.setdefault(id(item), []).append(f".{name}[{key!r}]")
    times = collections.Counter(id(child) for child in children)
    left = {one: iter(named) for one, named in names.items() if len(named) == times[one]}
    keys = [next(left.get(id(child), iter(())), None) for child in children]
    return [key for key in keys if key] if children and all(keys) else None


def is_module(value: Any) -> bool:
    """Whether it is an `equinox.Module`; equinox isn't imported to find out."""
    equinox: Any = sys.modules.get("equinox")
    return equinox is not None and isinstance(value, equinox.Module)


def identifier(text: str) -> str:
    """The text as a name."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def equal(one: Any, other: Any) -> bool:
    """Whether `==` says so; what can't be compared is not the same."""
    try:
        return bool(one == other)
    except Exception:  # It runs the program's own code.
        return False


def tracer(value: Any) -> Any:
    """What stands for an array inside of a trace; its type has a mesh without devices. Raises `Unsupported` for a type that a case
    has no words for."""
    if not isinstance(value.aval, core.ShapedArray):
        raise Unsupported(f"recording an array of the type {value.aval}")
    aval, sharding = written_aval(value), getattr(value.aval, "sharding", None)
    if sharding is None or sharding.mesh.empty:
        return aval
    return {"array": {"aval": aval, "placement": {"sharding": _named_sharding(sharding)}}}


def _placeholder(value: jax.ShapeDtypeStruct) -> Any:
    aval, sharding = written_aval(value), getattr(value, "sharding", None)
    if sharding is None:
        return aval
    place = placement(sharding)
    return f"{aval}@{place['device']}" if list(place) == ["device"] else {"aval": aval, "placement": place}


def _array(value: jax.Array) -> Any:
    aval, place = written_aval(value), placement(value.sharding)
    if list(place) == ["device"]:
        place |= _type_kept(value.aval, is_committed=value._committed)
    if value._committed and list(place) == ["device"]:
        return f"{aval}@{place['device']}"
    return aval if place == {"device": 0} else {"array": {"aval": aval, "placement": place}}


def _type_kept(aval: Any, *, is_committed: bool) -> dict[str, Any]:
    """The mesh that the type of an array has which is on a device: it was moved there, or jax made it in the likeness of one over it."""
    typed, space = getattr(aval, "sharding", None), getattr(aval, "memory_space", None)
    if getattr(space, "name", "Device") != "Device":
        raise Unsupported("recording an array that was moved out of the host's memory and has it in its type")
    if typed is None or typed.mesh.empty:
        return {}
    if explicit_axes(typed.mesh):
        raise Unsupported("recording an array that was moved off a mesh of Explicit axes")
    return {**({"committed": True} if is_committed else {}), "moved_off": _named_sharding(typed)}


def placement(sharding: jax.sharding.Sharding) -> dict[str, Any]:
    """The sharding as a case writes where something is. Raises `Unsupported` for what it has no words for."""
    if isinstance(sharding, jax.sharding.NamedSharding) and not isinstance(sharding.mesh, jax.sharding.Mesh):
        raise Unsupported("recording a placeholder on an abstract mesh")
    devices = list(sharding.device_set)
    usual = (None, devices[0].default_memory().kind)
    kind = {} if sharding.memory_kind in usual else {"memory_kind": sharding.memory_kind}
    if isinstance(sharding, jax.sharding.NamedSharding):
        return {"sharding": _named_sharding(sharding), **kind}
    if not isinstance(sharding, jax.sharding.SingleDeviceSharding):
        raise Unsupported(f"recording an array of the sharding {sharding}")
    return {"device": devices[0].id, **kind}


def explicit_axes(mesh: Any) -> list[str] | None:
    """The axes of a mesh that are Explicit, if the others are Auto; None for what a case has no words for."""
    kinds = [kind.name for kind in getattr(mesh, "axis_types", None) or ()]
    if not set(kinds) <= {"Auto", "Explicit"}:
        return None
    return [axis for axis, kind in zip(mesh.axis_names, kinds, strict=False) if kind == "Explicit"]


def is_axis(name: Any) -> bool:
    """Whether a case can name an axis so."""
    return isinstance(name, str) and name.isascii() and name.isidentifier()


def _named_sharding(sharding: jax.sharding.NamedSharding) -> dict[str, Any]:
    mesh, spec, explicit = sharding.mesh, sharding.spec, explicit_axes(sharding.mesh)
    unsaid = Unsupported(f"recording an array of the sharding {' '.join(str(sharding).split())}")
    # It can't be looked at part by part then.
    if getattr(spec, "unreduced", None) or getattr(spec, "reduced", None):
        raise unsaid
    splits = [list(split) if isinstance(split, tuple) else split for split in spec]
    said = all(map(is_axis, mesh.axis_names)) and all(split is None or isinstance(split, (str, list)) for split in splits)
    if explicit is None or not said:
        raise unsaid
    form = {"mesh": dict(mesh.shape), "spec": splits}
    form |= {"explicit": explicit} if explicit else {}
    return {**form, "devices": [device.id for device in mesh.devices.flat]} if isinstance(mesh, jax.sharding.Mesh) else form


def _implementation(value: Any) -> str:
    name = str(jax.random.key_impl(value))
    # jax 0.4 has the short name there.
    return _IMPLEMENTATIONS.get(name, name)


def written_aval(value: Any) -> str:
    """Dtype and shape as a case writes them."""
    return ("~" if getattr(value, "weak_type", False) else "") + _aval(value)


def _aval(value: Any) -> str:
    if not all(isinstance(size, (int, np.integer)) for size in value.shape):
        raise Unsupported("recording a shape with a symbol in it")
    shape = ",".join(map(str, value.shape))
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return f"key<{_implementation(value)}>[{shape}]"
    return f"{dtype_name(value.dtype)}[{shape}]"


def _levels(value: Any) -> tuple[int, Any]:
    """How many containers of the value's class, of one element each, are in each other from it on, and what is in the last."""
    kind, levels = type(value), 0
    while type(value) is kind and len(value) == 1 and levels < DEEPEST:
        value, levels = value[0], levels + 1
    return levels, value
