"""What surrounds a call: flags, meshes and contexts that are not as they were when the recording began."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import jax
from jax._src import config as jax_config
from jax._src import core
from jax._src.lib import jax_jit

from . import flags
from .errors import Unsupported
from .known import KNOWN
from .options import abstract_mesh, abstract_mesh_outside, set_mesh
from .parameters import NAME
from .record import explicit_axes

_FLAGS_OF_THREADS = [
    name
    for name in getattr(getattr(jax_config, "_ThreadLocalExtraJitContext", None), "_fields", ())
    if f"jax_{name}" in jax.config._value_holders
]
"""The flags that jax 0.4's fast path has from the thread, without their prefix."""
HAS_TWO_WORDS = abstract_mesh_outside() == ()
"""Whether there is () where no abstract mesh is and None inside of a call, as from jax 0.4.36 to 0.4.38: they say the same."""
GUARDS = ("jax_transfer_guard_host_to_device", "jax_transfer_guard_device_to_device")
"""What guards the arguments of a call."""


class Surroundings:
    """What surrounds calls; `static` writes a value that is compared as a whole."""

    def __init__(self, static: Callable[[Any], Any]) -> None:
        self._static = static
        self._flags = {name: _flag(name) for name in jax.config._value_holders}
        self._untraced = [holder for name, holder in jax.config._value_holders.items() if name in flags.UNTRACED]
        self._guards = [jax.config._value_holders[name] for name in GUARDS if name in jax.config._value_holders]
        usual = jax_config.trace_context()
        self._usual = len(usual)
        with core.extend_axis_env_nd([("any", 1)]):
            under_an_axis = jax_config.trace_context()
        self._axes_at = next(i for i, (one, other) in enumerate(zip(usual, under_an_axis, strict=True)) if one != other)
        """Where the trace context has the axes that are named."""
        self._axes: dict[Any, dict[str, int] | None] = {usual[self._axes_at]: {}}
        self._contexts: dict[Any, dict[str, Any] | None] = {}
        self._first: int | None = None
        """How many contexts there were at the first call."""
        # What is called first can be called under something that has no words, and would be taken for what surrounds nothing.
        with contextlib.suppress(Unsupported):
            self.of_call()
        self._first = None

    def of_call(self) -> dict[str, Any]:
        """What surrounds the call and isn't as it was when the recording began.

        Raises `Unsupported` for what a case has no words for.
        """
        now = jax_config.trace_context()
        self._first = self._first or len(now)
        made = len(now) - self._first
        while len(now) > self._usual and (now[-1] is None or now[-1] is False):
            # One that was made and isn't entered says nothing but that it is there.
            now = now[:-1]
        axes, i = now[self._axes_at], self._axes_at
        if HAS_TWO_WORDS:
            now = tuple(None if type(part) is tuple and not part else part for part in now)
        rest = (now[:i], now[i + 1 :], self.beside())
        named = _told(self._axes, axes, _named_axes)
        context = _told(self._contexts, rest, lambda: self._described(now))
        return context | ({"named_axes": named} if named else {}) | ({"contexts_made": made} if made else {})

    def beside(self) -> tuple[Any, ...]:
        """What surrounds the call and is no part of the trace context."""
        return (set_mesh(), self._guard(), _local_flags(), *[holder.value for holder in self._untraced])

    def beside_as_it_stands(self) -> tuple[Any, ...]:
        """The same, told apart where it says the same in other words."""
        return (set_mesh(), _local_flags(), *[holder.value for holder in self._untraced], *[holder.value for holder in self._guards])

    def _guard(self) -> Any:
        """What becomes of arguments that have to be copied; there is no word for two answers."""
        found = {holder.value for holder in self._guards} - {None, "allow"}
        return found.pop() if len(found) == 1 else tuple(sorted(found)) or None

    def _described(self, now: tuple[Any, ...]) -> dict[str, Any]:
        values = {name: _flag(name) for name in self._flags}
        changed = {name: value for name, value in values.items() if value != self._flags[name]}
        context: dict[str, Any] = {"x64": True} if values["jax_enable_x64"] else {}
        device = values.get("jax_default_device")
        if device is not None:
            context["default_device"] = device if isinstance(device, str) else device.id
        forms = {name: flags.form(value) for name, value in changed.items() if name not in flags.OUTSIDE}
        if forms:
            context["flags"] = forms
        local = [f"jax_{name}" for name, value in zip(_FLAGS_OF_THREADS, _local_flags(), strict=True) if value is not None]
        if local:
            context["local_flags"] = local
        meshes = [mesh for part in now if isinstance(part, tuple) for mesh in part if isinstance(mesh, jax.sharding.Mesh)]
        concrete = set_mesh()
        for word, mesh in [("mesh", mesh) for mesh in meshes[:1]] + [("set_mesh", concrete)] * (concrete is not None):
            explicit = explicit_axes(mesh)
            if explicit is not None:
                context[word] = dict(mesh.shape)
                context["mesh_devices"] = [device.id for device in mesh.devices.flat]
                context |= {"mesh_explicit": explicit} if explicit else {}
        inner = abstract_mesh()
        if inner is not None:
            if explicit_axes(inner) != []:
                raise Unsupported("recording an abstract mesh with axes that aren't Auto")
            context["abstract_mesh"] = dict(inner.shape)
        metadata = _xla_metadata()
        if metadata is not None:
            if not all(map(NAME.match, metadata)):
                raise Unsupported("recording XLA metadata whose name a case can't have")
            # One without a value leaves a dict of nothing, which is another than none.
            context["xla_metadata"] = {name: self._static(value) for name, value in metadata.items()} or {"nothing": None}
        compute_type = _compute_type()
        if compute_type is not None:
            context["compute_on"] = compute_type
        guard = self._guard()
        if isinstance(guard, str):
            context["transfer_guard"] = guard
        of_users = [value for value in now[self._usual :] if value is not None and value is not False]
        if len(of_users) == 1:
            context["user"] = self._static(of_users[0])
        return context


