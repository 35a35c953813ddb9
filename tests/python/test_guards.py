"""Guards for tests: the context manager, the decorator, the pytest fixture, budgets and baselines."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import threading
from typing import Any

import jax
import jax.numpy as jnp
import jitkey
import pytest
from calls import CALLS, run

pytest_plugins = ["pytester"]


def fails(says: str) -> Any:
    return pytest.raises(jitkey.RecompileError, match=says)


def test_the_first_compile_is_none_too_many():
    with jitkey.assert_no_recompile():
        run([3, 3, 3])


def test_a_second_one_is_explained():
    with pytest.raises(jitkey.RecompileError) as raised, jitkey.assert_no_recompile():
        run([3, 3, 4])
    said = str(raised.value)
    assert said.startswith("step (calls.py:")
    for part in ("compiled twice, and may once", "x  shape  now [4], before [3]", "array-avals/shape", "Pad"):
        assert part in said


def test_a_first_call_that_hits_is_one_to_compare_with():
    step = jax.jit(lambda x: x + 1)
    step(jnp.ones(3))
    with pytest.raises(jitkey.RecompileError) as raised, jitkey.assert_no_recompile(0):
        step(jnp.ones(3))
        step(jnp.ones(4))
    for part in ("compiled once, and may never", "x  shape  now [4], before [3]"):
        assert part in str(raised.value)


def test_a_budget_goes_by_the_function():
    with jitkey.assert_no_recompile(functions={"step": 2}):
        run([3, 4])
    with fails("compiled 3 times, and may twice"), jitkey.assert_no_recompile(functions={"step": 2}):
        run([3, 4, 5])
    with fails("make the first one inside as well"), jitkey.assert_no_recompile(0):
        run([3])


def test_it_decorates():
    guarded = jitkey.assert_no_recompile()(run)
    guarded([3])
    with pytest.raises(jitkey.RecompileError):
        guarded([3, 4])


def test_what_is_made_in_one_place_is_told_apart():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        def apply(self, x):
            return x * self.scale

    first, second = (jax.jit(Model(scale).apply) for scale in (1.0, 2.0))
    with jitkey.assert_no_recompile():
        for _ in range(3):
            first(jnp.ones(3))
            second(jnp.ones(3))
    with fails("<lambda> .* compiled 3 times"), jitkey.assert_no_recompile():
        for _ in range(3):
            jax.jit(lambda x: x + 1)(jnp.ones(3))


def test_a_wrapper_after_a_clearing_is_another_function():
    def made():
        return jax.jit(lambda x: x + 1)

    with jitkey.assert_no_recompile():
        made()(jnp.ones(3))
        jax.clear_caches()
        made()(jnp.ones(3))
    step = made()
    with fails("<lambda> .* compiled twice"), jitkey.assert_no_recompile():
        step(jnp.ones(3))
        jax.clear_caches()
        step(jnp.ones(3))


def test_wrappers_of_a_loop_are_one_function_though_a_cycle_keeps_them():
    class Trainer:
        def __init__(self):
            self.step = jax.jit(self._step)

        def _step(self, x):
            return x

    with fails("_step .* compiled 4 times"), jitkey.assert_no_recompile():
        for _ in range(4):
            Trainer().step(jnp.ones(3))


def test_two_guards_at_once_are_refused():
    begun, done = threading.Event(), threading.Event()

    def guarded():
        with jitkey.assert_no_recompile():
            begun.set()
            done.wait(30)

    thread = threading.Thread(target=guarded)
    thread.start()
    assert begun.wait(30)
    scan = jax.lax.scan
    with pytest.raises(RuntimeError, match="under way"), jitkey.assert_no_recompile():
        pass
    done.set()
    thread.join()
    assert jax.lax.scan is not scan
    with jitkey.assert_no_recompile():
        run([3])


def test_a_guard_inside_of_a_guard_has_a_budget_of_its_own():
    with jitkey.assert_no_recompile(functions={"<lambda>": 2}):
        step = jax.jit(lambda x: x + 1)
        for n in (3, 4):
            step(jnp.ones(n))
        with jitkey.assert_no_recompile(0):
            step(jnp.ones(3))
        with fails("compiled once, and may never"), jitkey.assert_no_recompile(0):
            jax.jit(lambda x: x * 2)(jnp.ones(5))


def test_a_budget_for_nothing_is_said():
    with fails("budget for stpe, and no function"), jitkey.assert_no_recompile(functions={"stpe": 2}):
        run([3, 4])


def test_recursion_is_one_guard():
    step = jax.jit(lambda x: x + 1)

    @jitkey.assert_no_recompile()
    def down(n):
        step(jnp.ones(3))
        return down(n - 1) if n else "done"

    assert down(2) == "done"


def test_what_runs_later_is_refused():
    guard = jitkey.assert_no_recompile()

    async def later():
        run([3])

    with pytest.raises(TypeError, match="inside"):
        guard(later)


def test_an_effect_is_no_recompile():
    @jax.jit
    def step(x):
        jax.debug.print("{}", x[0])
        return x

    with jitkey.assert_no_recompile():
        step(jnp.ones(3))
        step(jnp.ones(3))


def test_what_jax_wraps_is_the_programs():
    step = jax.jit(jax.value_and_grad(lambda x: (x**2).sum()))
    with fails("value_and_grad\\w* of <lambda> .* compiled twice"), jitkey.assert_no_recompile():
        step(jnp.ones(3))
        step(jnp.ones(4))


def test_the_gradient_of_a_jitted_function_counts():
    loss = jax.jit(lambda x: (x**2).sum())
    with jitkey.assert_no_recompile():
        for _ in range(2):
            jax.grad(loss)(jnp.ones(3))
    with fails("<lambda> .* compiled twice"), jitkey.assert_no_recompile():
        jax.grad(loss)(jnp.ones(4))
        jax.grad(loss)(jnp.ones(5))


def test_each_number_of_rows_that_is_mapped_over_counts():
    loss = jax.jit(lambda x: (x**2).sum())

    @jitkey.assert_no_recompile()
    def mapped(*sizes):
        for rows in sizes:
            jax.vmap(loss)(jnp.ones((rows, 3)))
            jax.vmap(jax.grad(loss))(jnp.ones((rows, 3)))

    mapped(4, 4)
    with fails("<lambda> .* compiled twice(.|\n)*now vmap over 6, before vmap over 5"):
        mapped(5, 6)


def test_a_call_that_raises_is_no_compile():
    @jax.jit
    def step(x):
        return x + jnp.ones(3)

    with jitkey.assert_no_recompile():
        step(jnp.ones(3))
        with pytest.raises(TypeError):
            step(jnp.ones(4))


def test_nothing_compiles_without_jit():
    with jitkey.assert_no_recompile(0), jax.disable_jit():
        run([3])


def test_what_is_raised_inside_comes_out():
    with pytest.raises(ZeroDivisionError), jitkey.assert_no_recompile():
        run([3, 4])
        raise ZeroDivisionError
    with jitkey.assert_no_recompile():
        run([3])


def test_a_baseline_lets_through_what_it_knows(tmp_path, monkeypatch):
    baseline = tmp_path / "recompiles.json"
    monkeypatch.setenv("JITKEY_UPDATE_BASELINE", "1")
    with jitkey.assert_no_recompile(baseline=baseline):
        run([3, 4])
    assert json.loads(baseline.read_text()) == {"step (calls.py)": 2}
    monkeypatch.delenv("JITKEY_UPDATE_BASELINE")
    with jitkey.assert_no_recompile(baseline=baseline):
        run([3, 4])
    with fails("compiled 3 times, and may once"), jitkey.assert_no_recompile(baseline=baseline):
        run([3, 4, 5])


def test_what_is_no_baseline_or_no_budget_is_said(tmp_path, monkeypatch):
    baseline = tmp_path / "recompiles.json"
    for content in ("{", "[1]", '{"step": "often"}'):
        baseline.write_text(content)
        with pytest.raises(ValueError, match="is no baseline"), jitkey.assert_no_recompile(baseline=baseline):
            run([3])
    for budget in ({"times": -1}, {"times": "x"}, {"functions": {"step": None}}):
        with pytest.raises(ValueError, match="a number from 0 on"):
            jitkey.assert_no_recompile(**budget)
    # It isn't written unless that is asked for.
    baseline.unlink()
    monkeypatch.setenv("JITKEY_UPDATE_BASELINE", "0")
    with fails("compiled twice"), jitkey.assert_no_recompile(baseline=baseline):
        run([3, 4])
    assert not baseline.exists()


def test_the_fixture_fails_the_test_that_asks_for_it(pytester):
    pytester.makepyfile(
        CALLS
        + """
