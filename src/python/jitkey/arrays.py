"""Arrays from their text form.

Every `jax.Array` handed out is an object that its case has not met, because identity can be seen: the same array twice
in aux data is equal by identity, two equal ones are not comparable. But those of one form share one buffer, and the next
case gets the objects of the one before: making an array costs 60 µs, a second object around its buffer 4 µs and its layout
another 6, and contents are never in a key. Donation destroys buffers, so a case that donates shares none.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.array import ArrayImpl

from .dtypes import WIDE, numpy_dtype
from .errors import Malformed, Unsupported

_TEXT = re.compile(
    r"(?P<weak>~)?(?P<numpy>np:)?(?P<big>>)?(?:key<(?P<key>\w+)>|(?P<dtype>\w+))"
    r"\[(?P<shape>[\d,\s]*)\](?:@(?P<device>\d+))?(?:=(?P<fill>-?\d+))?"
)

_IMPLEMENTATIONS = {"fry": "threefry2x32", "rbg": "rbg", "urbg": "unsafe_rbg"}

_POOL_SIZE = 4000

_OBJECTS = 50
"""Objects around one buffer that are kept; a case that asks for more gets new ones."""

_pool: dict[str, list[jax.Array]] = {}
"""Objects around one buffer, by its text, or that of its form. If it was deleted they are made again."""

_handed_out: dict[str, int] = {}
"""How many of them the case has."""


class UserArray(np.ndarray):
    """A subclass of `numpy.ndarray` that a user could have made."""


class Converted:
    """An object that becomes an array where jax asks it to."""

    def __init__(self, value: np.ndarray) -> None:
        self._value = value

    def __jax_array__(self) -> jax.Array:
        """What jax asks for."""
        return jnp.asarray(self._value)


def begin() -> None:
    """From here on arrays are for another case."""
    _handed_out.clear()


def array(text: str, *, shared: bool) -> Any:
    """The array of that text, as an object that the case has not met; on a new buffer too unless `shared`."""
    if shared and text in _pool:
        return _pooled(text, {}, {})
    parts = _parse(text)
    if parts["numpy"]:
        return _numpy(parts)
    if not shared:
        return _jax(parts, {}, shared=False)
    return _pooled(text, parts, {})


def array_form(form: dict[str, Any], *, shared: bool) -> Any:
    """The array of the map form."""
    parts = _parse(form["aval"])
    if parts["numpy"]:
        return _subclass(_order(_numpy(parts), form.get("order", "c")), form.get("subclass", "ndarray"))
    placement = form.get("placement", {})
    if not shared:
        return _jax(parts, placement, shared=False)
    return _pooled(json.dumps(form), parts, placement)


def shape_dtype_struct(form: Any) -> jax.ShapeDtypeStruct:
    """The aval that the text describes, or with a placement the map, as a placeholder."""
    text, placement = (form, {}) if isinstance(form, str) else (form["aval"], form.get("placement", {}))
    parts = _parse(text)
    dtype = _key(parts, contextlib.nullcontext()).dtype if parts["key"] else numpy_dtype(parts["dtype"])
    if parts["weak"] and jax.__version_info__ < (0, 5):
        raise Unsupported("a ShapeDtypeStruct that is weakly typed")
    options = {"weak_type": True} if parts["weak"] else {}
    if parts["device"] is not None:
        options["sharding"] = jax.sharding.SingleDeviceSharding(_device(int(parts["device"])))
    elif placement:
        options["sharding"] = sharding(placement)
    return jax.ShapeDtypeStruct(_shape(parts), dtype, **options)


def array_ref(text: str) -> Any:
    """A new reference to the array that the text describes. Raises `Unsupported` if jax has none."""
    if not hasattr(jax, "new_ref"):
        raise Unsupported("jax.new_ref")
    return jax.new_ref(_jax(_parse(text), {}, shared=False))


def _parse(text: str) -> dict[str, Any]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise Malformed(f"{text!r} is not an array")
    return match.groupdict()


def _shape(parts: dict[str, Any]) -> tuple[int, ...]:
    return tuple(int(size) for size in parts["shape"].split(",") if size.strip())


def _pooled(key: str, parts: dict[str, Any], placement: dict[str, Any]) -> jax.Array:
    known = _pool.get(key)
    if known is None or known[0].is_deleted():
        if len(_pool) >= _POOL_SIZE:
            _pool.clear()
            _handed_out.clear()
        known = _pool[key] = [_jax(parts or _parse(key), placement, shared=True)]
    number = _handed_out[key] = _handed_out.get(key, -1) + 1
    if number < len(known):
        return known[number]
    value = _another(known[0])
    if number < _OBJECTS:
        known.append(value)
    return value


def _weak(value: jax.Array) -> jax.Array:
    """The array with a weak type."""
    aval = value.aval.update(weak_type=True)
    return ArrayImpl(aval, value.sharding, value._arrays, committed=value._committed, _skip_checks=True)


def _another(value: jax.Array) -> jax.Array:
    """Another object around the same buffers."""
    if isinstance(value, ArrayImpl):
        return ArrayImpl(value.aval, value.sharding, value._arrays, committed=value._committed, _skip_checks=True)
    return type(value)(value._impl, _another(value._base_array))


def _filled(parts: dict[str, Any]) -> np.ndarray:
    """The NumPy array, contiguous and in native byte order."""
    dtype, shape = numpy_dtype(parts["dtype"]), _shape(parts)
    fill = int(parts["fill"] or 1)
    if parts["dtype"] in ("float0", "record"):
        return np.zeros(shape, dtype)
    if parts["dtype"] in ("str", "bytes", "object"):
        return np.full(shape, str(fill), dtype)
    if dtype.kind == "b":
        return np.full(shape, bool(fill), dtype)
    if dtype.kind in "mM":
        return np.full(shape, dtype.type(fill, "D"), dtype)
    return np.full(shape, dtype.type(fill), dtype)


def _numpy(parts: dict[str, Any]) -> np.ndarray:
    value = _filled(parts)
    return value.astype(value.dtype.newbyteorder(">")) if parts["big"] else value


def _order(value: np.ndarray, order: str) -> np.ndarray:
    if order == "fortran":
        return np.asfortranarray(value)
    if order == "read_only":
        value.flags.writeable = False
    elif order == "strided" and value.ndim:
        return np.repeat(value, 2, axis=-1)[..., ::2]
    elif order == "reversed" and value.ndim:
        return value[::-1]
    return value


def _subclass(value: np.ndarray, subclass: str) -> Any:
    if subclass == "masked":
        return np.ma.masked_array(value, mask=np.ones(value.shape, bool))
    if subclass == "matrix":
        return np.asmatrix(value)
    if subclass == "converted":
        return Converted(value)
    return value.view(UserArray) if subclass == "user" else value


def _jax(parts: dict[str, Any], placement: dict[str, Any], *, shared: bool) -> jax.Array:
    try:
        if parts["key"]:
            return _placed(_key(parts, _made_on(placement)), parts, placement)
        return _placed(_uncommitted(parts, _made_on(placement), shared), parts, placement)
    except (TypeError, ValueError, KeyError, NotImplementedError) as error:
        raise Unsupported(f"array {parts['dtype'] or parts['key']}: {error}") from error


def _made_on(placement: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    """The context in which an array is made that lives on another device without being committed to it."""
    device = 0 if placement.get("committed") else placement.get("device", 0)
    return jax.default_device(_device(device)) if device else contextlib.nullcontext()


def _uncommitted(parts: dict[str, Any], made_on: contextlib.AbstractContextManager[Any], shared: bool) -> jax.Array:
    with enable_x64(True) if parts["dtype"] in WIDE else contextlib.nullcontext(), made_on:
        # device_put compiles nothing, but the array may live in NumPy's memory, which nobody can donate.
        value = (jax.device_put if shared else jnp.asarray)(_filled(parts))
    return _weak(value) if parts["weak"] else value


def _placed(value: jax.Array, parts: dict[str, Any], placement: dict[str, Any]) -> jax.Array:
    """The array where it is asked to live, which commits it."""
    place: Any = None
    if parts["device"] is not None:
        place = jax.sharding.SingleDeviceSharding(_device(int(parts["device"])))
    elif any(placement.get(name) for name in ("sharding", "committed", "memory_kind", "layout")):
        place = sharding(placement)
    if placement.get("layout"):
        place = _layout(tuple(placement["layout"]), place)
    with enable_x64(True) if parts["dtype"] in WIDE else contextlib.nullcontext():
        if placement.get("moved_off"):
            value = jax.device_put(value, sharding({"sharding": placement["moved_off"]}))
            if not placement.get("committed"):
                return _likeness(value)
            # Given as a device and no sharding, it leaves the type as it is.
            return jax.device_put(value, _device(placement.get("device", 0)))
        return value if place is None else jax.device_put(value, place)


def _likeness(value: jax.Array) -> jax.Array:
    """What `jnp.zeros_like` makes in a program that doesn't have the value itself, of whose type some versions keep the mesh."""
    made = jax.jit(jnp.zeros_like)(value)
    typed: Any = getattr(made.aval, "sharding", None)
    if made._committed or typed is None or typed.mesh.empty:
        raise Unsupported("an array that isn't committed and has a mesh in its type")
    return made


