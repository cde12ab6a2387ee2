"""The log of `--log FILE`: rotated, readable by its owner alone, without secrets, queries and control characters."""

from __future__ import annotations

import logging
import os
import re
import stat
import sys
import time
import traceback
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, TextIO

from tradetui import __version__
from tradetui.commands.process.secrecy import redacted
from tradetui.profiles.errors import ConfigurationError
from tradetui.wire.text import scrub

MAX_BYTES: Final = 2 * 1024 * 1024
"""Size at which a file is renamed to FILE.1, and so on up to FILE.3."""
KEPT_FILES: Final = 3
_QUERY: Final = re.compile(r"\?\S+")


def start_log(file: Path) -> None:
    """Write every message of this package to the file from now on; raises ConfigurationError."""
    logger = logging.getLogger("tradetui")
    try:
        handler = _PrivateFile(file.expanduser())
    except OSError as problem:
        raise ConfigurationError(
            f"cannot be written: {problem.strerror}",
            location=str(file),
            key="--log",
            remedy="Name a file in a directory that you may write to.",
        ) from None
    handler.setFormatter(_Lines())
    for earlier in [handler for handler in logger.handlers if isinstance(handler, _PrivateFile)]:
        logger.removeHandler(earlier)
        earlier.close()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.info("tradetui %s starts on Python %s", __version__, sys.version.split()[0])


class _PrivateFile(RotatingFileHandler):
    """A rotated file of mode 0600 whose failures stay silent: they must not stop trading or write on the screen."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> TextIO:  # type: ignore[override]
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            try:
                os.fchmod(descriptor, 0o600)
            except OSError:
                os.close(descriptor)
                raise
        return open(descriptor, "a", encoding=self.encoding, errors=self.errors)

    def close(self) -> None:
        """Close the file; unwritten messages are lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop the message, because standard error belongs to the screen."""


class _Lines(logging.Formatter):
    """Formats time in UTC, level, module, message; an exception by type and frames, as its text may hold a secret."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        lines = record.getMessage().split("\n")
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            lines.append(f"{type(error).__name__}, through")
            lines += [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)]
        text = redacted("\n".join(lines))
        text = "\n  ".join(map(scrub, _QUERY.sub("?…", text).split("\n")))
        return f"{moment}.{int(record.msecs):03d}Z {record.levelname} {record.name}: {text}"
