"""The package in a Python that the wheel was installed in: the recorder and the command."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import importlib.metadata
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

import jax
import jax.export
import jax.numpy as jnp
import jitkey
import numpy as np
import pytest
from calls import CALLS, run
from jitkey import hooks
from jitkey.stream import Stream
from jitkey.texts import identity_text


def test_an_eq_that_waits_for_another_thread_is_waited_for_no_longer(monkeypatch, tmp_path):
    monkeypatch.setattr("jitkey.recorder.PATIENCE", 0.1)
    entered, passed = threading.Event(), threading.Event()

    class Slow:
        def __hash__(self):
            entered.set()
            assert passed.wait(30)
            return 1

        def __eq__(self, other):
            return self is other

    fast, slow = jax.jit(lambda x: x + 1), jax.jit(lambda x, s: x + 1, static_argnums=1)
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        thread = threading.Thread(target=slow, args=(1.0, Slow()))
        thread.start()
        assert entered.wait(30)
        fast(1.0)
        passed.set()
        thread.join()
    assert recording.calls == 2
    assert "another thread" in (tmp_path / "recording.jsonl").read_text()


def test_what_stands_in_for_a_loop_is_pickled(tmp_path):
    with jitkey.recording(tmp_path / "recording.jsonl"):
        assert pickle.loads(pickle.dumps(jax.lax.scan)) is jax.lax.scan


def test_a_copy_of_a_jitted_function_runs(tmp_path):
    """What `copy` makes of one has no attributes, and so nothing that says what it was jitted with."""
    step = jax.jit(lambda x: x + 1)
    held: dict[str, Any] = {"step": step}
    with jitkey.recording(tmp_path / "recording.jsonl"):
        assert copy.copy(step)(1) == copy.deepcopy(held)["step"](1) == 2


def test_what_is_jitted_for_a_layout_has_no_prediction(tmp_path):
    import jax.experimental.layout as layouts

    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    format = getattr(layouts, "Format", layouts.Layout)
    order = getattr(layouts, "DeviceLocalLayout", layouts.Layout).AUTO
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for asked in (place, format(order, place)):
            with contextlib.suppress(ValueError):  # Only what is compiled ahead can leave the choice to XLA.
                jax.jit(lambda x: x, in_shardings=asked)(jnp.ones((2, 2)))
    *_, with_a_sharding, with_a_layout = (line for line in file.read_text().splitlines() if '"api"' in line)
    assert '"call"' in with_a_sharding and "jitted for a layout" not in with_a_sharding
    assert "jitted for a layout" in with_a_layout


def test_a_shape_with_a_symbol_has_no_prediction(tmp_path):
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        shape = jax.export.symbolic_shape("n, 4")
        jax.export.export(jax.jit(lambda x: x + 1))(jax.ShapeDtypeStruct(shape, jnp.float32))
    (call,) = [line for line in map(json.loads, recording.file.read_text().splitlines()) if "api" in line]
    assert call["unrecorded"] == "recording a shape with a symbol in it"


def test_a_long_tuple_is_not_written_down(tmp_path):
    class Vocabulary(NamedTuple):
        words: tuple

    f = jax.jit(lambda x, static: x, static_argnums=1)
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        for count in (50_000, 50_000, 50_001):
            f(1.0, tuple(range(count)))
            f(1.0, Vocabulary(tuple(range(count))))
    assert recording.file.stat().st_size < 10_000
    lines = [line for line in map(json.loads, recording.file.read_text().splitlines()) if "api" in line]
    assert [line["missed"] != [] for line in lines] == [True, True, False, False, True, True]
    longs = [line["call"]["args"][1]["new"] for line in lines]
    said = [new["value"]["str"] if "value" in new else new["args"][0]["new"]["value"]["str"] for new in longs]
    same, other = said[0], said[4]
    assert said == [same, same, same, same, other, other]
    assert same.startswith("(0, 1, 2, …) of 50000 items") and same != other


def test_what_is_met_first_where_there_are_no_words_says_nothing_of_the_rest(tmp_path):
    f = jax.jit(lambda x: x + 1)
    jax.config.update("jax_numpy_rank_promotion", "warn")
    try:
        with jitkey.recording(tmp_path / "recording.jsonl"):
            jax.config.update("jax_numpy_rank_promotion", "raise")
            jax.vmap(f, axis_name=("no", "text"))(jnp.ones((2, 3)))
            f(jnp.ones(3))
            jax.vmap(f, axis_name="batch")(jnp.ones((2, 4)))
    finally:
        jax.config.update("jax_numpy_rank_promotion", "allow")
    lines = map(json.loads, (tmp_path / "recording.jsonl").read_text().splitlines())
    of_tuple, of_none, of_text = (line for line in lines if "api" in line)
    assert of_tuple["unrecorded"] == "recording an axis whose name a case can't have"
    flag = {"jax_numpy_rank_promotion": {"str": "raise"}}
    assert [line["call"]["context"] for line in (of_none, of_text)] == [{"flags": flag}, {"flags": flag, "named_axes": {"batch": 2}}]


@pytest.mark.skipif(not hasattr(jax, "make_user_context"), reason="nobody makes a context before jax 0.7")
def test_what_is_met_first_without_words_after_a_context_was_made_says_nothing_of_the_rest(tmp_path):
    program = """
