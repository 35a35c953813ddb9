"""What is wrong in the recorder is none of the program's: its calls return what they return, and it is said that one is missing."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import jitkey
import pytest
from jitkey import hooks, loops, met, recorder
from jitkey.known import Known
from jitkey.objects import Objects
from jitkey.reads import Reads
from jitkey.signatures import Signatures


def fails(*_: Any, **__: Any) -> Any:
    """What a defect does."""
    raise ZeroDivisionError("a defect")


PLACES = [
    (met, "wrapper_of"),
    (Reads, "of_call"),
    (Signatures, "of_call"),
    (Signatures, "given"),
    (Objects, "value"),
    (Objects, "news"),
    (Known, "call"),
    (Known, "remember"),
    (hooks, "unused"),
    (recorder, "caller"),
    (loops, "functions"),
    (recorder.Recording, "_write"),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0].__name__}.{place[1]}")
def test_a_defect_is_none_of_the_programs(place: tuple[Any, str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "recording.jsonl"
    with jitkey.recording(file) as begun:
        monkeypatch.setattr(*place, fails)
        double = jax.jit(lambda x: 2 * x)
        refuses = jax.jit(lambda x: x.no_such_attribute)
        calls = [double(jnp.ones(size)).shape for size in (2, 2, 3, 2)]
        assert jax.lax.fori_loop(0, 3, lambda _, x: x + 1, 0) == 3
        with pytest.raises(AttributeError):
            refuses(jnp.ones(2))
        monkeypatch.undo()
        calls.append(double(jnp.ones(4)).shape)
    assert calls == [(2,), (2,), (3,), (2,), (4,)]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    recorded = [line for line in lines if "api" in line]
    assert all(("call" in line) + ("again" in line) + ("unrecorded" in line) == 1 for line in recorded)
    # Calls of what libraries jit are overlooked as well.
    assert len(recorded) == 7 or len(recorded) + begun.overlooked.total() >= 7, lines
    assert len({line["number"] for line in recorded}) == len(recorded)
