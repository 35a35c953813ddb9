"""How a case can end other than with a result."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Unsupported(Exception):
    """The case asks for something that this target, or this version of it, doesn't have."""


class Malformed(Exception):
    """The case contradicts itself or the schema: it names what doesn't exist, or states what isn't so."""


class Unbuildable(Exception):
    """A library's constructor refused a value of the case, so that there is no call to observe."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.report = describe(error)


def describe(error: BaseException) -> dict[str, str]:
    """The error as the protocol reports it."""
    try:
        message = str(error)
    except Exception:  # The message may show a value whose own `__repr__` raises.
        message = ""
    return {"class": type(error).__name__, "message": message[:300]}


@contextlib.contextmanager
def construction() -> Iterator[None]:
    """Marks the place where a user's program would run a constructor: what it raises is a fact about the case."""
    try:
        yield
    except (Unsupported, Malformed, Unbuildable):
        raise
    except Exception as error:
        raise Unbuildable(error) from error