import jax, jax.numpy as jnp
f, x = jax.jit(lambda x: x + 1), jnp.ones(3)
f(x)
one, other = jax.make_user_context(None), jax.make_user_context(None)
with one(1), other(2):
    f(x)
f(x)
"""
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "jitkey", "record", "program.py"]
    subprocess.run(command, cwd=tmp_path, check=True)
    lines = map(json.loads, (tmp_path / "recording.jsonl").read_text().splitlines())
    said = [line["call"]["context"] if "call" in line else line["unrecorded"] for line in lines if "api" in line]
    assert said == [{}, "recording what surrounds the call", {"contexts_made": 2}]


@pytest.mark.skipif(jax.__version_info__ < (0, 5), reason="jax 0.4 has no set_xla_metadata")
def test_what_contexts_of_jax_set_has_words(tmp_path):
    from jax.experimental.xla_metadata import set_xla_metadata

    f, x = jax.jit(lambda x: x + 1), jnp.ones(3)
    with jitkey.recording(tmp_path / "recording.jsonl"):
        with set_xla_metadata(unit=1, of="step"):
            f(x)
        f(x)
    lines = map(json.loads, (tmp_path / "recording.jsonl").read_text().splitlines())
    said = [line["call"]["context"] for line in lines if "call" in line]
    assert said == [{"xla_metadata": {"unit": 1, "of": {"str": "step"}}}, {}]


def test_a_nan_is_one_object(tmp_path):
    f, nan = jax.jit(lambda x, n: x, static_argnums=1), float("nan")
    with jitkey.recording(tmp_path / "recording.jsonl"):
        f(1.0, nan), f(jnp.ones(3), nan), f(jnp.ones(3), float("nan"))
    lines = [json.loads(line) for line in (tmp_path / "recording.jsonl").read_text().splitlines()]
    given = [line["call"]["args"][1]["ref"] for line in lines if line.get("api") == "jax.jit" and "call" in line]
    assert given[0] == given[1] != given[2]
    objects = {name: form for line in lines for name, form in line.get("objects", {}).items()}
    assert objects[given[0]] == objects[given[2]] == {"float": "nan"}


def test_nothing_compiles_for_what_is_traced_eagerly(tmp_path):
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    inner = jax.jit(lambda x: jnp.square(x).mean())
    x = jnp.ones((3, 2))
    with jitkey.recording(tmp_path / "recording.jsonl"):
        jax.hessian(inner)(x)
        del compiled[:]
        jax.hessian(inner)(x)
    assert not any("backend_compile" in event for event in compiled)


def test_the_command_records_and_explains(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(CALLS + "\nrun([3, 4])\n")
    for command in (["record", "--", sys.executable, "train.py"], ["explain", "recording.jsonl"]):
        done = subprocess.run(["jitkey", *command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "x  shape  now [4], before [3]" in done.stdout


def test_what_is_asked_for_and_what_surrounds_is_recorded(tmp_path):
    file, device = tmp_path / "recording.jsonl", jax.devices()[0]
    mesh = jax.sharding.Mesh([device], ("x",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    with jitkey.recording(file):
        jax.jit(lambda x, y: x + y, in_shardings=(everywhere, None), out_shardings=everywhere)(1.0, 2.0)
        with jax.set_mesh(mesh) if hasattr(jax, "set_mesh") else mesh:
            jax.jit(lambda x: x + 1)(1.0)
    asked, inside = (json.loads(line)["call"] for line in file.read_text().splitlines()[1:])
    written = {"sharding": {"mesh": {"x": 1}, "devices": [0], "spec": []}}
    assert asked["options"] == {"in_shardings": [written, None], "out_shardings": written}
    assert inside["context"] in ({word: {"x": 1}, "mesh_devices": [0]} for word in ("set_mesh", "mesh"))


@pytest.mark.parametrize("how", [["train.py"], ["-m", "train"]])
def test_a_program_ends_as_without_it(tmp_path, how):
    program = """
