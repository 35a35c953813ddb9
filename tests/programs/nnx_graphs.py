"""Graphdefs of flax.nnx where programs put them: static arguments, static fields, arguments of partials, and leaves of trees."""

import functools

import flax
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training import train_state


class Net(nnx.Module):
    def __init__(self, width, *, rngs, activation=nnx.relu):
        self.first = nnx.Linear(3, width, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, deterministic=True, rngs=rngs)
        self.last = nnx.Linear(width, 1, rngs=rngs)
        self.activation, self.width = activation, width

    def __call__(self, x):
        return self.last(self.dropout(self.activation(self.first(x))))


class State(train_state.TrainState):
    graph: object = flax.struct.field(pytree_node=False)
    rest: object = None


def state_of(net):
    graph, params, rest = nnx.split(net, nnx.Param, ...)
    return State.create(apply_fn=None, params=params, tx=optimizer, graph=graph, rest=rest)


@jax.jit
def step(state, x):
    def loss(params):
        return nnx.merge(state.graph, params, state.rest)(x).sum()

    return state.apply_gradients(grads=jax.grad(loss)(state.params))


@functools.partial(jax.jit, static_argnums=0)
def applied(graphs, state, x):
    return nnx.merge(graphs[0], state)(x)


by_name = jax.jit(lambda graph, state, x: nnx.merge(graph, state)(x), static_argnames="graph")
whole = jax.jit(lambda split, x: nnx.merge(*split)(x))
optimizer = optax.sgd(0.1)
x = jnp.ones((2, 3))
net = Net(4, rngs=nnx.Rngs(0))
state = state_of(net)
for _ in range(3):
    state = step(state, x)
step(state_of(Net(4, rngs=nnx.Rngs(1))), x)
step(state_of(Net(4, rngs=nnx.Rngs(1), activation=nnx.tanh)), x)
for rate in (0.5, 0.5, 0.3):
    net.dropout.rate = rate
    graph, split = nnx.split(net)
    step(state_of(net), x)
    print(applied((graph, 1), split, x).shape, by_name(graph=graph, state=split, x=x).shape, whole((graph, split), x).shape)
wide = Net(5, rngs=nnx.Rngs(0))
print(applied((nnx.graphdef(wide), 1), nnx.state(wide), x).shape)
bound = jax.jit(functools.partial(lambda graph, state, x: nnx.merge(graph, state)(x), graph))
print(bound(split, x).shape, bound(split, x).shape)
