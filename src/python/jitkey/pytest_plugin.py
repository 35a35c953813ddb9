"""The pytest plugin: the fixture `no_recompile`, its marker `recompiles` and a baseline.

    @pytest.mark.recompiles(train_step=2)
    def test_training(no_recompile): ...

`pytest --recompile-baseline FILE` lets through what compiles too often already, and with `JITKEY_UPDATE_BASELINE=1` writes
that file. jax is imported by the tests that ask for the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option for the baseline."""
    group = parser.getgroup("jitkey")
    group.addoption("--recompile-baseline", metavar="FILE", help="how often functions compile already; only more than that fails")


def pytest_configure(config: pytest.Config) -> None:
    """The marker, for those who ask which there are."""
    marker = "recompiles(times=1, **functions): how often each function may compile in a test that asks for no_recompile"
    config.addinivalue_line("markers", marker)


@pytest.fixture
def no_recompile() -> None:
    """Fails the test, with an explanation, if a function that it calls compiles more often than it may: once."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """Holds a test that asks for the fixture to its budget, so that it is the test that fails."""
    if "no_recompile" not in getattr(item, "fixturenames", ()):
        return (yield)
    from .guard import RecompileError, assert_no_recompile

    marker = item.get_closest_marker("recompiles")
    times, functions = ((), {}) if marker is None else (marker.args, dict(marker.kwargs))
    if "times" in functions:
        times = (functions.pop("times"),)
    try:
        with assert_no_recompile(*times, functions=functions, baseline=item.config.getoption("recompile_baseline")):
            return (yield)
    except RecompileError as error:
        failure = str(error)
    return pytest.fail(failure, pytrace=False)
