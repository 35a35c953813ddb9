"""The names of a running program's objects, and the ends of those that are held weakly."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import math
import re
import types
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.array import ArrayImpl
from jax._src.tree_util import default_registry

from . import parsed
from .changing import Changing, is_settable, weakly
from .dtypes import dtype_name
from .equality import compared_fields, hash_of, is_compared, is_hashed_by_identity
from .errors import Unsupported
from .graphs import Graphs, is_graph, is_node_def, is_split, nnx_attributes
from .options import has_options, jit_options
from .outside import Outside
from .parameters import NAME, params_of
from .record import DICTS, equal, is_axis, is_module, is_real, placement, tracer, written_aval
from .source import NOTHING, body, function_text, held_by, is_by_identity, is_outside, own_name, stored
from .structures import Structures
from .texts import LONG, has_arrays, identity_text, is_plain, text_of, value_text

ARRAYS = 4096
"""Avals that are known with their placement, at most."""

ALIKE = 64
"""So many objects that are equal are known at once."""

WAS_SO = "since what was so was changed"
"""What is said of a value that looks as another did, which doesn't any more."""

_REF: Any = getattr(core, "Ref", None)
"""The class of references to arrays, if jax has one."""

A_JIT = jax.jit(lambda: None)


class Objects(Graphs):
    """The names of classes and objects, with the ends of those that are held weakly."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped: list[str] = []
        """Objects that are gone, of which no line has said so."""
        self.deleted: list[str] = []
        """The arrays without buffers of which no line has said so: those that the program has deleted."""
        self.donated: list[str] = []
        """The same, those that a call was given."""
        self._gone: set[str] = set()
        """The arrays of which it was said that they have no buffers."""
        self.twice: set[int] = set()
        """The ids of the arrays that the call that is described has twice."""
        self.donates = False
        """Whether any function donates what it is given."""
        self.converts = False
        """Whether the leaves that are described become arrays, whatever they are."""
        self.asks = False
        """Whether an object with `__jax_array__` among them is asked for its array."""
        self.given: tuple[Any, Any] | None = None
        """What the function that is described is called with; nothing where a loop calls it."""
        self.outside: dict[str, dict[str, str]] = {}
        """What functions among the objects read from outside, of which no line has said so."""
        self._reads_of = Outside()
        self.used: set[str] = set()
        """The names that were used since `begin`."""
        self._by_id: dict[int, tuple[str, Callable[[], Any], int | None]] = {}
        self._by_hash: dict[tuple[type, int], list[tuple[str, Any]]] = {}
        self._arrays: dict[tuple[int, int, bool], tuple[Any, Any, Any]] = {}
        self._crowded = ARRAYS
        """With so many hashes those are forgotten of which nothing is left."""
        self._texts: dict[tuple[type, str], int] = {}
        """How many unequal objects have the text."""
        self._long_ones: dict[tuple[int, int, int], int] = {}
        """The numbers of long tuples, by how many items they have, their hash, and what that doesn't tell apart: -1 and -2."""
        self._count = itertools.count(1)
        self._told: set[str] = set()
        self._changing = Changing()
        self._is_hashed = True
        """Whether what is described is looked for by its hash, which aux data isn't."""
        self._structures = Structures(self._aux, self._class_of)

    def begin(self) -> None:
        """Before something is described."""
        self.used.clear()
        self.twice = set()

    def forget_what_changes(self) -> None:
        """After caches were cleared, which held what could be changed in its place."""
        self._changing.clear()

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        return f"{re.sub(r'[^A-Za-z0-9_]', '_', stem)}_{next(self._count)}"

    def news(self) -> dict[str, Any]:
        """What was not said yet: new classes and objects, and which are gone."""
        said: dict[str, Any] = {}
        if len(self.classes) == len(self._told) and not any((self.objects, self.outside, self.dropped, self.deleted, self.donated)):
            return said
        classes = {name: form for name, form in self.classes.items() if name not in self._told}
        self._told.update(classes)
        objects, outside = dict(self.objects), {name: read for name, read in self.outside.items() if read}
        self.objects.clear()
        self.outside.clear()
        dropped = taken(self.dropped)
        # What a call speaks of is there for as long as it is described, even if nothing else held it.
        now = [name for name in dropped if name not in objects and name not in self.used]
        self.dropped.extend(name for name in dropped if name not in now)
        deleted, donated = taken(self.deleted), taken(self.donated)
        for word, news in (
            ("classes", classes),
            ("objects", objects),
            ("outside", outside),
            ("dropped", now),
            ("deleted", deleted),
            ("donated", donated),
        ):
            if news:
                said[word] = news
        return said

    def returns_a_truth_value(self, written: Any) -> None:
        """Says of a function, if it is new, that it is the condition of a loop."""
        form = self.objects.get(written.get("ref"), {})
        for kind in ("def", "method", "object"):
            if kind in form:
                form[kind]["returns"] = False
        if "wrap" in form:
            self.returns_a_truth_value(form["wrap"]["func"])

    def name_of(self, value: Any) -> str | None:
        """The name that the object has already. One that is found by its hash is another once that has changed."""
        known = self._by_id.get(id(value))
        if known is None or known[1]() is not value:
            return None
        return known[0] if not self._is_hashed or known[2] == hash_of(value) else None

    def value(self, value: Any) -> Any:
        """The value as a case writes it. Raises `Unsupported` for what it has no words for."""
        if isinstance(value, jax.core.Tracer):
            if is_outside():
                raise Unsupported("a tracer that has left its trace")
            return tracer(value)
        if type(value) is _REF:
            return self._reference(value)
        if type(value).__name__ == "PRNGKeyArray" and isinstance(value, jax.Array) and value.is_deleted():
            return self._deleted(value)
        if type(value) is not ArrayImpl:
            number = _literal(value)
            is_nan = type(value) is float and math.isnan(value)
            return self._named(value) if is_nan else super().value(value if number is None else number)
        if value.is_deleted():
            return self._deleted(value)
        if id(value) in self.twice:
            return self._shared(value)
        aval, sharding = value.aval, value.sharding
        key = (id(aval), id(sharding), value._committed)
        if key not in self._arrays:
            if len(self._arrays) >= ARRAYS:
                self._arrays.clear()
            # Both are held, so that their ids are theirs alone.
            self._arrays[key] = (super().value(value), aval, sharding)
        return self._arrays[key][0]

    def _deleted(self, value: Any) -> Any:
        """An array without buffers, which is one object through all calls."""
        written = self._shared(value)
        if written["ref"] not in self._gone:
            self._gone.add(written["ref"])
            # It doesn't say which of the two became of it; programs that donate rarely delete.
            (self.donated if self.donates else self.deleted).append(written["ref"])
        return written

    def _shared(self, value: Any) -> dict[str, Any]:
        """An array that is looked at as one object."""
        name = self.name_of(value)
        if name is None:
            name = self.fresh("array")
            self.objects[name] = super().value(value)
            self._keep(value, name)
        self.used.add(name)
        return {"ref": name}

    def _reference(self, value: Any) -> Any:
        """A `jax.Ref`, which is one object through all calls."""
        name = self.name_of(value)
        if name is None:
            if placement(value.sharding) != {"device": 0}:
                raise Unsupported("recording a reference to an array elsewhere")
            if jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
                raise Unsupported("recording a reference to PRNG keys")
            name = self.fresh("Ref")
            self.objects[name] = {"array_ref": written_aval(value.aval.inner_aval)}
            self._keep(value, name)
        self.used.add(name)
        return {"ref": name}

    def static(self, value: Any) -> Any:
        """A value that is compared and hashed as a whole."""
        return self._named(value)

    def _aux(self, value: Any) -> Any:
        was, self._is_hashed = self._is_hashed, False
        try:
            return super()._aux(value)
        finally:
            self._is_hashed = was

    def _named(self, value: Any) -> Any:
        if is_plain(value) or is_real(value) or (type(value) is complex and value == value):
            return self.value(value)
        if type(value).__name__ == "_HashableCallableShim":
            # What jax.tree_util.Partial has around a functools.partial, and is compared as.
            return self._named(value.fun)
        if isinstance(value, enum.Enum) and (form := _enum(type(value), value)) is not None:
            return {"new": {"class": self._class(value, form), "member": stored(value, "_name_")}}
        if (form := _number_type(value)) is not None:
            return form
        if (text := parsed.written(value)) is not None:
            return {"parsed": text}
        if type(value) in (bytes, bytearray) and value.isascii() and value.decode().isprintable():
            return {type(value).__name__: value.decode()}
        if any(isinstance(value, base) and _is_compared_as(value, base) for base in (int, str, float)):
            return self._instance(value)
        if type(value) is tuple and len(value) > LONG and (said := self._long(value)) is not None:
            return said
        made = type(value)
        is_dict = made in DICTS or made is collections.defaultdict
        if made in (tuple, list) or (is_dict and all(type(key) is str for key in value)):
            # Compared part by part, each by identity first.
            if is_dict:
                items = {key: self._named(part) for key, part in value.items()}
                if made in DICTS:
                    return self._container(value, {DICTS[made]: items})
                return self._container(value, {"default_dict": {"factory": self._named(value.default_factory), "items": items}})
            parts = [self._named(part) for part in value]
            return {"tuple": parts} if made is tuple else self._container(value, parts)
        if isinstance(value, tuple) and hasattr(value, "_fields") and type(value).__eq__ is tuple.__eq__:
            name = self._class(value, {"namedtuple": list(value._fields)})
            return {"new": {"class": name, "args": [self._named(part) for part in value]}}
        if isinstance(value, tuple) and _is_compared_as(value, tuple):
            form = {"subclass": {"of": "tuple"}}
            return {"new": {"class": self._class(value, form), "value": {"tuple": [self._named(part) for part in value]}}}
        if type(value) is jax.tree_util.PyTreeDef and (form := self._structures.written(value, self.used)) is not None:
            return form
        if is_graph(value):
            return self._graph(iter(value.nodes), iter(value.attributes), "", [], {}, is_node=False)
        if is_node_def(value):
            return self._node_def(value, is_node=False)
        if _is_mapping(value):
            if type(value).__name__ == "FrozenDict" and not self._is_hashed:
                # It is equal to a dict that holds the same.
                return {"dict": {key: self._named(value[key]) for key in value}}
            return self._mapping(value)
        if type(value) is jax.sharding.PartitionSpec and all(axis is None or is_axis(axis) for axis in value):
            return {"partition_spec": list(value)}
        if not type(value).__weakrefoffset__ and (fields := compared_fields(value)) is not None:
            return self._record(value, fields)
        if not type(value).__weakrefoffset__ and is_compared(value) and equal(value, value):
            # It would have to be held to be known by its identity.
            return self._equal_to_others(value)
        name = self.name_of(value) or self._weakly(value)
        self.used.add(name)
        return {"ref": name}

    def _container(self, value: Any, form: Any) -> Any:
        """A dict or list that is compared part by part."""
        return form if has_arrays(value) else self._changing_one(value, form)

    def _changing_one(self, value: Any, form: Any) -> Any:
        """What can be changed in its place, of which that is the form now, as keys have it."""

        def marked(number: int) -> Any:
            return self._instance_of(value, "none", f"{_shown(value)} ({number}, {WAS_SO})")

        return self._changing.written(value, form, marked)

    def _long(self, value: tuple[Any, ...]) -> Any:
        """A long tuple, by its hash and the first of its items; None if it has no hash."""
        try:
            told = len(value), hash(value), value.count(-1)
        except Exception:  # What is in it has none, or runs the program's own code.
            return None
        number = self._long_ones.setdefault(told, len(self._long_ones) + 1)
        items = ", ".join(repr(item) if is_plain(item) else "…" for item in value[:3])
        form = {"plain": {"eq": "value", "hash": "value", "callable": False}}
        text = f"({items}, …) of {len(value)} items, number {number}"
        return {"new": {"class": self._class_of(tuple, ("long",), form), "value": {"str": text}}}

    def _weakly(self, value: Any) -> str:
        name = self._add(value)
        self._keep(value, name)
        return name

    def _keep(self, value: Any, name: str) -> None:
        key = id(value)

        def gone(_: Any) -> None:
            known = self._by_id.get(key)
            if known is not None and known[0] == name:
                del self._by_id[key]
            self.dropped.append(name)

        self._by_id[key] = (name, weakly(value, gone), hash_of(value))

    def _add(self, value: Any) -> str:
        name = self.fresh(own_name(value))
        inner = body(value)
        if isinstance(value, types.FunctionType):
            self.objects[name] = {"def": {"name": function_text(value), **self._params(value)}}
        elif isinstance(value, types.MethodType):
            called = stored(value.__func__, "__qualname__", type(value.__func__).__name__)
            self.objects[name] = {"method": {"of": self.one(value.__self__), "name": called, **self._params(value)}}
        elif _stands_for(value, inner):
            named = value if self.given is None else value.__wrapped__
            self.objects[name] = {"def": {"name": function_text(inner), **self._params(named)}}
        elif type(value) is float:
            # A nan, which keys find by its identity.
            self.objects[name] = {"float": "nan"}
        elif type(value) is type(A_JIT):
            self.objects[name] = {"wrap": {"by": "jit", "func": self._named(value.__wrapped__), **_statics(value)}}
        elif type(value) is functools.partial and type(value.func) is type(A_JIT) and (form := self._bound(value)) is not None:
            self.objects[name] = form
        elif (fields := compared_fields(value)) is not None:
            self.objects[name] = self._record(value, fields)
        elif is_compared(value):
            self.objects[name] = self._equal_to_others(value)
        else:
            params = self._params(value) if callable(value) and not isinstance(value, type) else {}
            called = identity_text(value) if is_cell(value) else text_of(value)
            self.objects[name] = {"object": {"called": called, **params}}
        if isinstance(inner, types.FunctionType) or ("object" in self.objects[name] and callable(value)):
            self.outside[name] = self._reads_of.of(value)
        return name

    def _params(self, function: Callable[..., Any]) -> dict[str, Any]:
        return params_of(function, self.given, self.value)

    def _bound(self, value: functools.partial[Any]) -> dict[str, Any] | None:
        """A partial of a jitted function, which is traced once for all that are made of it; None if cases have no words for it."""
        try:
            if has_options(value.func):
                return None
            kwargs = {key: self.value(part) for key, part in value.keywords.items()}
            return {"partial": {"func": self._named(value.func), "args": self._all(value.args), "kwargs": kwargs}}
        except Exception:  # A word for it is missing, or what is looked at raises.
            return None

    def one(self, value: Any) -> Any:
        """The value as an object that is the same each time that it is met."""
        name = self.name_of(value)
        if name is None:
            # What is long is said as a whole.
            is_long = isinstance(value, tuple) and any(type(part) is tuple and len(part) > LONG for part in tuple.__iter__(value))
            form = self._named(value) if is_long else self.value(value)
            if "ref" in form:
                return form
            name = self.fresh(type(value).__name__)
            self.objects[name] = form
            self._keep(value, name)
        self.used.add(name)
        return {"ref": name}

    def as_called(self, value: Any, *, is_whole: bool = False) -> Any:
        """The value, as one that is called, if it can be: a dataclass is no mere record then, nor a node one if it is looked at as a
        whole and compared by its identity."""
        if not callable(value) or self.name_of(value) is not None:
            return value
        if compared_fields(value) is not None:
            name = self.fresh(own_name(value))
            self.objects[name] = self._equal_to_others(value)
            self._keep(value, name)
        elif is_whole and is_by_identity(type(value)) and dataclasses.is_dataclass(value) and _is_registered(value):
            self._weakly(value)
        return value

    def _record(self, value: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """A dataclass that is no node of a tree, by its fields, so that the one that differs has its name."""
        made = self._class_of(type(value), ("record", *fields), {"plain_dataclass": {"fields": list(fields), "frozen": True}})
        form = {"new": {"class": made, "fields": {name: self._named(field) for name, field in fields.items()}}}
        return form if self._is_hashed or not is_settable(type(value)) else self._changing_one(value, form)

    def _equal_to_others(self, value: Any) -> dict[str, Any]:
        """An instance whose value says which others it is equal to."""
        key, hashed = (type(value), 0), "identity"
        if not is_hashed_by_identity(value):
            try:
                key, hashed = (type(value), hash(value) if self._is_hashed else 0), "value"
            except TypeError:  # It can't be hashed: it is compared with all of its class.
                hashed = "none"
            except Exception:  # It runs the program's own code.
                hashed = "raises"
        if len(self._by_hash) >= self._crowded:
            self._by_hash = {key: held for key, held in self._by_hash.items() if any(one() is not None for _, one in held)}
            self._crowded = ARRAYS + 2 * len(self._by_hash)
        entries = self._by_hash.setdefault(key, [])
        entries[:] = [(text, held) for text, held in entries if held() is not None]
        text = next((text for text, held in entries if equal(held(), value)), None)
        if text is None:
            text = _shown(value)
            number = self._texts[type(value), text] = self._texts.get((type(value), text), 0) + 1
            if number > 1:
                was_so = any(known == text and _shown(held()) != text for known, held in entries)
                text = f"{text} ({number}, {WAS_SO})" if was_so else f"{text} ({number})"
            entries.append((text, weakly(value)))
        elif type(value).__weakrefoffset__ and len(entries) < ALIKE and all(held() is not value for _, held in entries):
            # The one that it equals can be gone before it is.
            entries.append((text, weakly(value)))
        return self._instance_of(value, hashed, text)

    def _instance_of(self, value: Any, hashed: str, text: str) -> dict[str, Any]:
        """An instance that is compared by this text."""
        form = {"plain": {"eq": "value", "hash": hashed, "callable": callable(value)}}
        # The same class can be met as a node of a tree, too, and where nothing of it is hashed.
        return {"new": {"class": self._class_of(type(value), ("plain", hashed), form), "value": {"str": text}}}

    def _instance(self, value: Any) -> Any:
        """A registered dataclass by its fields, so that its leaves have their names; a number of a class of its own."""
        if is_graph(value):
            return self._graph(iter(value.nodes), iter(value.attributes), "", [], {})
        if is_node_def(value):
            return self._node_def(value)
        if is_split(value):
            return self._split(value)
        if isinstance(value, np.ndarray):
            return {"array": {"aval": f"np:{written_aval(value)}", "subclass": _subclass(value)}}
        if isinstance(value, np.generic) and type(value) is not np.str_:
            # A number that a case has no scalar for is an array without dimensions.
            return f"np:{written_aval(value)}"
        if isinstance(value, complex):
            raise Unsupported(f"recording a {type(value).__name__}")
        # A subclass can say of itself what it likes; `str` of an enum's member is its name.
        plains: dict[type, Callable[[Any], Any]] = {int: int.__int__, float: float.__float__, str: str.__str__}
        for base, plain in plains.items():
            if isinstance(value, base) and (base is str or not isinstance(value, np.generic)):
                # What it prints is the program's own code to say.
                shown = {"repr": True} if type(value).__repr__ is not base.__repr__ else {}
                name = self._class(value, {"subclass": {"of": base.__name__, **shown}})
                return {"new": {"class": name, "value": self.value(plain(value))}}
        if dataclasses.is_dataclass(value) and not is_module(value):
            try:
                children, aux = default_registry.flatten_one_level(value)
            except (TypeError, ValueError):
                return self._named(value)
            fields = {field.name: stored(value, field.name, NOTHING) for field in dataclasses.fields(value)}
            data = _data_fields(value, fields, list(children))
            if data is not None and all(part is not NOTHING for part in fields.values()) and all(map(NAME.match, fields)):
                # A class that is flattened by the program's own code can leave fields out, which then are in no key.
                held = _parts(aux)
                is_seen = all(any(part is field for field in fields.values()) for part in held)
                meta = [name for name in fields if name not in data]
                meta = [name for name in meta if not is_seen or any(fields[name] is part for part in held)]
                fields = {name: field for name, field in fields.items() if name in data or name in meta}
                form: dict[str, Any] = {"dataclass": {"data": data, "meta": meta}}
                parts = {name: self.value(fields[name]) if name in data else self._aux(fields[name]) for name in fields}
                return {"new": {"class": self._class(value, form), "fields": parts}}
        if self.converts and hasattr(type(value), "__jax_array__") and not _is_registered(value):
            return self._converted(value)
        return self._by_attributes(value) or super()._instance(value)

    def _by_attributes(self, value: Any) -> dict[str, Any] | None:
        """An object of `flax.nnx` that is a node by itself, as a dataclass of what it has now; None for anything else."""
        found = nnx_attributes(value)
        if found is None:
            return None
        data, static = found
        form = {"dataclass": {"data": list(data), "meta": list(static)}}
        fields = {name: self.value(part) for name, part in data.items()} | {name: self._named(part) for name, part in static.items()}
        return {"new": {"class": self._class_of(type(value), ("attributes", *data, "", *static), form), "fields": fields}}

    def _converted(self, value: Any) -> Any:
        """An object that is asked for its array, as jax asks it."""
        made: Any = value.__jax_array__() if self.asks else None
        is_array = isinstance(made, (jax.Array, np.ndarray, np.generic)) and not isinstance(made, jax.core.Tracer)
        if not is_array or getattr(made, "weak_type", False):
            raise Unsupported("recording an object with __jax_array__")
        dtype, shape = dtype_name(made.dtype), ",".join(map(str, made.shape))
        return {"array": {"aval": f"np:{dtype}[{shape}]", "subclass": "converted"}}


def _statics(wrapper: Any) -> dict[str, Any]:
    """Which arguments of a jitted function are static."""
    try:
        options = jit_options(wrapper)
    except Exception:  # There are others, which have no words.
        return {}
    return {name: numbers for name, numbers in options.items() if name.startswith("static")}


def _parts(aux: Any) -> list[Any]:
    """What the data of a node are made of."""
    if type(aux) is dict:
        return list(aux.values())
    return list(aux) if type(aux) in (tuple, list) else [] if aux is None else [aux]


def _shown(value: Any) -> str:
    """What a value that is compared as a whole holds; its class is said beside it."""
    text = value_text(value).removeprefix(f"{type(value).__name__}(").removesuffix(")")
    # A string that it is made of is quoted as any, if it can't be taken for more.
    return text[1:-1] if re.fullmatch("'[^',=<({[]+'", text) else text


def is_open(value: Any) -> bool:
    """Whether what it holds can be looked at. An object of a class of the program's can be called, too, a model or a loss, by a method that
    may be jitted; a function is made for that."""
    call = getattr(type(value), "__call__", None)
    is_an_object = type(value) is not type(A_JIT) and call is not None and not isinstance(call, types.WrapperDescriptorType)
    return (is_an_object or not callable(value)) and held_by(value) is not None


def is_cell(value: Any) -> bool:
    """Whether it is compared by identity, and what it holds can be looked at; it is none that is called."""
    return is_by_identity(type(value)) and not callable(value) and is_open(value)


def taken(list_of: list[str]) -> list[str]:
    """Takes all out of a list to which any thread may add meanwhile."""
    some = list_of[:]
    del list_of[: len(some)]
    return some


def _literal(value: Any) -> Any:
    """The number that a literal of jax's own was made of, which is as weakly typed: what functions under an eager `jax.custom_jvp` are
    given. None if it is no such literal."""
    if type(value).__module__ != "jax._src.literals" or not isinstance(value, (int, float, complex)):
        return None
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else complex(value)


def _enum(made: type[enum.Enum], value: enum.Enum) -> dict[str, Any] | None:
    """The class of an enum's member as a case writes it; None if it is no plain one, whose members are compared by identity."""
    names = [stored(member, "_name_") for member in made]
    if made.__eq__ is not object.__eq__ or made.__hash__ is not enum.Enum.__hash__:
        return None
    return {"enum": names} if stored(value, "_name_") in names and all(map(NAME.match, names)) else None


def _subclass(value: np.ndarray) -> str:
    """What a case calls the class of an array: `np.memmap` is as good as a user's own."""
    if isinstance(value, np.ma.MaskedArray):
        return "masked"
    return "matrix" if isinstance(value, np.matrix) else "user"


def _data_fields(value: Any, fields: dict[str, Any], children: list[Any]) -> list[str] | None:
    """The fields of a dataclass that hold its children; a static one can hold the same object. None if some are in no field."""
    static = {field.name for field in dataclasses.fields(value) if field.metadata.get("static")}
    left = sorted(fields, key=lambda name: name in static)
    for child in children:
        name = next((name for name in left if fields[name] is child), None)
        if name is None:
            return None
        left.remove(name)
    return [name for name in fields if name not in left]


def _is_compared_as(value: Any, base: type) -> bool:
    """Whether an instance of a subclass is equal to what its base's instances are equal to, as NumPy's own is."""
    made = type(value)
    return made is np.str_ or (made is not base and made.__eq__ is base.__eq__ and made.__hash__ is base.__hash__)


def _number_type(value: Any) -> dict[str, Any] | None:
    """A dtype or a type of scalars, which are equal across libraries, as a case writes it."""
    try:
        if isinstance(value, np.dtype):
            return {"dtype": dtype_name(value)} if value.isnative else None
        if isinstance(value, type) and issubclass(value, np.generic) and np.dtype(value).type is value:
            return {"scalar_type": dtype_name(np.dtype(value))}
        if type(value).__name__ == "_ScalarMeta":
            return {"global": f"jnp.{value.__name__}"} if dtype_name(value.dtype) else None
    except (TypeError, Unsupported):
        pass
    return None


def _is_registered(value: Any) -> bool:
    """Whether jax knows it as a node of a tree."""
    try:
        return default_registry.flatten_one_level(value) is not None
    except Exception:  # It runs the program's own code.
        return False


def _is_mapping(value: Any) -> bool:
    is_it = type(value).__name__ in ("HashableMapping", "FrozenDict") and type(value).__module__.startswith("flax.")
    return is_it and not has_arrays(dict(value)) and all(type(key) is str and NAME.match(key) for key in value)


def _stands_for(value: Any, inner: Any) -> bool:
    """Whether the object is another function to jax, with the parameters of the inner one: what `nnx.jit` gives to `jax.jit`."""
    wrapped = stored(value, "__wrapped__")
    is_it = isinstance(inner, types.FunctionType) and (wrapped is inner or stored(wrapped, "__func__") is inner)
    return is_it and type(value).__module__.startswith("flax.") and type(value).__eq__ is object.__eq__
