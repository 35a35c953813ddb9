"""The Python side of jitkey: runs cases on real JIT compile caches and reports which layers every call missed.

`python -m jitkey.serve TARGET` speaks the protocol; one module holds what is particular to one target
(`jax_jit`, `equinox_filter_jit`), and everything else is shared by all of them. `python -m jitkey record script.py` and
`with jitkey.recording():` write down what a program's own calls were given and missed; `with jitkey.assert_no_recompile():`
fails if they miss what an earlier one should have left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .guard import RecompileError, assert_no_recompile
    from .recorder import Recording, recording

__version__ = "0.1.0"
__all__ = ["RecompileError", "Recording", "assert_no_recompile", "recording"]

_MODULES = {"RecompileError": "guard", "assert_no_recompile": "guard", "Recording": "recorder", "recording": "recorder"}


def __getattr__(name: str) -> Any:
    """jax is imported by whom it concerns."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
