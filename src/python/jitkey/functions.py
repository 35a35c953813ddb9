"""The functions of cases: their bodies count that they ran, and return the array leaves they are given.

Nothing is wrapped around a function: identity, signature and name are what a user's own `def` has. Source given by a
case gets its counter as a first statement.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

import jax
from jax.experimental import io_callback
from jax.tree_util import tree_leaves

from . import digest, environment
from .errors import Malformed, Unsupported
from .observe import body_ran

COUNTED = "<jitkey def>"
"""The file name of code whose functions count their runs."""

_ALIASES = {
    "jnp": "jax.numpy", "np": "numpy", "lax": "jax.lax", "jtu": "jax.tree_util", "eqx": "equinox", "ft": "functools",
}  # fmt: skip

_compiled: dict[str, types.CodeType] = {}


def array_leaves(used: Iterable[Any], _given: tuple[Any, ...], seen: Any) -> list[Any]:
    """The arrays among the leaves of what a body uses.

    A static argument need not be a pytree at all, and contributes nothing then. `seen` are all arguments.
    """
    leaves: list[jax.Array] = []
    for value in used:
        try:
            found = tree_leaves(value)
        except Exception:  # For instance a dict that can't be sorted, as a static argument.
            continue
        references = [leaf for leaf in found if digest.is_ref(leaf)]
        leaves += [leaf for leaf in found if isinstance(leaf, jax.Array) and not (references and digest.is_ref(leaf))]
        leaves += [leaf[...] for leaf in references]
    return digest.traced(seen, [leaf for i, leaf in enumerate(leaves) if i not in unused])


_returned: Callable[[Any, tuple[Any, ...], Any], Any] = array_leaves


def bodies_return(returned: Callable[[Any, tuple[Any, ...], Any], Any]) -> None:
    """Decides what bodies return, of what they use and what they were given by position: a loop asks for its carry."""
    global _returned
    _returned = returned


unused: frozenset[int] = frozenset()
"""The numbers of the arrays that the bodies that are made here don't use."""

raising: type[Exception] | None = None
"""What the bodies that are made here raise."""


def body(used: tuple[Any, ...], given: tuple[Any, ...], seen: Any = None) -> Any:
    """The body of every function made here: its run is counted, and it returns what the target asks for.

    `used` are the arguments that it uses, `given` those passed by position, `seen` all of them if it doesn't use all.
    """
    body_ran()
    if raising is not None:
        raise raising("as the call of the case says")
    return _returned(used, given, used if seen is None else seen)


def plain() -> Callable[..., Any]:
    """The function that a case has if it asks for nothing."""

    def f(*args: Any, **kwargs: Any) -> Any:
        return body((args, kwargs), args)

    return f


def new_lambda() -> Callable[..., Any]:
    """A new lambda."""
    return lambda *args, **kwargs: body((args, kwargs), args)


def with_effect(effect: str) -> Callable[..., Any]:
    """A new function whose body prints, in order, or calls back to Python; purely if all that it returns comes from there."""

    def f(*args: Any, **kwargs: Any) -> Any:
        if effect == "ordered":
            jax.debug.callback(_nothing, ordered=True)
        elif effect == "unordered":
            io_callback(_nothing, None)
        else:
            returned = jax.tree_util.tree_map(_called_back, (args, kwargs))
            return body(returned, returned[0], (args, kwargs))
        return body((args, kwargs), args)

    return f


def _called_back(leaf: Any) -> Any:
    """A leaf as a callback gives it back."""
    if not isinstance(leaf, jax.Array) or jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended):
        return leaf
    return jax.pure_callback(_same, jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), leaf)


def _same(value: Any) -> Any:
    return value


def _nothing() -> None:
    """What an effect does."""


def closing_over(over: Any) -> Callable[..., Any]:
    """A new function that closes over a value."""

    def f(*args: Any, **kwargs: Any) -> Any:
        _ = over
        return body((args, kwargs), args)

    return f


def returning(value: Any) -> Callable[..., Any]:
    """A new function that returns the value, whatever it is given."""

    def f(*_args: Any, **_kwargs: Any) -> Any:
        body_ran()
        if raising is not None:
            raise raising("as the call of the case says")
        return value

    return f


