"""The Python side of jitkey: runs cases on real JIT compile caches and reports which layers every call missed.

`python -m jitkey.serve TARGET` speaks the protocol; one module holds what is particular to one target
(`jax_jit`, `equinox_filter_jit`), and everything else is shared by all of them. `python -m jitkey record script.py` and
`with jitkey.recording():` write down what a program's own calls were given and missed.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recorder import Recording

__version__ = "0.1.0"


def recording(file: str | os.PathLike[str] = "recording.jsonl") -> contextlib.AbstractContextManager[Recording]:
    """Records the jitted calls that are made inside, to a file that `jitkey explain` reads."""
    # jax is imported by whom it concerns.
    from . import recorder

    return recorder.recording(file)
