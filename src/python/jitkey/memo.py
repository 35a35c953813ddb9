"""One XLA compilation for every distinct program.

Cases repeat a few small programs thousands of times, and XLA is two thirds of a full miss. The memo sits below
everything that a verdict is about: jax's own caches have decided to compile, and the compile event fires around the
call that is replaced. What it keeps is keyed by all that XLA is given: the module (without source locations), the
compile options and the devices. Programs with host callbacks are never kept, nor those that have a file of a persistent
cache. `JITKEY_MEMO=0` turns it off.

Where jax uses an MLIR context again, it makes a new one after ten programs; here it lasts for more. And where tracing asks
for the layout of each argument and writes the names of leaves, which are in no key of a trace, each is found once.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import OrderedDict
from typing import Any

import jax
from jax._src import compiler, linear_util
from jax._src.array import ArrayImpl
from jax._src.interpreters import mlir

SIZE = 500
"""Executables kept; the least recently used goes first."""

USES = 500
"""Programs of one MLIR context. What it interns grows with them."""


def install() -> bool:
    """Puts the memo in place, unless it is turned off; whether it is."""
    if os.environ.get("JITKEY_MEMO") == "0":
        return False
    _keep_contexts()
    _keep_formats()
    _keep_names()
    compile_module = compiler.compile_or_get_cached
    executables: OrderedDict[Any, Any] = OrderedDict()

    def remembered(backend: Any, computation: Any, devices: Any, options: Any, host_callbacks: Any, *rest: Any, **named: Any) -> Any:
        if host_callbacks or len(rest) > 2 or jax.config.jax_compilation_cache_dir:
            return compile_module(backend, computation, devices, options, host_callbacks, *rest, **named)
        key = (
            computation.operation.get_asm(enable_debug_info=False),
            options.SerializeAsString(),
            tuple(device.id for device in devices.flat),
            id(backend),
        )
        if key in executables:
            executables.move_to_end(key)
            return executables[key]
        executable = compile_module(backend, computation, devices, options, host_callbacks, *rest, **named)
        executables[key] = executable
        if len(executables) > SIZE:
            executables.popitem(last=False)
        return executable

    compiler.compile_or_get_cached = remembered
    return True


def _keep_contexts() -> None:
    kept = getattr(mlir, "_thread_local_context", None)
    if kept is None:
        return
    make, uses = mlir.make_ir_context, itertools.count(1)

    def make_ir_context() -> Any:
        if kept.value is not None and next(uses) % USES:
            context, _ = kept.value
            kept.set_local((context, 0))
        return make()

    mlir.make_ir_context = make_ir_context


def _keep_formats() -> None:
    found: Any = getattr(ArrayImpl, "format", None)
    if found is None:
        return

    def format(self: Any) -> Any:
        if self.is_deleted():
            return found.fget(self)
        kept = self.__dict__.get("_jitkey_format")
        if kept is None:
            kept = self.__dict__["_jitkey_format"] = found.fget(self)
        return kept

    ArrayImpl.format = property(format)


def _keep_names() -> None:
    name: Any = getattr(linear_util, "_clean_keystr_arg_names", None)
    if name is None:
        return

    @functools.cache
    def of_item(item: int) -> str:
        return name((jax.tree_util.SequenceKey(item),))

    def kept(path: Any) -> str:
        # What other keys of a path are equal to is the business of their classes.
        is_item = len(path) == 1 and type(path[0]) is jax.tree_util.SequenceKey
        return of_item(path[0].idx) if is_item else name(path)

    linear_util._clean_keystr_arg_names = kept
