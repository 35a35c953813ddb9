"""What is said of calls that the fast path serves, which nothing looks at."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

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


def test_what_is_served_is_said_as_if_it_was_looked_at(said: dict[int, list[dict[str, Any]]]) -> None:
    looked_at, served = whole(said[1]), whole(said[1 << 30])
    assert [one for one in zip(looked_at, served, strict=True) if one[0] != one[1]] == []
