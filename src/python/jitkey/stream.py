"""The file of a recording, which the program can take away: it may close all descriptors, and the disk may be full."""

from __future__ import annotations

import os
import pathlib

SIZE = 1 << 13
"""Characters that wait to be written, at most."""


class Stream:
    """Text that goes to a file, for as long as that takes it. Raises `OSError` if there can be none."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = pathlib.Path(file)
        self.failure: str | None = None
        """Why nothing is written any more."""
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._waiting: list[str] = []
        self._size = 0
        self._identity = self._now()
        """What the descriptor is of, until the end."""

    def _now(self) -> tuple[int, int] | None:
        """What the descriptor is of now."""
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def write(self, text: str) -> None:
        """Takes the text, which waits until there is enough."""
        if self.failure is None:
            self._waiting.append(text)
            self._size += len(text)
            if self._size >= SIZE:
                self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        data = "".join(self._waiting).encode()
        self._waiting.clear()
        self._size = 0
        if not data or self.failure is not None:
            return
        if self._identity is None or self._now() != self._identity:
            # Another file can have its number now.
            self.failure = "the program closed it"
            return
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self.failure = error.strerror or str(error)

    def close(self) -> None:
        """Writes what waits, and nothing after that."""
        self.flush()
        if self._identity is not None and self._now() == self._identity:
            os.close(self._descriptor)
        self._identity = None

    def abandon(self, why: str) -> None:
        """Nothing is written from now on, and nothing of what waits."""
        self._waiting.clear()
        self.failure = self.failure or why