def sharding(placement: dict[str, Any]) -> jax.sharding.Sharding:
    """The sharding of what is placed so."""
    kind = {"memory_kind": placement["memory_kind"]} if placement.get("memory_kind") else {}
    if placement.get("sharding"):
        named = placement["sharding"]
        splits = [tuple(split) if isinstance(split, list) else split for split in named.get("spec", ())]
        over = mesh(named["mesh"], named.get("devices"), named.get("explicit"))
        return jax.sharding.NamedSharding(over, jax.sharding.PartitionSpec(*splits), **kind)
    return jax.sharding.SingleDeviceSharding(_device(placement.get("device", 0)), **kind)


def _layout(order: tuple[int, ...], sharding: Any) -> Any:
    from jax.experimental import layout

    if hasattr(layout, "Format") and not hasattr(layout, "DeviceLocalLayout"):
        return layout.Format(layout.Layout(order), sharding)
    if not hasattr(layout, "DeviceLocalLayout"):
        raise Unsupported("layout")
    return layout.Layout(layout.DeviceLocalLayout(order), sharding)


def mesh(axes: dict[str, int], numbers: list[int] | None = None, explicit: list[str] | None = None) -> jax.sharding.Mesh:
    """A mesh of these axes over the devices of these numbers, or the first ones; raises `Unsupported` for explicit ones if jax
    has none."""
    sizes = tuple(axes.values())
    devices = np.array([_device(number) for number in numbers or range(int(np.prod(sizes)))]).reshape(sizes)
    if not explicit:
        return jax.sharding.Mesh(devices, tuple(axes))
    kinds = getattr(jax.sharding, "AxisType", None)
    if kinds is None:
        raise Unsupported("explicit axes")
    types = tuple(kinds.Explicit if axis in explicit else kinds.Auto for axis in axes)
    return jax.sharding.Mesh(devices, tuple(axes), axis_types=types)


def _key(parts: dict[str, Any], made_on: contextlib.AbstractContextManager[Any]) -> jax.Array:
    implementation = _IMPLEMENTATIONS[parts["key"]]
    data = np.asarray(jax.random.key_data(jax.random.key(int(parts["fill"] or 1), impl=implementation)))
    data = np.broadcast_to(data, _shape(parts) + data.shape).copy()
    with made_on:
        return jax.random.wrap_key_data(jnp.asarray(data), impl=implementation)


def _device(number: int) -> jax.Device:
    devices = jax.devices()
    if number >= len(devices):
        raise Unsupported(f"devices:{number + 1}")
    return devices[number]


def enable_x64(value: bool) -> contextlib.AbstractContextManager[Any]:
    """The context manager of `jax_enable_x64`, which has moved."""
    if callable(getattr(jax, "enable_x64", None)):
        return jax.enable_x64(value)
    from jax.experimental import enable_x64 as context

    return context(value)