import pickle, sys, threading, time
class Value: pass
def later():
    time.sleep(0.3)
    import __main__
    print(__main__.Value is Value, pickle.loads(pickle.dumps(Value)) is Value, flush=True)
threading.Thread(target=later).start()
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
print(pool.submit(sum, [1, 2]).result(), flush=True)
print(sys.argv[1:], __name__, flush=True)
def fail(x): raise {"raise": KeyError("mine"), "interrupt": KeyboardInterrupt()}[sys.argv[1]]
if sys.argv[1] != "exit": jax.jit(fail)(1)
sys.exit(7)
"""
    (tmp_path / "train.py").write_text("import jax\n" + program)
    for given, code in (["raise", "--", "-x"], 1), (["exit"], 7), (["interrupt"], -signal.SIGINT):
        alone, recorded = (
            subprocess.run([*command, *how, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
            for command in ([sys.executable], ["jitkey", "record", "--", sys.executable])
        )
        # As a shell says that a signal ended it.
        assert (alone.returncode, recorded.returncode) == (code, code if code > 0 else 128 - code), recorded.stderr
        assert recorded.stdout == alone.stdout
        if code != 7 and how == ["train.py"]:
            assert recorded.stderr.startswith(alone.stderr)


def test_what_is_jitted_inside_of_a_body_is_traced_without_a_profiler(tmp_path):
    seen = []

    @jax.jit
    def inner(x):
        seen.append(sys.getprofile())
        return x + 1

    @jax.jit
    def step(x):
        seen.append(sys.getprofile())
        return inner(x)

    with jitkey.recording(tmp_path / "recording.jsonl"):
        step(jnp.ones(3))
    assert seen == [None, None]


def test_a_program_may_close_what_it_did_not_open(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import os, jax\nf = jax.jit(lambda x: x + 1)\nf(1)\nos.closerange(3, 100)\n"
        "files = [open(f'other_{i}', 'w') for i in range(20)]\nf(1.0)\nprint('done')\n"
    )
    command = [sys.executable, "-m", "jitkey", "record", "--", str(program)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "done\n" and "not all are there: the program closed it" in run.stderr
    assert all(not other.read_bytes() for other in tmp_path.glob("other_*"))
    assert len((tmp_path / "recording.jsonl").read_text().splitlines()) == 2


def test_what_is_written_in_the_middle_of_a_write_is_there(tmp_path, monkeypatch):
    stream, write = Stream(tmp_path / "lines"), os.write

    def interrupted(descriptor, data):
        monkeypatch.setattr(os, "write", write)
        stream.write("second\n")
        return write(descriptor, data[:3])

    monkeypatch.setattr(os, "write", interrupted)
    stream.write("first\n")
    stream.flush()
    stream.close()
    stream.write("late\n")
    assert (tmp_path / "lines").read_text() == "first\nsecond\n" and stream.failure is None


def test_a_child_writes_nothing_of_the_recording(tmp_path):
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file) as recording:
        run([3])
        before = file.read_bytes()
        # As os.fork does in a child, in which jax can't end.
        hooks._forked()
        run([4])
    assert recording.is_abandoned and file.read_bytes() == before


def test_what_cannot_be_hashed_is_said_of_an_object_however_deep_and_long():
    @dataclasses.dataclass(frozen=True)
    class Net:
        weights: Any
        name: str

    class Trainer:
        def __init__(self, **held):
            self.__dict__.update(held)

    deep = Trainer(rate=0.5, net=Net((jnp.ones(3),), "n"))
    assert identity_text(deep) == "<Trainer net.weights[0]=float32[…], rate=0.5, net=Net(weights=…, name='n')>"
    long = identity_text(Trainer(net=Net(None, "n" * 300), history=[jnp.ones(3)]))
    assert long.startswith("<Trainer history=[…], net=Net(") and long.endswith("…>") and len(long) < 300
    assert identity_text(Trainer(net=Net(None, "n"))) == "<Trainer net=Net(weights=None, name='n')>"
    assert identity_text(Trainer(net=Net(jax.nn.relu, "n"))).startswith("<Trainer net=Net(weights=<custom_jvp of relu at ")


def test_the_package_and_the_wheel_are_one_version():
    assert importlib.metadata.version("jitkey") == jitkey.__version__


def test_what_is_given_the_same_is_not_described_again(tmp_path):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), "x")
    step, scaled = jax.jit(lambda x, rate, count: x), jax.jit(lambda x, by: x * by, static_argnums=1)

    def split(spec):
        return jax.device_put(np.ones((4, 4), np.float32), jax.sharding.NamedSharding(mesh, spec))

    def described(*calls):
        file = tmp_path / "recording.jsonl"
        with jitkey.recording(file):
            for function, *args in calls:
                with contextlib.suppress(OverflowError):
                    function(*args)
        return [json.loads(line)["number"] for line in file.read_text().splitlines() if '"call"' in line]

    spec = jax.sharding.PartitionSpec
    # New arrays, shardings and numbers, which are alike.
    assert described(*[(step, split(spec("x")), 0.1 * i, i) for i in range(4)]) == [1]
    assert described(*[(step, split(spec("x")), np.float32(i), i > 2) for i in range(4)]) == [1]
    # What isn't.
    assert described(*[(step, split(of), 0.1, 1) for of in (spec("x"), spec(None, "x"))]) == [1, 2]
    assert described(*[(step, 1.0, rate, 1) for rate in (1.0, 1, True, np.float32(1), np.float16(1), 1j)]) == [1, 2, 3, 4, 5, 6]
    assert described(*[(step, 1.0, 1.0, 2**bits) for bits in (3, 30, 40, 50, 70)]) == [1, 3, 4, 5]
    # A static number is what it is.
    assert described(*[(scaled, 1.0, by) for by in (1, 2, 1.0, 1)]) == [1, 2, 3]


def test_arrays_that_look_otherwise_in_the_middle_are_described_again(tmp_path):
    """Of those that are like the last ones the ends are seen first."""
    plain = [jnp.asarray(1, jnp.float32) for _ in range(3)]
    others = [jax.device_put(plain[1], jax.devices()[0]), jnp.ones(1), jnp.asarray(1, jnp.int32), jnp.asarray(1.0), 1.0]
    step = jax.jit(lambda leaves: leaves[0])
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        for middle in [plain[1], *others, jnp.asarray(2, jnp.float32), *others]:
            step([plain[0], middle, plain[2]])
        step(plain[:2])
        step(plain)
    calls = [line for line in map(json.loads, recording.file.read_text().splitlines()) if "api" in line]
    assert [line.get("again") for line in calls] == [*[None] * 6, 1, 2, 3, 4, 5, 6, None, 1]


def test_a_decorator_does_not_hide_who_calls(tmp_path):
    step = jax.jit(lambda x: x + 1)

    def timed(*args, **kwargs):
        return step(*args, **kwargs)

    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        timed(1.0)
        step(2.0)
    decorated, plain = [line["from"] for line in map(json.loads, recording.file.read_text().splitlines()) if "api" in line]
    inner, _, outer = decorated.removesuffix(")").partition(" (from ")
    numbers = [int(line.removeprefix("test_package.py:")) for line in (inner, outer, plain)]
    assert numbers[0] < numbers[1] == numbers[2] - 1


def test_what_is_compiled_beside_the_calls_is_recorded(tmp_path):
    file = tmp_path / "recording.jsonl"
    jax.clear_caches()
    with jitkey.recording(file):
        jnp.linalg.norm(jnp.ones(3))
        run([3])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    beside = [line["beside"] for line in lines if "beside" in line]
    assert "norm" in [it["name"] for it in beside] and "step" not in [it["name"] for it in beside]
    assert all(it["from"].startswith("test_package.py:") for it in beside)


def test_what_is_traced_inside_of_a_trace_takes_no_time_of_its_own(tmp_path):
    def sleeps(x):
        time.sleep(0.5)
        return x

    inner = jax.jit(sleeps)
    outer = jax.jit(lambda x: inner(x) + 1)
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        outer.trace(1.0)
        outer.trace(1.0)
    seconds = [line.get("seconds") for line in map(json.loads, file.read_text().splitlines()) if "call" in line or "again" in line]
    assert 0.5 <= seconds[0] < 1 and seconds[1:] == [None]
