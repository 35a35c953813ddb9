"""Programs that jax's persistent cache has in files, which are loaded and not compiled."""

import tempfile

import jax
import jax.numpy as jnp

files = tempfile.TemporaryDirectory()
jax.config.update("jax_compilation_cache_dir", files.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

x = jnp.ones(3)
step = jax.jit(lambda x: x * 2)
print(step(x))
jax.clear_caches()
print(step(x))
print(step(jnp.ones(4)))
files.cleanup()
