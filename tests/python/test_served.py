"""What is said of calls that the fast path serves, which nothing looks at."""

from __future__ import annotations

import functools
import gc
import json
import os
import pathlib
import subprocess
import sys
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import jitkey
import pytest
from jitkey import observe, served

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "served.py"
RECORDS = """
import runpy, sys
import jitkey
from jitkey import served

served.LOOKED_AT = int(sys.argv[2])
with jitkey.recording(sys.argv[1]):
    runpy.run_path(sys.argv[3])
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[dict[str, Any]]]:
    """The lines of the program's calls: where each one is looked at, and where none is that the fast path serves."""
    folder = tmp_path_factory.mktemp("served")

    def lines(looked_at: int) -> list[dict[str, Any]]:
        file = folder / f"{looked_at}.jsonl"
        command = [sys.executable, "-c", RECORDS, str(file), str(looked_at), str(PROGRAM)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        return [line for text in file.read_text().splitlines() if "api" in (line := json.loads(text))]

    return {looked_at: lines(looked_at) for looked_at in (1, 1 << 30)}


def whole(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each call as it is described where it or one like it was first."""
    calls: dict[int, Any] = {}
    for line in lines:
        calls[line["number"]] = calls[line["again"]] if "again" in line else line.get("call", line.get("unrecorded"))
    names = ("api", "name", "at", "from", "missed", "error")
    return [{**{name: line.get(name) for name in names}, "call": calls[line["number"]]} for line in lines]


def test_what_was_left_before_is_said_to_be(tmp_path: pathlib.Path) -> None:
    step = jax.jit(lambda x: x * 2)
    for size in (2, 3):
        step(jnp.ones(size))
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file):
        for size in (2, 3, 2, 4, 4):
            step(jnp.ones(size))
    lines = list(map(json.loads, file.read_text().splitlines()))
    left = [(line["after"], line["aside"]["again"]) for line in lines if line.get("aside")]
    assert left == [(0, 1), (1, 2)]
    assert [line["missed"] == [] for line in lines if "api" in line] == [True, True, True, False, True]


def test_what_is_served_is_said_as_if_it_was_looked_at(said: dict[int, list[dict[str, Any]]]) -> None:
    # As text, since 1 and True are equal.
    looked_at, not_looked_at = (list(map(json.dumps, whole(lines))) for lines in said.values())
    assert [one for one in zip(looked_at, not_looked_at, strict=True) if one[0] != one[1]] == []


class Aux:
    """Aux data, equal to other ones."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Aux

    def __hash__(self) -> int:
        return 1


class Node:
    """A node with aux data."""

    def __init__(self, x: Any, aux: Aux) -> None:
        self.x, self.aux = x, aux


jax.tree_util.register_pytree_node(Node, lambda node: ((node.x,), node.aux), lambda aux, children: Node(*children, aux))


def is_let_go_of() -> bool:
    """Whether aux data that nothing refers to is gone once the caches are cleared; up to jax 0.6 it isn't."""
    step = jax.jit(lambda node: node.x)
    aux = Aux()
    gone = weakref.ref(aux)
    step(Node(jnp.ones(3), aux)), step(Node(jnp.ones(3), aux))
    del aux
    jax.clear_caches()
    gc.collect()
    return gone() is None


def test_functions_have_their_names() -> None:
    """Of whatever kind they are, and an object that is none isn't asked for one."""

    class Model:
        def apply(self, x: Any) -> Any:
            return x

        def __call__(self, x: Any) -> Any:
            return x

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    def scaled(x: Any) -> Any:
        return x

    functions = [scaled, Model().apply, jax.jit(scaled), jax.custom_jvp(scaled), functools.partial(scaled, 1), Model()]
    assert list(map(observe.name_of, functions)) == ["scaled", "apply", "scaled", "scaled", None, None]


def test_what_caches_let_go_of_is_gone(tmp_path: pathlib.Path) -> None:
    alone = is_let_go_of()
    with jitkey.recording(tmp_path / "recording.jsonl"):
        assert is_let_go_of() == alone


def test_what_is_looked_at_again_takes_no_more_memory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "LOOKED_AT", 1)
    step = jax.jit(lambda x: x)
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        for _ in range(100):
            step(jnp.ones(3))
        assert max(map(len, recording._known._using.values())) < 10


def test_what_takes_the_place_of_what_is_gone_is_another(tmp_path: pathlib.Path) -> None:
    weights = jnp.ones(3)
    step = jax.jit(lambda x: x * weights)
    with jitkey.recording(tmp_path / "recording.jsonl") as recording:
        for i in range(6):
            # The new ones can be where the old ones were.
            del weights
            weights = jnp.full(3, float(i))
            step(jnp.ones(3)), step(jnp.ones(3))
    lines = [line for text in recording.file.read_text().splitlines() if "api" in (line := json.loads(text))]
    read = [one["call"]["reads"]["weights"] for one in whole(lines)]
    assert read == [f"<float32[3] #{1 + i // 2}>" for i in range(12)]
