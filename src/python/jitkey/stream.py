"""The file of a recording, which the program can take away: it may close all descriptors, and the disk may be full."""

from __future__ import annotations

import contextlib
import os
import pathlib
import threading

SIZE = 1 << 15
"""Once so many characters wait they are written."""


class Stream:
    """Text that goes to a file, for as long as that takes it. Raises `OSError` if there can be none."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = pathlib.Path(file)
        self.failure: str | None = None
        """Why not all could be written."""
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._identity = self._now()
        """What the descriptor is of, until the end."""
        self._waiting: list[str] = []
        self._size = 0
        # A signal's handler can write in the middle of a flush.
        self._lock = threading.RLock()

    def _now(self) -> tuple[int, int] | None:
        """What the descriptor is of now."""
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def write(self, text: str) -> None:
        """Takes the text, which waits until there is enough; after the end it is lost."""
        with self._lock:
            if self._identity is None or self.failure is not None:
                return
            self._waiting.append(text)
            self._size += len(text)
            if self._size >= SIZE:
                self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        with self._lock:
            waiting, self._waiting, self._size = self._waiting, [], 0
            data = "".join(waiting).encode()
            if not data or self._identity is None or self.failure is not None:
                return
            if self._now() != self._identity:
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
        with self._lock:
            self.flush()
            if self._identity is not None and self._now() == self._identity:
                with contextlib.suppress(OSError):
                    os.close(self._descriptor)
            self._identity = None

    def abandon(self) -> None:
        """In a child of the process: nothing is written, and nothing of what waits."""
        self._lock = threading.RLock()
        self._waiting, self._identity = [], None
