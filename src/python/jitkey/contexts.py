"""The configuration and context managers around a call."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax._src import compilation_cache, core
from jax._src import mesh as jax_mesh

from .arrays import enable_x64, mesh
from .errors import Unsupported, construction

USER: Any = jax.make_user_context(None) if hasattr(jax, "make_user_context") else None
"""The user's own context of every case. Making one changes all keys, so that there is only one, made before any call."""


_folder: tempfile.TemporaryDirectory[str] | None = None


_made = 0


def begin() -> None:
    """Forgets the files of the case before, and the contexts that it made."""
    global _folder, _made
    _folder, _made = None, 0


def merged(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    """The context of a call inside that of its case."""
    together: dict[str, Any] = {name: {**outer.get(name, {}), **inner.get(name, {})} for name in ("flags", "xla_metadata", "named_axes")}
    together["local_flags"] = [*outer.get("local_flags", ()), *inner.get("local_flags", ())]
    together["contexts_made"] = max(outer.get("contexts_made", 0), inner.get("contexts_made", 0))
    return {**outer, **inner, **{name: values for name, values in together.items() if values}}


def entered(context: dict[str, Any], build: Callable[[Any], Any]) -> contextlib.ExitStack:
    """The context, entered; `build` makes the values in it."""
    stack = contextlib.ExitStack()
    try:
        # First, since flags may say which programs are kept.
        if context.get("persistent_cache"):
            stack.enter_context(_persistent_cache())
        for name, value in context.get("flags", {}).items():
            stack.enter_context(_flag(name, build(value)))
        for name in context.get("local_flags", ()):
            stack.enter_context(_local_flag(name))
        if context.get("x64") is not None:
            stack.enter_context(enable_x64(context["x64"]))
        if context.get("default_device") is not None:
            stack.enter_context(_default_device(context["default_device"]))
        over = context.get("mesh_devices"), context.get("mesh_explicit")
        if context.get("mesh"):
            stack.enter_context(mesh(context["mesh"], *over))
        if context.get("set_mesh"):
            if not hasattr(jax, "set_mesh"):
                raise Unsupported("jax.set_mesh")
            stack.enter_context(jax.set_mesh(mesh(context["set_mesh"], *over)))
        if context.get("abstract_mesh") is not None:
            stack.enter_context(_abstract_mesh(context["abstract_mesh"]))
        if context.get("xla_metadata"):
            values = {name: build(value) for name, value in context["xla_metadata"].items()}
            stack.enter_context(_xla_metadata(values))
        if context.get("compute_on") is not None:
            stack.enter_context(_compute_on(context["compute_on"]))
        if context.get("named_axes"):
            # What jax.vmap enters for an axis_name.
            stack.enter_context(core.extend_axis_env_nd(list(context["named_axes"].items())))
        _make_contexts(context.get("contexts_made", 0))
        if context.get("user") is not None:
            if USER is None:
                raise Unsupported("jax.make_user_context")
            stack.enter_context(USER(build(context["user"])))
        # Last, so that nothing that is made here is copied under it.
        if context.get("transfer_guard") is not None:
            stack.enter_context(jax.transfer_guard(context["transfer_guard"]))
    except BaseException:
        stack.close()
        raise
    return stack


@contextlib.contextmanager
def _persistent_cache() -> Iterator[None]:
    """Programs are kept in the case's files, however quickly they were compiled and however small they are."""
    global _folder
    _folder = _folder or tempfile.TemporaryDirectory(prefix="jitkey-files-", ignore_cleanup_errors=True)
    with (
        _flag("jax_compilation_cache_dir", _folder.name),
        _flag("jax_persistent_cache_min_compile_time_secs", 0),
        _flag("jax_persistent_cache_min_entry_size_bytes", -1),
    ):
        # jax opens a folder once, and asks once whether there is one.
        compilation_cache.reset_cache()
        try:
            yield
        finally:
            compilation_cache.reset_cache()


def _make_contexts(count: int) -> None:
    """Makes contexts until there are so many since the case began."""
    global _made
    if count and USER is None:
        raise Unsupported("jax.make_user_context")
    if count < _made:
        raise Unsupported("a call without a context that was made before")
    while _made < count:
        jax.make_user_context(None)
        _made += 1


def _default_device(device: int | str) -> contextlib.AbstractContextManager[Any]:
    if isinstance(device, int):
        if device >= len(jax.devices()):
            raise Unsupported(f"devices:{device + 1}")
        return jax.default_device(jax.devices()[device])
    if jax.__version_info__ < (0, 5):
        raise Unsupported("a platform as default device")
    return jax.default_device(device)


def _abstract_mesh(axes: dict[str, int]) -> contextlib.AbstractContextManager[Any]:
    # It is public since jax 0.7.
    entered = getattr(jax_mesh, "use_abstract_mesh", None)
    if entered is None:
        raise Unsupported("use_abstract_mesh")
    kinds = (jax.sharding.AxisType.Auto,) * len(axes)
    return entered(jax.sharding.AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=kinds))


def _xla_metadata(values: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    try:
        from jax.experimental.xla_metadata import set_xla_metadata
    except ImportError:
        raise Unsupported("set_xla_metadata") from None

    if "x" in values:
        raise Unsupported("XLA metadata called x, which is the name of the parameter for a value")

    @contextlib.contextmanager
    def entered() -> Iterator[None]:
        manager = set_xla_metadata(**values)
        with construction():
            manager.__enter__()
        try:
            yield
        finally:
            manager.__exit__(None, None, None)

    return entered()


def _compute_on(kind: str) -> contextlib.AbstractContextManager[Any]:
    from jax.experimental.compute_on import compute_on

    try:
        return compute_on(kind)
    except TypeError:
        raise Unsupported("compute_on as a context manager") from None


@contextlib.contextmanager
def _flag(name: str, value: Any) -> Iterator[None]:
    if name in ("jax_debug_nans", "jax_debug_infs") and isinstance(value, bool):
        # Many functions of jax turn them off for a while, which leaves no hook in the thread, whatever the process has.
        with getattr(jax, name.removeprefix("jax_"))(value):
            yield
        return
    try:
        before = jax.config._read(name)
    except (AttributeError, KeyError):
        raise Unsupported(f"flag {name}") from None
    try:
        jax.config.update(name, value)
    except (AttributeError, TypeError, ValueError) as error:
        raise Unsupported(f"flag {name}: {error}") from error
    try:
        yield
    finally:
        jax.config.update(name, before)


def _local_flag(name: str) -> contextlib.AbstractContextManager[Any]:
    """The flag, set in this thread to the value that it has."""
    holder = jax.config._value_holders.get(name)
    if holder is None:
        raise Unsupported(f"flag {name}")
    return holder(holder.value)
