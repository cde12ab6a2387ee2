"""The only module through which commands write to stdout and stderr: control characters never reach a terminal.

It imports no large module, so that the first paint comes early.
"""

from __future__ import annotations

import sys

from tradetui.wire.text import counted, csv_row, escaped, scrub

TYPE_CHECKING = False  # as in `typing`, whose import would take a tenth of the time of --help
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TextIO

DONE = 0
REFUSED = 1  # by the exchange or the network
USAGE = 2  # or configuration
ATTENTION = 3
"""An unsettled intent, a failed doctor line, unreadable rows, or a symbol without fills needs attention."""
INTERRUPTED = 130


class Output:
    """A stream for text, JSON and CSV, all made safe for a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        self._encoding: str = getattr(stream, "encoding", None) or "utf-8"
        self.is_unicode = self._encoding.lower().replace("-", "").startswith("utf")

    def line(self, text: str) -> None:
        """Write a line for a person; every control, bidi and invisible character becomes U+FFFD."""
        self.layout(scrub(text) + "\n")

    def json(self, json_text: str) -> None:
        """Write JSON text with `\\u` escapes for characters that a terminal would obey or hide; values stay exact."""
        text = escaped(json_text)
        self.layout(text if self.is_unicode or text.isascii() else escaped(text, only_ascii=True))

    def json_line(self, value: object) -> None:
        from tradetui.wire.json_text import dump_json

        self.json(dump_json(value))
        self.layout("\n")

    def csv(self, cells: Iterable[str]) -> None:
        """Write a CSV row: exact in a file or a pipe, with visible `\\u` escapes on a terminal.

        On a terminal a backslash is doubled, to distinguish an escape from the same text in the value.
        """
        shown = (escaped(cell.replace("\\", "\\\\")) for cell in cells) if self.is_terminal else cells
        self.layout(csv_row(shown))

    def layout(self, text: str) -> None:
        """Write the program's own separators unchanged: brackets, commas, line breaks."""
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            # A lone surrogate, or a character missing in the encoding, is written as an escape.
            self._stream.write(text.encode(self._encoding, "backslashreplace").decode(self._encoding))

    def flush(self) -> None:
        """Flush the stream; raises OSError if it cannot be written."""
        self._stream.flush()


def stdout() -> Output:
    return Output(sys.stdout)


def say(text: str, stream: TextIO | None = None) -> None:
    """Write a message line by line to a stream, standard error by default; raises OSError."""
    output = Output(_unguarded(stream or sys.stderr))
    for line in text.splitlines() or [""]:
        output.line(line)
    output.flush()


def stderr_is_terminal() -> bool:
    return sys.stderr.isatty()


def show_progress(text: str, *, last: bool = False) -> None:
    """Replace the current line of standard error; the last one stays."""
    stream = _unguarded(sys.stderr)
    stream.write(f"\r{scrub(text)}" + ("\n" if last else " "))
    stream.flush()


class PageProgress:
    """Counts the pages read, and shows the count on standard error if that is a terminal."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._shows = stderr_is_terminal()
        self._pages = 0

    def page(self, detail: str = "") -> None:
        self._pages += 1
        self._show(detail)

    def end(self, detail: str = "") -> None:
        if self._pages:
            self._show(detail, last=True)

    def _show(self, detail: str, *, last: bool = False) -> None:
        if self._shows:
            show_progress(f"{self._subject}: {detail}{counted(self._pages, 'page')}", last=last)


def needs_terminal(environ: Mapping[str, str]) -> bool:
    """Return whether a screen has a terminal; print the remedy if not."""
    from tradetui.ui.terminal.drawn_once import blocking_reason

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("tradetui needs a terminal. For a picture without one: tradetui demo --screenshot FILE")
        return False
    reason = blocking_reason(environ)
    if reason is not None:
        say(reason)
    return reason is None


def ask(question: str, proposed: str = "") -> str:
    """Ask for a line on standard error; return the answer, or the proposed one if it is empty."""
    output = Output(_unguarded(sys.stderr))
    output.layout(f"{scrub(question)}{f' [{scrub(proposed)}]' if proposed else ''}: ")
    output.flush()
    return sys.stdin.readline().strip() or proposed


def ask_hidden(question: str) -> str:
    """Ask for a secret without echo; empty at the end of input."""
    import getpass

    try:
        return getpass.getpass(f"{scrub(question)}: ").strip()
    except EOFError:
        return ""


class GuardedStderr:
    """Standard error while a command runs; the output of libraries and the interpreter is made safe as well."""

    def __enter__(self) -> None:
        self._before = sys.stderr
        if self._before is not None:
            sys.stderr = _Scrubbing(self._before)

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._before


class _Scrubbing:
    """A stream that scrubs each line and otherwise behaves like the underlying one."""

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        self.unguarded.write("\n".join(map(scrub, text.split("\n"))))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


def _unguarded(stream: TextIO) -> TextIO:
    return stream.unguarded if isinstance(stream, _Scrubbing) else stream
