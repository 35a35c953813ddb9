"""What others need for the same work; with `loops`, jax.jit without jitkey. Prints JSON lines; benches/compare reads them."""

import json
import sys
import time

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optree
from hypothesis import HealthCheck, given, settings
from pairs import FIRST, LEAVES, SECOND


def say(what, rate):
    print(json.dumps({"what": what, "per_second": rate}), flush=True)


def hypothesis_pairs(count):
    """Pairs of pytrees with about twenty leaves, each leaf an aval or a number."""
    avals = st.tuples(st.sampled_from(["f32", "i32", "bf16"]), st.lists(st.integers(0, 4), max_size=3), st.booleans())
    leaves = st.one_of(avals, st.integers(-9, 9), st.floats(allow_nan=False), st.none())
    small = st.one_of(st.lists(leaves, min_size=4, max_size=6), st.dictionaries(st.text("abc", max_size=2), leaves, min_size=3))
    trees = st.lists(small, min_size=4, max_size=4).map(tuple)
    begun = time.perf_counter()
    made = 0

    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(trees, trees)
    def run(_one, _other):
        nonlocal made
        made += 1

    run()
    return made / (time.perf_counter() - begun)


def per_leaf(flatten, leaves):
    tree = [np.float32(1)] * leaves
    rounds = max(3, 300_000 // leaves)
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(rounds):
            flat, treedef = flatten(tree)
            hash(treedef)
        best = min(best, (time.perf_counter() - begun) / rounds)
    return leaves / best


def bare_loop(pairs, use):
    """Each pair: a fresh function, and two calls with ten leaves; `use` says what is called."""
    first, *seconds = [jnp.ones(shape, dtype) for _, dtype, shape in (FIRST, *SECOND)]

    def pair(number):
        def f(*args):
            return list(args)

        called = use(jax.jit(f))
        for value in (first, seconds[number % len(seconds)]):
            called(*[first] * (LEAVES - 1), value)

    for number in range(len(seconds)):
        pair(number)
    begun = time.perf_counter()
    for number in range(pairs):
        pair(number)
    return pairs / (time.perf_counter() - begun)


if sys.argv[1:] == ["loops"]:
    say("bare loop on jax.jit: pairs compiled", bare_loop(150, lambda jitted: jitted))
    say("bare loop on jax.jit: pairs traced", bare_loop(1500, lambda jitted: jitted.trace))
else:
    say("hypothesis: pairs of 20-leaf pytrees", max(hypothesis_pairs(400) for _ in range(5)))
    for n in (10, 1_000, 100_000, 1_000_000):
        say(f"jax.tree_util.tree_flatten and hash, {n} leaves", per_leaf(jax.tree_util.tree_flatten, n))
        say(f"optree.tree_flatten and hash, {n} leaves", per_leaf(lambda tree: optree.tree_flatten(tree), n))
