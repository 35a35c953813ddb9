"""Values from their JSON.

A value is a recipe: `{ref: name}` and `{global: name}` are the same object each time, everything else is built anew.
All of this happens before a call is observed, because making an array may itself compile.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import jax

from . import arrays, classes, contexts, functions, outputs, parsed
from .dtypes import numpy_dtype, numpy_scalar
from .errors import Malformed, Unsupported, construction


class Builder:
    """Builds the values of one case."""

    def __init__(self, case: dict[str, Any], *, shared: bool) -> None:
        self.shared = shared
        """Whether arrays may share buffers with arrays of other values and cases."""
        self.context = case.get("context", {})
        self.classes: dict[str, classes.Made] = {}
        self.objects: dict[str, Any] = {}
        self.outputs: list[Any] = []
        self.methods: dict[str, Any] = {}
        """The functions of methods that no class of the case has, by their names."""
        arrays.begin()
        self.nth = 0
        """In a step that fills caches: how many calls were before."""
        for name, form in case.get("classes", {}).items():
            with construction():
                self.classes[name] = classes.make(name, form, self.classes)
        for name, value in case.get("objects", {}).items():
            self.objects[name] = self.value(value)

    def value(self, form: Any) -> Any:
        """The value of that form."""
        if isinstance(form, str):
            return arrays.array(form, shared=self.shared)
        if isinstance(form, list):
            return [self.value(item) for item in form]
        if not isinstance(form, dict):
            return form
        if len(form) != 1:
            raise Malformed(f"a value has one form, and here are {sorted(form)}")
        ((tag, content),) = form.items()
        make = _FORMS.get(tag)
        if make is None:
            raise Unsupported(f"values of the form {tag}")
        return make(self, content)

    def all(self, forms: list[Any]) -> list[Any]:
        """The values of these forms."""
        return [self.value(form) for form in forms]

    def named(self, forms: dict[str, Any]) -> dict[str, Any]:
        """The values of these forms, by name."""
        return {name: self.value(form) for name, form in forms.items()}

    def mutate(self, mutation: dict[str, Any]) -> None:
        """Changes a named object in place."""
        target = self.ref(mutation["object"])
        if mutation.get("contents") is not None:
            contents = self.value(mutation["contents"])
            target.clear()
            target.extend(contents) if isinstance(target, list) else target.update(contents)
        if mutation.get("value") is not None:
            target.value = self.value(mutation["value"])
        if mutation.get("hash") is not None:
            target.hash = mutation["hash"]
        if mutation.get("defaults") is not None:
            target.__defaults__ = tuple(self.all(mutation["defaults"]))

    def delete(self, name: str) -> None:
        """Deletes the buffers of a named array."""
        self.ref(name).delete()

    def donate(self, name: str) -> None:
        """Gives the buffers of a named array to a program."""
        given = self.ref(name)
        jax.block_until_ready(jax.jit(jax.numpy.copy, donate_argnums=0)(given))
        if not given.is_deleted():
            raise Unsupported(f"donating {name}")

    def ref(self, name: str) -> Any:
        """The object of that name."""
        if name not in self.objects:
            raise Malformed(f"there is no object {name!r}, or it was dropped")
        return self.objects[name]

    def _items(self, items: Any) -> list[tuple[Any, Any]]:
        if isinstance(items, dict):
            return [(key, self.value(value)) for key, value in items.items()]
        return [(self.value(key), self.value(value)) for key, value in items]

    def _dict(self, items: Any, make: Callable[[Any], Any] = dict) -> Any:
        built = self._items(items)
        with construction():
            return make(built)

    def _collection(self, make: Callable[[Any], Any], forms: list[Any]) -> Any:
        built = self.all(forms)
        with construction():
            return make(built)

    def _slice(self, forms: list[Any]) -> slice:
        parts = self.all(forms)
        with construction():
            return slice(*parts)

    def _default_dict(self, form: dict[str, Any]) -> Any:
        factory = self.value(form.get("factory"))
        return self._dict(form.get("items", {}), lambda items: collections.defaultdict(factory, items))

    def _class(self, name: str) -> classes.Made:
        if name not in self.classes:
            raise Malformed(f"there is no class {name!r}")
        return self.classes[name]

    def _new(self, form: dict[str, Any]) -> Any:
        of = self._class(form["class"])
        value = self.value(form.get("value"))
        fields = self.named(form.get("fields") or {})
        args = self.all(form.get("args") or [])
        children = self.all(form.get("children") or [])
        aux = self.value(form.get("aux"))
        with construction():
            if of.kind == "plain":
                return of.made(value, form.get("hash", 0))
            if of.kind == "node":
                return of.made(children, aux)
            if of.kind in ("enum", "int_enum"):
                return of.made[form["member"]]
            if of.kind == "builtin":
                return of.made() if form.get("value") is None else of.made(value)
            return of.made(*args, **fields)

    def _def(self, form: dict[str, Any]) -> Any:
        if form.get("source") is not None:
            scope = {**{name: made.made for name, made in self.classes.items()}, **self.objects}
            with construction():
                return functions.from_source(form["source"], scope)
        if form.get("effect") is not None:
            return functions.with_effect(form["effect"])
        if "returns" in form:
            return functions.returning(self.value(form["returns"]))
        if form.get("params") is None:
            if form.get("uses") is None:
                return functions.plain()
            return functions.with_signature(["*args", "**kwargs"], form["uses"], self.value)
        return functions.with_signature(form["params"], form.get("uses"), self.value)

    def _partial(self, make: Callable[..., Any], form: dict[str, Any]) -> Any:
        function = self.value(form["func"])
        args, kwargs = self.all(form.get("args", [])), self.named(form.get("kwargs", {}))
        with construction():
            return make(function, *args, **kwargs)

    def _nest(self, form: dict[str, Any]) -> Any:
        value = self.value(form["value"])
        for _ in range(form["levels"]):
            value = (value,) if form["in"] == "tuple" else [value]
        return value

    def _repeat(self, form: dict[str, Any]) -> Any:
        items = [self.value(form["value"]) for _ in range(form["times"])]
        return tuple(items) if form["in"] == "tuple" else items

    def _method(self, form: dict[str, Any]) -> Any:
        of, name = self.value(form["of"]), form.get("name")
        if name is None:
            return getattr(of, _METHODS[form.get("kind", "instance")])
        # Methods of one object are equal if their functions are the same.
        if name not in self.methods:
            self.methods[name] = functions.method(self._signed(form))
        return types.MethodType(self.methods[name], of)

    def _object(self, form: dict[str, Any]) -> Any:
        # One that a recording has may be called.
        return functions.Called(self._signed(form)) if form else object()

    def _signed(self, form: dict[str, Any]) -> Any:
        if "returns" in form:
            return functions.returning(self.value(form["returns"]))
        params = form.get("params")
        return functions.with_signature(["*args", "**kwargs"] if params is None else params, None, self.value)

    def _wrap(self, form: dict[str, Any]) -> Any:
        function = self.value(form["func"])
        statics = {name: tuple(form[name]) for name in ("static_argnums", "static_argnames") if name in form}
        with construction():
            return functions.wrapped(form["by"], function, **statics)

    def _make(self, form: dict[str, Any]) -> Any:
        head, *rest = form["call"].split(".")
        if head in self.objects:
            function = functools.reduce(getattr, rest, self.objects[head])
        else:
            function = functions.found(form["call"])
        args, kwargs = self.all(form.get("args", [])), self.named(form.get("kwargs", {}))
        with contexts.entered(self.context, self.value), construction():
            made = function(*args, **kwargs)
        outputs.check_made(form["call"], made, self.value(form["as"]))
        return made

    def _output(self, form: dict[str, Any]) -> Any:
        if not 1 <= form["call"] <= len(self.outputs) or self.outputs[form["call"] - 1] is NOTHING:
            raise Malformed(f"call {form['call']} has returned nothing here")
        return outputs.follow(self.outputs[form["call"] - 1], form.get("path", []))

    def _numpy_scalar(self, form: list[Any]) -> Any:
        name, number = form
        with construction():
            return numpy_scalar(name, self.value(number))


_METHODS = {"instance": "method", "class": "class_method", "static": "static_method"}

NOTHING = object()
"""Stands for the output of a call that raised."""


_FORMS: dict[str, Callable[[Builder, Any], Any]] = {
    "int": lambda _, text: int(text),
    "float": lambda _, text: float(text),
    "array": lambda b, form: arrays.array_form(form, shared=b.shared),
    "str": lambda _, text: text,
    "bytes": lambda _, text: text.encode(),
    "bytearray": lambda _, text: bytearray(text.encode()),
    "complex": lambda b, parts: complex(*b.all(parts)),
    "tuple": lambda b, items: tuple(b.all(items)),
    "set": lambda b, items: b._collection(set, items),
    "frozenset": lambda b, items: b._collection(frozenset, items),
    "range": lambda _, numbers: range(*numbers),
    "slice": lambda b, parts: b._slice(parts),
    "dict": lambda b, items: b._dict(items),
    "ordered_dict": lambda b, items: b._dict(items, collections.OrderedDict),
    "default_dict": Builder._default_dict,
    "mapping_proxy": lambda b, items: types.MappingProxyType(b._dict(items)),
    "nest": Builder._nest,
    "repeat": Builder._repeat,
    "ellipsis": lambda _, __: ...,
    "object": Builder._object,
    "numpy_scalar": Builder._numpy_scalar,
    "parsed": lambda _, form: parsed.made(*form),
    "dtype": lambda _, name: numpy_dtype(name),
    "scalar_type": lambda _, name: numpy_dtype(name).type,
    "shape_dtype_struct": lambda _, form: arrays.shape_dtype_struct(form),
    "array_ref": lambda _, text: arrays.array_ref(text),
    "partition_spec": lambda _, axes: jax.sharding.PartitionSpec(*axes),
    "treedef": lambda b, form: b._collection(lambda built: jax.tree_util.tree_structure(built[0]), [form]),
    "class": lambda b, name: b._class(name).made,
    "new": Builder._new,
    "ref": lambda b, name: b.ref(name),
    "nth": lambda b, first: first + b.nth,
    "output": Builder._output,
    "lambda": lambda _, __: functions.new_lambda(),
    "def": Builder._def,
    "closure": lambda b, form: functions.closing_over(b.value(form["over"])),
    "global": lambda _, name: functions.found(name),
    "partial": lambda b, form: b._partial(functools.partial, form),
    "tree_partial": lambda b, form: b._partial(jax.tree_util.Partial, form),
    "method": Builder._method,
    "wrap": Builder._wrap,
    "make": Builder._make,
}