def _told(known: dict[Any, dict[str, Any] | None], key: Any, describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is said of the key. Raises `Unsupported` if the same was said of another one, which has something that there is no word for."""
    if key not in known:
        if len(known) >= KNOWN:
            known.clear()
        said = describe()
        # In which order axes are named can count.
        is_new = all(other is None or other != said or list(other) != list(said) for other in known.values())
        known[key] = said if is_new else None
    found = known[key]
    if found is None:
        raise Unsupported("recording what surrounds the call")
    return found


def _named_axes() -> dict[str, int]:
    """The axes that `jax.vmap` and others have named around the call, with their sizes."""
    context = getattr(core, "trace_ctx", None)
    if context is None:
        frames = [(frame.name, frame.size) for frame in core.thread_local_state.trace_state.axis_env]
    else:
        env = context.axis_env
        frames = list(env.axis_sizes.items())
        if env.spmd_axis_names or getattr(env, "explicit_mesh_axis_names", ()):
            raise Unsupported("recording axes that are named and have devices")
    named = {name: size for name, size in frames if name is not core.no_axis_name}
    if not all(isinstance(name, str) and NAME.match(name) for name in named):
        raise Unsupported("recording an axis whose name a case can't have")
    try:
        return {name: operator.index(size) for name, size in named.items()}
    except TypeError:
        raise Unsupported("recording an axis of a size with a symbol in it") from None


def _local_flags() -> tuple[Any, ...]:
    """What context managers have set in this thread, None for the rest, of what jax 0.4's fast path has beside what is set for all."""
    if not _FLAGS_OF_THREADS:
        return ()
    found = jax_jit.thread_local_state().extra_jit_context
    return tuple(getattr(found, name, None) for name in _FLAGS_OF_THREADS)


def _xla_metadata() -> dict[str, Any] | None:
    """What `set_xla_metadata` has set. Up to jax 0.4.38 these are pairs, the value first."""
    found = _entered("xla_metadata_context_manager")
    return {name: value for value, name in found} if isinstance(found, tuple) else getattr(found, "val", None)


def _compute_type() -> str | None:
    """What `compute_on` has set. Up to jax 0.4.38 it is all that is entered, one in the other."""
    found = _entered("compute_on_context_manager")
    if isinstance(found, tuple):
        if len(found) > 1:
            raise Unsupported("recording one compute_on inside of another")
        return found[0]
    return found


def _entered(manager: str) -> Any:
    """What that context manager of jax's has set, if jax has it: up to 0.4.35 beside the flags of the thread, and from 0.4.36 to 0.4.38
    () where it was never entered."""
    holder = getattr(jax_config, manager, None)
    found = getattr(jax_jit.thread_local_state().extra_jit_context, manager, None) if holder is None and _FLAGS_OF_THREADS else holder
    return getattr(found, "value", found) or None


def _flag(name: str) -> Any:
    """The value of a flag in this thread, contexts included."""
    holder = jax.config._value_holders[name]
    return getattr(holder, "value", None)
