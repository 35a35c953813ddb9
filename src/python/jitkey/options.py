"""The options of a jitted function, read from what holds them in each version of jax, in the words of a case."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import jax
from jax._src import api_util
from jax._src import config as jax_config
from jax._src import mesh as jax_mesh

from .errors import Unsupported
from .record import placement


def _holder(name: str) -> Any:
    """What holds a mesh, wherever this jax has it, or None."""
    return getattr(jax_mesh, name, None) or getattr(jax_config, name, None)


_ABSTRACT_MESH = _holder("abstract_mesh_context_manager")
_DEVICE_CONTEXT = _holder("device_context")


_COUNTS_DYNAMIC = "rebase_donate_argnums" in api_util.resolve_argnums.__code__.co_names
"""Whether what is kept of `donate_argnums` leaves static arguments out, as older versions do."""


class OfTheCall(Exception):
    """Shardings among the options that a call completes: a `PartitionSpec`, whose mesh is the one around it, or trees, which
    can be prefixes of its arguments; with the other options."""

    def __init__(self, others: dict[str, Any]) -> None:
        super().__init__()
        self.others = others


def jit_options(wrapper: Any, args: Any = None) -> dict[str, Any]:
    """The options of a `jax.jit`, without those that a case has no word for; `args` are the dynamic positional arguments of a
    call that is about to be made. Raises `OfTheCall` if one has to be, and whatever a version of jax that keeps them elsewhere
    makes of the search."""
    info = getattr(wrapper, "_jit_info", None)
    if info is None:  # jax 0.4 has it in the closure of what a miss calls.
        miss = inspect.unwrap(wrapper._cache_miss)
        cells = dict(zip(miss.__code__.co_freevars, miss.__closure__ or (), strict=True))
        info = cells["jit_info"].cell_contents
    options: dict[str, Any] = {}
    if info.device is not None:
        options["device"] = jax.devices().index(info.device)
    if info.backend is not None:
        options["backend"] = info.backend
    for name in ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"):
        if getattr(info, name):
            options[name] = list(getattr(info, name))
    if "donate_argnums" in options and _COUNTS_DYNAMIC:
        options["donate_argnums"] = _among_all(options["donate_argnums"], options.get("static_argnums", []))
    if info.keep_unused:
        options["keep_unused"] = True
    # An enum since jax 0.11, whose values are in no key of a jaxpr.
    if getattr(info.inline, "name", info.inline) not in (False, "AUTO"):
        options["inline"] = True
    if getattr(info, "compiler_options_kvs", ()):
        options["compiler_options"] = {
            name: {"str": value} if isinstance(value, str) else value for name, value in info.compiler_options_kvs
        }
    if any(layout is not None for layout in (*info.in_layouts_leaves, *info.out_layouts_leaves)):
        raise Unsupported("recording a function that is jitted for a layout")
    leaves = [*info.in_shardings_leaves, *info.out_shardings_leaves]
    has_trees = info.user_specified_in_shardings and info.in_shardings_treedef.num_nodes > len(info.in_shardings_leaves) + 1
    has_specs = any(isinstance(leaf, jax.sharding.PartitionSpec) for leaf in leaves)
    if args is None and (has_trees or has_specs):
        raise OfTheCall(options)
    mesh = mesh_around() if has_specs else None
    if info.user_specified_in_shardings:
        options |= _in_shardings(info.in_shardings_treedef, [_asked(leaf, mesh) for leaf in info.in_shardings_leaves], args)
    asked = [_asked(leaf, mesh) for leaf in info.out_shardings_leaves]
    if any(asked):
        is_one = info.out_shardings_treedef.num_nodes == 1
        options["out_shardings"] = asked[0] if is_one else {"leaves": asked}
    return options


def has_options(wrapper: Any) -> bool:
    """Whether a `jax.jit` has options that its jaxpr depends on, or cases no words for."""
    return not jit_options(wrapper).keys() <= {"inline"}


def _among_all(positions: list[int], static: list[int]) -> list[int]:
    """The positions of arguments that are counted without static ones, among all arguments."""
    dynamic = (i for i in itertools.count() if i not in static)
    every = list(itertools.islice(dynamic, max(positions) + 1))
    return [every[position] for position in positions]


def _in_shardings(treedef: Any, forms: list[Any], args: Any) -> dict[str, Any]:
    """One sharding for all, or one for each argument or for each of its leaves."""
    if treedef.num_nodes == 1:
        return {"in_shardings": forms[0]} if any(forms) else {}
    asked: list[Any] = []
    for i, part in enumerate(treedef.children()):
        own = [forms.pop(0) for _ in range(part.num_leaves)]
        if part.num_nodes == 1:
            asked += own
        else:
            if len(args) > i:
                own = _broadcast(part, own, args[i])
            asked.append({"leaves": own})
    return {"in_shardings": asked}


def _broadcast(treedef: Any, forms: list[Any], arg: Any) -> list[Any]:
    """What the prefix of a tree has for each of its leaves."""
    try:
        parts = treedef.flatten_up_to(arg)
    except ValueError:  # It is none, which is an error of the program's.
        return forms
    return [form for form, part in zip(forms, parts, strict=True) for _ in jax.tree_util.tree_leaves(part)]


def _asked(sharding: Any, mesh: Any) -> dict[str, Any] | None:
    if isinstance(sharding, jax.sharding.PartitionSpec):
        sharding = jax.sharding.NamedSharding(mesh, sharding)
    if type(getattr(sharding, "mesh", None)).__name__ == "AbstractMesh":
        # Where that is, what surrounds the call says.
        return None
    if isinstance(sharding, jax.sharding.Sharding):
        return placement(sharding)
    if sharding is not None and type(sharding).__name__ != "UnspecifiedValue":
        raise Unsupported(f"recording the sharding {sharding}")
    return None


def filter_jit_options(wrapper: Any) -> dict[str, Any]:
    """The options of an `equinox.filter_jit`: what it donates, and what it hands on to the `jax.jit` inside. Raises `Unsupported` for
    shardings, whose trees are those of the wrapper inside."""
    options = jit_options(wrapper._cached)
    if "in_shardings" in options or "out_shardings" in options:
        raise Unsupported("recording the shardings that a filter_jit is given")
    options = {name: value for name, value in options.items() if not name.startswith(("donate", "static"))}
    donated = (getattr(wrapper, "donate_first", False), getattr(wrapper, "donate_rest", False))
    word = {(True, True): "all", (False, True): "all-except-first"}.get(donated)
    if word is not None:
        options["donate"] = word if wrapper.filter_warning else word.replace("all", "warn", 1)
    return options


def set_mesh() -> Any:
    """The mesh of `jax.set_mesh`, which is in no context of a trace; there its shape is."""
    mesh = None if _DEVICE_CONTEXT is None else _DEVICE_CONTEXT.value
    # From jax 0.4.36 to 0.4.38 it is () where there is none.
    return mesh if isinstance(mesh, jax.sharding.Mesh) and not mesh.empty else None


def abstract_mesh_outside() -> Any:
    """What stands for an abstract mesh where none was ever entered."""
    return None if _ABSTRACT_MESH is None else _ABSTRACT_MESH.get_global()


def abstract_mesh() -> Any:
    """The mesh of `jax.sharding.use_abstract_mesh`, if that isn't what there is without: none, or that of `jax.set_mesh`."""
    if _ABSTRACT_MESH is None:
        return None
    inner, concrete = _ABSTRACT_MESH.value, set_mesh()
    usual = abstract_mesh_outside() if concrete is None else concrete.abstract_mesh
    return None if inner is None or inner == usual else inner


def mesh_around() -> Any:
    """The mesh that a `PartitionSpec` among the options speaks of. Raises `Unsupported` if there is none."""
    entered = jax_mesh.thread_resources.env.physical_mesh
    mesh = set_mesh() or (None if entered.empty else entered)
    if mesh is None:
        raise Unsupported("recording a PartitionSpec without a mesh")
    return mesh
