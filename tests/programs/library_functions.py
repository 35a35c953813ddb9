"""Functions of libraries under jit, and what equinox and the program itself trace ahead of time."""

import os
import sysconfig

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp

vector, longer, matrix = jnp.ones(3), jnp.ones(4), jnp.ones((2, 3))

tanh = jax.jit(jnp.tanh)
for x in (vector, vector, longer):
    tanh(x)

relu = jax.jit(jax.nn.relu)
for x in (vector, longer, vector):
    relu(x)

normal = jax.jit(jax.random.normal, static_argnums=1)
for shape in ((3,), (3,), (4,)):
    normal(jax.random.key(0), shape)

# jax runs one of that name by itself to convert what loops are given.
converted = jax.jit(jax.lax.convert_element_type, static_argnums=1)
converted(vector, jnp.bfloat16)
converted(vector, jnp.float16)

# Used before, so that jax has its jaxpr already; and a wrapper each time.
jnp.sin(vector)
for _ in range(2):
    jax.jit(jnp.sin)(vector)

products = jax.jit(jax.vmap(jnp.dot))
products(matrix, matrix)
gradient = jax.jit(jax.grad(jnp.sum))
gradient(vector)
gradient(vector)
add = jax.jit(jnp.add)
add(vector, vector)
add(vector, 1.0)
add(vector, 2.0)

gelu = eqx.filter_jit(jax.nn.gelu)
for x in (vector, longer, vector):
    gelu(x)

layer = nn.Dense(3)
params = layer.init(jax.random.key(0), matrix)
apply = jax.jit(layer.apply)
jax.eval_shape(apply, params, matrix)
apply(params, matrix)
mlp = eqx.filter_jit(eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0)))
mlp(vector)
eqx.filter_eval_shape(mlp, longer[:3])
mlp(vector)

# What is a number and what is an array of its dtype have one jaxpr.
where = jax.jit(jnp.where)
where(True, vector, 0.0)
where(jnp.array(True), vector, 0.0)

# Another library traces the program's functions to learn what they return, which is no call; what that leaves serves one.
probed = jax.jit(lambda x: x * 3)
helper = {"jax": jax}
code = "def shape_of(fun, *args):\n    return jax.eval_shape(fun, *args)\n"
exec(compile(code, os.path.join(sysconfig.get_path("purelib"), "shapes.py"), "exec"), helper)
for _ in range(3):
    helper["shape_of"](lambda x: probed(x), vector)
    helper["shape_of"](probed, longer)
probed(longer)