def test_well(no_recompile): run([1, 1])
def test_not_asked(): run([1, 2])
def test_too_often(no_recompile): run([1, 2])
@pytest.mark.recompiles(step=2)
def test_budget(no_recompile): run([1, 2])
@pytest.mark.recompiles(times=2)
class TestBudget:
    def test_for_all(self, no_recompile): run([1, 2])
    def test_over(self, no_recompile): run([1, 2, 3])
"""
    )
    result = pytester.runpytest_subprocess("--recompile-baseline", "recompiles.json")
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["step (*compiled twice, and may once", "*x  shape  now [[]2[]], before [[]1[]]"])
    assert not pathlib.Path("recompiles.json").exists()


def test_a_guard_without_its_recording_fails():
    program = "import os, jax, jitkey\nwith jitkey.assert_no_recompile(): os.closerange(3, 200); jax.jit(lambda x: x)(1)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "RecompileError" in run.stderr and "the program closed it" in run.stderr


def test_a_cell_that_runs_again_is_the_same_one(tmp_path):
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for count in (3, 4):
            scope = {"jax": jax}
            exec(compile("f = jax.jit(lambda x: x)\nf(1.0)", f"<ipython-input-{count}-ab12>", "exec"), scope)
    calls = [line for line in map(json.loads, file.read_text().splitlines()) if "missed" in line]
    assert [(it["at"].split(":")[0], it["from"]) for it in calls] == [("<ipython-input-ab12>", "<ipython-input-ab12>:2")] * 2
