"""The config flags of the installed jax, each with another value that it can take.

The list is read from jax's own registry, so that a flag that a new version brings is met by the next campaign.
"""

from __future__ import annotations

import enum
from typing import Any

import jax

OUTSIDE = {
    "jax_array_garbage_collection_guard": "raises while garbage is collected",
    "jax_backend_target": "chooses the backend",
    "jax_compilation_cache_dir": "names a folder",
    "jax_cpu_get_global_topology_timeout_minutes": "is read when the backend is made, and can't be set from then on",
    "jax_cpu_get_local_topology_timeout_minutes": "likewise",
    "jax_cuda_visible_devices": "chooses devices",
    "jax_default_device": "is the field `default_device` of a context",
    "jax_dump_ir_to": "names a folder",
    "jax_enable_compilation_cache": "turns the files of a cache on",
    "jax_enable_pgle": "starts the profiler",
    "jax_enable_x64": "is the field `x64` of a context",
    "jax_logging_level": "is jitkey's own",
    "jax_mock_gpu_topology": "chooses the backend",
    "jax_num_cpu_devices": "chooses devices",
    "jax_platform_name": "chooses the backend",
    "jax_platforms": "chooses the backend",
    "jax_pjrt_client_create_options": "chooses the backend",
    "jax_sharding_in_types": "is half made, and what is called under it breaks in jax itself",
    "jax_thread_guard": "raises in every thread but one",
    "jax_transfer_guard": "is the field `transfer_guard` of a context",
    "jax_transfer_guard_device_to_device": "is part of it",
    "jax_transfer_guard_device_to_host": "is part of it",
    "jax_transfer_guard_host_to_device": "is part of it",
    "jax_xla_backend": "chooses the backend",
    "jax_xla_profile_version": "is read by XLA for accelerators alone",
    "mock_num_gpu_processes": "chooses the backend",
    "mock_num_gpus": "chooses the backend",
}
"""Flags that reach outside the process or decide which devices there are; a case that sets one has a field for it, or
can't."""

UNTRACED = (
    "jax_debug_infs", "jax_debug_nans", "jax_default_prng_impl", "jax_enable_custom_prng", "jax_memory_fitting_level",
    "jax_no_tracing", "jax_optimization_level", "jax_safer_randint",
)  # fmt: skip
"""Flags that are no part of the trace context and matter to what a call does, or to what it should have been traced to."""


def registry() -> dict[str, list[Any]]:
    """By flag its present value and another, as values of a case; flags that have no other value that we know are left out."""
    flags: dict[str, list[Any]] = {}
    for name in sorted(jax.config._value_holders):
        if name in OUTSIDE:
            continue
        now = form(jax.config._read(name))
        for other in _others(name, jax.config._read(name)):
            if other != now and _accepts(name, other):
                flags[name] = [now, other]
                break
    return flags


def value(written: Any) -> Any:
    """The Python value of what stands in the registry."""
    return written["str"] if isinstance(written, dict) else written


def _others(name: str, now: Any) -> list[Any]:
    kind, _, options = jax.config.meta[name]
    members = options.get("enum_values", options.get("enum_class", ()))
    if isinstance(members, type) and issubclass(members, enum.Enum):
        members = [member.value if isinstance(member.value, str) else member.name.lower() for member in members]
    if members:
        return [form(member) for member in reversed(list(members))]
    if kind is bool:
        return [not now]
    if kind in (int, float):
        return [(now or 0) + 1]
    return [{"str": "jitkey"}]


def form(value: Any) -> Any:
    """The value of a flag as a case writes it."""
    if isinstance(value, enum.Enum):
        return form(value.value if isinstance(value.value, str) else value.name.lower())
    return {"str": value} if isinstance(value, str) else value


def _accepts(name: str, written: Any) -> bool:
    before = jax.config._read(name)
    try:
        jax.config.update(name, value(written))
    except Exception:  # Validators raise what they like.
        return False
    jax.config.update(name, before)
    return True
