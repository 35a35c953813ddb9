"""Jitted functions that are called under jax.grad, jax.vmap and the like, and by nothing that is traced around them."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

x = jnp.ones(3)
rows = jnp.ones((2, 3))


@jax.jit
def loss(w, x):
    return (w * x).sum()


for _ in range(2):
    print(jax.grad(loss)(x, x), jax.value_and_grad(loss, argnums=1)(x, x), jax.grad(loss)(x, np.ones(3, np.float32)))
    print(jax.vmap(loss)(rows, rows), jax.vmap(loss, in_axes=(0, None))(rows, x), jax.vmap(jax.grad(loss))(rows, rows))
    print(jax.jvp(loss, (x, x), (x, x)), jax.linearize(loss, x, x)[0], jax.vjp(loss, x, x)[1](jnp.float32(1.0)), jax.hessian(loss)(x, x))
    print(jax.grad(jax.checkpoint(loss))(x, x), jax.grad(lambda w: loss(w, x) + loss(w, w))(x))
# What the call itself has to do is to lower what is traced, and to compile it.
print(loss(x, x))
print(jax.grad(loss)(x, 2.0), jax.grad(loss)(x, 3), jax.vmap(loss)(jnp.ones((2, 4)), jnp.ones((2, 4))))
with jax.default_matmul_precision("float32"):
    print(jax.grad(loss)(x, x))


class Agent:
    """Its loss is jitted, and its gradient isn't."""

    def __init__(self):
        self.discount = 0.5

    @functools.partial(jax.jit, static_argnums=0, static_argnames="mode")
    def loss(self, params, *, mode="mean"):
        return getattr(params["w"], mode)() * self.discount


agent, params = Agent(), {"w": x, "unused": None}
print(jax.value_and_grad(agent.loss)(params))
agent.discount = 0.25
print(jax.value_and_grad(agent.loss)(params))
print(jax.value_and_grad(functools.partial(agent.loss, mode="sum"))(params))
print(jax.value_and_grad(Agent().loss)(params))

net = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))


@eqx.filter_jit
def error(net, x):
    return (jax.vmap(net)(x) ** 2).mean()


linear = nnx.Linear(2, 1, rngs=nnx.Rngs(0))


@nnx.jit
def size(linear, x):
    return (linear(x) ** 2).mean()


for n in (4, 4, 5):
    print(eqx.filter_value_and_grad(error)(net, jnp.ones((n, 2)))[0], error(net, jnp.ones((n, 2))))
    print(nnx.value_and_grad(size)(linear, jnp.ones((n, 2)))[0])


@jax.jit
def target(x):
    return x.sum()


# What the transformation doesn't touch runs as it is.
print(jax.grad(lambda w: w * target(x))(2.0), target(x))
for _ in range(3):
    print(jax.grad(jax.jit(lambda x: (x**2).sum()))(x))

# Named axes are in the key, whether or not they are asked for.
less_mean = jax.jit(lambda x: x - jax.lax.pmean(x, "batch"))
plain = jax.jit(lambda x: x * 2)
for _ in range(2):
    jax.vmap(less_mean, axis_name="batch")(jnp.ones((4, 3)))
    jax.vmap(plain, axis_name="batch")(jnp.ones((4, 3)))
    jax.vmap(plain)(jnp.ones((4, 3)))
jax.vmap(plain, axis_name="batch")(jnp.ones((5, 3)))
jax.vmap(jax.vmap(plain, axis_name="inner"), axis_name="batch")(jnp.ones((4, 2, 3)))
jax.vmap(jax.vmap(plain, axis_name="batch"), axis_name="inner")(jnp.ones((2, 4, 3)))

twice = jax.jit(lambda x: x * 2)


@jax.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda _, cotangent: (twice(cotangent),))
print(twice(x))
# Where jax transposes it sets an abstract mesh without axes, which is another key than none before 0.12.
for _ in range(2):
    print(jax.grad(lambda x: doubled(x).sum())(x))
if hasattr(jax.sharding, "use_abstract_mesh"):
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))):
        print(twice(x), twice(x))

# A callback's function is called under a default device, and is given arrays that are committed.
for _ in range(2):
    print(jax.pure_callback(lambda x: np.asarray(twice(x)), jax.ShapeDtypeStruct((3,), jnp.float32), x))
