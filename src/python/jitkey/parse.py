"""JSON, however deep.

The usual decoder is written in C, and where Python guards the C stack apart (3.12), it refuses what nests deeper than
some hundred levels. A case may nest deeper on purpose; it is read again by the decoder in Python.
"""

from __future__ import annotations

import json
import json.decoder
import json.scanner
from typing import Any


class _DeepDecoder(json.JSONDecoder):
    """The decoder of the standard library, all of it in Python."""

    def __init__(self) -> None:
        super().__init__()
        decoder: Any = json.decoder
        scanner: Any = json.scanner
        self.parse_object = decoder.JSONObject
        self.parse_array = decoder.JSONArray
        self.scan_once = scanner.py_make_scanner(self)


def parse(line: bytes) -> Any:
    """The value that the line says."""
    try:
        return json.loads(line)
    except RecursionError:
        return _DeepDecoder().decode(line.decode())
