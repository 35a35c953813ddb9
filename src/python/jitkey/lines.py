"""The lines of a recording as JSON."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

TEXTS = 4096
"""Words of which is known how JSON writes them, at most."""
_encode = json.JSONEncoder(allow_nan=False).encode


def line_text(line: dict[str, Any], written: tuple[str, int]) -> tuple[str | None, bool]:
    """A line, of whose entries so many are written already, and whether all of it could be written; None if nothing could."""
    try:
        parts = [f'"{name}": {json_text(part)}' for name, part in itertools.islice(line.items(), written[1], None)]
        return f"{written[0]}{', '.join(parts)}}}", True
    except (TypeError, ValueError, RecursionError) as error:
        said = {name: part for name, part in line.items() if name not in ("call", "aside")}
        try:
            return _encode({**said, "unrecorded": f"the call can't be written: {error}"}), False
        except (TypeError, ValueError, RecursionError):
            return None, False


def json_text(part: Any) -> str:
    """JSON of what stands in a line, in most of which there are few words, and often the same."""
    kind = type(part)
    return _string(part) if kind is str else repr(part) if kind is int or part == [] else _encode(part)


@functools.lru_cache(TEXTS)
def _string(text: str) -> str:
    return _encode(text)
