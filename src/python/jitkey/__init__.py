"""The Python side of jitkey: runs cases on real JIT compile caches and reports which layers every call missed.

`python -m jitkey.serve TARGET` speaks the protocol; one module holds what is particular to one target
(`jax_jit`, `equinox_filter_jit`), and everything else is shared by all of them.
"""

__version__ = "0.1.0"
