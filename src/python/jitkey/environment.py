"""What has to be settled before jax is imported, and what this Python has."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import os
import platform
import sys
import warnings

DEVICES = "--xla_force_host_platform_device_count"

NEEDS = {
    "jax.jit": ("jax",),
    "equinox.filter_jit": ("jax", "equinox"),
    "flax.nnx.jit": ("jax", "flax"),
    "lax.while_loop": ("jax",),
    "lax.scan": ("jax",),
    "lax.fori_loop": ("jax",),
    "lax.cond": ("jax",),
    "lax.switch": ("jax",),
    "lax.map": ("jax",),
}
"""The targets that this package knows, each with the libraries that it needs."""


def prepare() -> None:
    """Sets the environment that jax reads once, on import: CPU only, and devices for a mesh of two axes."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    flags = os.environ.get("XLA_FLAGS", "")
    if DEVICES not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {DEVICES}=4".strip()
    warnings.simplefilter("ignore")
    logging.getLogger("jax").setLevel(logging.ERROR)


def require(target: str) -> None:
    """Imports what the target needs, or exits with status 3 and one line that says what is missing."""
    if target not in NEEDS:
        sys.exit(complain(f"there is no target {target!r}; the targets are {', '.join(NEEDS)}"))
    for library in NEEDS[target]:
        try:
            importlib.import_module(library)
        except ImportError as error:
            if error.name != library:
                sys.exit(complain(f"this Python can't import {library}: {error}"))
            hint = f"install it with `{sys.executable} -m pip install {library}`"
            sys.exit(complain(f"this Python has no {library}, which {target} needs; {hint}"))


def complain(message: str) -> int:
    """Says what is missing, in one line; the status to exit with."""
    print(f"jitkey: {message}", file=sys.stderr, flush=True)
    return 3


def optional(library: str) -> object | None:
    """The module, or None if this Python doesn't have it."""
    try:
        return importlib.import_module(library)
    except ImportError:
        return None


def about() -> dict[str, str | None]:
    """The versions of everything that can change a verdict, and what it runs on."""
    import jax

    return {**versions(), "platform": jax.default_backend().upper()}


def versions() -> dict[str, str | None]:
    """The versions of everything that can change a verdict."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for library in ("jax", "jaxlib", "numpy", "equinox", "flax", "optax"):
        # To import them would be to change what runs.
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = None
    return found
