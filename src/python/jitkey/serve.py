"""The protocol loop: `python -m jitkey.serve TARGET` reads JSON lines, and answers each with one.

Only replies may reach stdout. Libraries print there too, so its descriptor is taken away before anything is imported,
and what they print goes to stderr.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from typing import Any, BinaryIO

from . import environment
from .errors import Malformed, Unbuildable, Unsupported
from .parse import parse

PROTOCOL = 1

PARSING_DEPTH = 40_000
"""Python's recursion limit while a case is read and built. Calls run with the usual limit, which is part of what they
are observed under."""


def main(target: str) -> None:
    """Serves the target until stdin ends."""
    replies = _take_stdout()
    environment.prepare()
    environment.require(target)
    from .run import Runner  # Imports jax, which reads the environment.

    runner = Runner(target)
    lines = iter(sys.stdin.buffer)

    def answers() -> bool:
        for line in lines:
            if line.strip():
                replies.write(json.dumps(_answer(runner, line)).encode() + b"\n")
                replies.flush()
            if runner.is_worn_out:
                return True
        return False

    # This thread only waits, which nothing but the end of the process interrupts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    runner.in_threads(answers)
    # Old versions of jaxlib crash now and then while Python takes the process apart, which would look like a finding.
    os._exit(0)


def _take_stdout() -> BinaryIO:
    """A private copy of stdout; the public one becomes stderr."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return private


def _answer(runner: Any, line: bytes) -> dict[str, Any]:
    usual = sys.getrecursionlimit()
    number = None
    try:
        sys.setrecursionlimit(PARSING_DEPTH)
        message = parse(line)
        if not isinstance(message, dict):
            raise Malformed("a message is a JSON object")
        number = message.get("id")
        if "hello" in message:
            return {"hello": _hello(runner, message["hello"])}
        if "case" not in message:
            raise Malformed("a message has `hello` or `case`")
        return {"id": number, **runner.run(message["case"], usual, line)}
    except Unsupported as error:
        return {"id": number, "unsupported": str(error)}
    except Unbuildable as error:
        return {"id": number, "unbuildable": error.report}
    except (Malformed, json.JSONDecodeError, UnicodeDecodeError) as error:
        return {"id": number, "failed": str(error)}
    except Exception:
        return {"id": number, "failed": traceback.format_exc()}
    finally:
        sys.setrecursionlimit(usual)


def _hello(runner: Any, hello: dict[str, Any]) -> dict[str, Any]:
    asked = hello.get("protocol")
    if asked != PROTOCOL:
        raise Malformed(f"this is protocol {PROTOCOL}, and protocol {asked!r} was asked for")
    return {"protocol": PROTOCOL, **runner.introduce()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m jitkey.serve TARGET")
    main(sys.argv[1])