def methods() -> dict[str, Any]:
    """The methods of a class of a case and its `__call__`, as functions of its own."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return body((self, args, kwargs), args)

    def class_method(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return body((cls, args, kwargs), args)

    def static_method(*args: Any, **kwargs: Any) -> Any:
        return body((args, kwargs), args)

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return body((self, args, kwargs), args)

    bound = {"method": method, "class_method": classmethod(class_method), "static_method": staticmethod(static_method)}
    return {**bound, "__call__": __call__}


def with_signature(params: list[Any], uses: list[str] | None, build: Callable[[Any], Any]) -> Callable[..., Any]:
    """A `def` with these parameters, executed anew, whose body uses those named."""
    written, names, defaults = [], [], {}
    for param in params:
        if isinstance(param, dict):
            name = param["name"]
            defaults[f"_default_{name}"] = build(param["default"])
            written.append(f"{name}=_default_{name}")
            names.append(name)
        else:
            written.append(param)
            if param.strip("*/"):
                names.append(param.lstrip("*"))
    used = names if uses is None else [name for name in names if name in uses]
    unknown = set(uses or ()) - set(names)
    if unknown:
        raise Malformed(f"the body uses {sorted(unknown)}, which are no parameters")
    values = "".join(f"{name}, " for name in used)
    given = "".join(f"*{name}, " if f"*{name}" in written else f"{name}, " for name in names if f"**{name}" not in written)
    seen = "".join(f"{name}, " for name in names)
    text = f"def f({', '.join(written)}):\n    return _body(({values}), ({given}), ({seen}))\n"
    scope = {"_body": body, **defaults}
    exec(_compile(text, counted=False), scope)
    return scope["f"]


def method(function: Any) -> Any:
    """The function as a class has it: of the instance, and what that one is called with."""

    def bound(_self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    signature = inspect.signature(function)
    itself = inspect.Parameter("_self", inspect.Parameter.POSITIONAL_ONLY)
    bound.__signature__ = signature.replace(parameters=[itself, *signature.parameters.values()])  # type: ignore[attr-defined]
    return bound


class Called:
    """An object that is equal to nothing else, and can be called as the function that it holds."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **kwargs)


def from_source(text: str, objects: dict[str, Any]) -> Callable[..., Any]:
    """The `f` that the source defines, with the usual libraries and those objects in scope that it names."""
    code = _compile(text, counted=True)
    names = _names(code)
    scope: dict[str, Any] = {name: value for name, value in objects.items() if name in names}
    for name in ("jax", "jnp", "lax", "np", "jtu", "eqx", "equinox", "optax"):
        library = environment.optional(_ALIASES.get(name, name)) if name in names else None
        if library is not None:
            scope.setdefault(name, library)
        elif name in names and name not in scope and name in ("eqx", "equinox", "optax"):
            raise Unsupported(f"source that uses {name}")
    scope["_body_ran"] = body_ran
    exec(code, scope)
    if not callable(scope.get("f")):
        raise Malformed("the source defines no function `f`")
    return scope["f"]


def _compile(text: str, *, counted: bool) -> types.CodeType:
    if text not in _compiled:
        tree = ast.parse(text, COUNTED)
        name = COUNTED
        if counted:
            defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f"]
            for node in defined:
                _count(node)
            name = COUNTED if defined else "<jitkey source>"
        if len(_compiled) > 2000:
            _compiled.clear()
        _compiled[text] = compile(ast.fix_missing_locations(tree), name, "exec")
    return _compiled[text]


def _count(function: ast.FunctionDef) -> None:
    call = ast.parse("_body_ran()").body[0]
    documented = ast.get_docstring(function) is not None
    function.body.insert(1 if documented else 0, ast.copy_location(call, function.body[0]))


def _names(code: types.CodeType) -> set[str]:
    """Every name that the code or a function in it looks up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def is_counted(function: Any) -> bool:
    """Whether a run of the function's body is counted by the body itself, through whatever wraps it."""
    for _ in range(20):
        if isinstance(function, types.FunctionType):
            if function.__code__.co_filename in (COUNTED, __file__):
                return True
            function = getattr(function, "__wrapped__", None)
        elif isinstance(function, (functools.partial, jax.tree_util.Partial)):
            function = function.func
        elif inspect.getattr_static(function, "__func__", None) is not None or isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(getattr(type(function), "__call__", None), types.FunctionType):
            function = type(function).__call__
        else:
            return False
    return False


def looks_up(function: Any) -> bool:
    """Whether a wrapper among those around the function's body has a cache of its own."""
    for _ in range(20):
        if hasattr(function, "lower"):
            return True
        if isinstance(function, (functools.partial, jax.tree_util.Partial)):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return False
    return False


@functools.cache
def found(dotted: str) -> Any:
    """The object of that dotted name: `jnp.sin`, `optax.adam`, or a builtin."""
    head, *rest = dotted.split(".")
    try:
        value: Any = importlib.import_module(_ALIASES.get(head, head) if rest else "builtins")
    except ImportError as error:
        raise Unsupported(f"{dotted}: {error}") from None
    if not rest and not hasattr(value, head):
        raise Malformed(f"`{head}` is no builtin: what a library has is named with it, as in `numpy.sin`")
    for i, name in enumerate(rest or [head]):
        if not hasattr(value, name) and isinstance(value, types.ModuleType):
            with contextlib.suppress(ImportError):
                importlib.import_module(f"{value.__name__}.{name}")
        if not hasattr(value, name):
            raise Unsupported(f"{'.'.join([head, *rest][: i + 2])}, which this version doesn't have")
        value = getattr(value, name)
    return value


def wrapped(by: str, function: Any, **statics: tuple[Any, ...]) -> Any:
    """A new wrapper around the function; `jax.jit` takes static arguments."""
    if by.startswith("filter_"):
        equinox: Any = environment.optional("equinox")
        if equinox is None:
            raise Unsupported("equinox")
        return getattr(equinox, by)(function)
    return getattr(jax, by)(function, **statics)
