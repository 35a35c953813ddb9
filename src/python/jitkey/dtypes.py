"""The element types of cases, as NumPy dtypes."""

from __future__ import annotations

import jax
import ml_dtypes
import numpy as np

from .errors import Malformed, Unsupported

_NUMPY = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "str": "<U1", "object": "O", "datetime64": "datetime64[D]", "timedelta64": "timedelta64[D]",
    "longdouble": "longdouble", "clongdouble": "clongdouble", "bytes": "S1",
}  # fmt: skip

_BY_KIND = {
    "U": "str", "S": "bytes", "O": "object", "M": "datetime64", "m": "timedelta64", "f": "longdouble", "c": "clongdouble",
}  # fmt: skip

_EXTENSIONS = {
    "i2": "int2", "u2": "uint2", "i4": "int4", "u4": "uint4", "bf16": "bfloat16",
    "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2", "f8_e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8_e4m3fnuz": "float8_e4m3fnuz", "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e3m4": "float8_e3m4",
    "f8_e4m3": "float8_e4m3", "f8_e8m0fnu": "float8_e8m0fnu", "f6_e2m3fn": "float6_e2m3fn",
    "f6_e3m2fn": "float6_e3m2fn", "f4_e2m1fn": "float4_e2m1fn",
}  # fmt: skip

WIDE = frozenset(("i64", "u64", "f64", "c128"))
"""The dtypes that jax makes only with `jax_enable_x64`."""


def numpy_dtype(name: str) -> np.dtype:
    """The dtype of that short name."""
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _EXTENSIONS:
        scalar_type = getattr(ml_dtypes, _EXTENSIONS[name], None)
        if scalar_type is None:
            raise Unsupported(f"dtype {name}")
        return np.dtype(scalar_type)
    if name == "float0":
        return jax.dtypes.float0
    if name == "record":
        return np.dtype([("a", "float32")])
    raise Malformed(f"{name!r} is not a dtype")


def dtype_name(dtype: np.dtype) -> str:
    """The short name of that dtype: the inverse of `numpy_dtype`."""
    for name, full in (_NUMPY | _EXTENSIONS).items():
        if full == dtype.name:
            return name
    if dtype == jax.dtypes.float0:
        return "float0"
    # No array of jax has these, however long or fine they are.
    of_kind = "record" if dtype.names else _BY_KIND.get(dtype.kind)
    if of_kind is None:
        raise Unsupported(f"dtype {dtype}")
    return of_kind


def numpy_scalar(name: str, number: float) -> np.generic:
    """A NumPy scalar."""
    dtype = numpy_dtype(name)
    if dtype.kind in "mM":
        return dtype.type(int(number), "D")
    if dtype.kind in "biu":
        number = int(number)
    return dtype.type(number)
