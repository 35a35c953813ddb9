"""Threads that call one function at once, functions that are made in one place, effects, a call that raises, other processes."""

import concurrent.futures
import multiprocessing

import numpy as np


def square(i):
    return i * i


def make():
    import jax

    @jax.jit
    def inner(x):
        return x * 2

    return inner


def main():
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    total = jax.jit(lambda x: (x @ x.T).sum())
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        print(list(processes.map(square, range(4))))
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        print(sum(threads.map(lambda n: float(total(jnp.ones((n % 5 + 1, 2)))), range(200))))
    gradient = jax.jit(jax.grad(lambda params, x: jnp.sum((params["w"] * x) ** 2)))
    params = {"w": jnp.ones(3)}
    for i in range(300):
        params = jax.tree.map(lambda value, slope: value - 0.001 * slope, params, gradient(params, np.full(3, i, np.float32)))
    print(params["w"].shape)
    chosen = jax.jit(lambda x, flag, *, mode="x": x * (2 if flag else 1), static_argnums=1, static_argnames="mode")
    for i in range(4):
        chosen(jnp.ones(2), i % 2 == 0, mode="y" if i > 1 else "x")
    try:
        jax.jit(lambda x: int(x))(3)
    except jax.errors.ConcretizationTypeError as error:
        print(type(error).__name__)
    seen = []
    noisy = jax.jit(lambda x: io_callback(lambda value: seen.append(float(value)), None, x, ordered=True))
    noisy(1.0)
    noisy(2.0)
    jax.effects_barrier()
    print(seen)
    one, other = make(), make()
    for _ in range(3):
        print(one(1.0), other(1.0))
    for _ in range(3):
        make()(1.0)


if __name__ == "__main__":
    main()
