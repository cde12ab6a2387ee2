"""Nothing that a command writes is obeyed by a terminal, whatever the exchange, the journal or the arguments hold."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tradetui
from tests.commands.hostile_commands import BROKER, MARK
from tests.ui.fixtures.hostile_text import HOSTILE
from tradetui.cli import build_parser
from tradetui.commands.process.console import Output
from tradetui.commands.process.output import JsonWriter, csv_writer
from tradetui.desk.tables.export import csv_cell
from tradetui.desk.tables.table import TABLES
from tradetui.wire.text import scrub

ROOT = Path(tradetui.__file__).parent
TEXT = "".join(HOSTILE)
"""Every hostile text in one, as an argument."""
FORMS: tuple[list[str], ...] = ([], ["--json"], ["--csv"])
SHOWS = [
    ["show", what, *form, *(["--sub-uid", "4200000001"] if what == "email" else [])]
    for what in TABLES
    for form in FORMS
]
COMMANDS = [
    *SHOWS,
    *(["show", "endpoints", *form] for form in FORMS),
    ["show", "fills", "--product-type", "USDT-FUTURES", "--csv", "--all", "--since", "5d"],
    *(["preview", "BTCUSDT", "--side", "buy", *form] for form in FORMS[:2]),
    *([command, *form] for command in ("doctor", "journal", "keys", "paths") for form in FORMS[:2]),
    *(["completions", shell] for shell in ("bash", "zsh", "fish")),
    ["completions", TEXT],
    ["config", "example"],
    ["config", TEXT],
    ["help"],
    ["help", TEXT],
    ["--config", f"/nonexistent/{TEXT}", "paths"],
    ["--log", f"/nonexistent/{TEXT}", "keys"],
    ["--help"],
    ["show", "fills", "--help"],
    ["--version"],
    [TEXT],
    ["keys", TEXT],
    ["show", TEXT],
    ["show", "fills", "--since", TEXT],
    ["show", "fills", "--limit", TEXT],
    ["show", "fills", "--symbol", TEXT],
    ["show", "fills", f"--{TEXT}"],
    ["watch", TEXT],
    ["watch", "--since", TEXT],
    *(["store", "status", *form] for form in FORMS[:2]),
    ["store", TEXT],
    ["store", "init", TEXT],
    ["preview", TEXT],
    ["preview", "BTCUSDT", "--size", TEXT],
    ["preview", "BTCUSDT", "--side", TEXT],
    ["--profile", TEXT, "doctor"],
    ["--config", f"/nonexistent/{TEXT}", "doctor"],
    ["--base-url", TEXT, "doctor"],
    ["--base-url", f"http://127.0.0.1:9/{TEXT}", "doctor"],
    ["--product-type", TEXT, "doctor"],
    ["--data-dir", f"/proc/{TEXT}", "journal"],
    ["--data-dir", f"/proc/{TEXT}", "doctor"],
    ["monitor", "--profile", TEXT],
    ["overview", "--profiles", TEXT],
    ["demo", "--profile", TEXT],
    ["demo", "--size", TEXT],
    ["demo", "--keys", TEXT, "--screenshot", "unwritten.svg"],
    ["demo", "--after", "0", "--screenshot", f"/nonexistent/{TEXT}"],
    ["sandbox", "--fault", TEXT],
    ["sandbox", "--host", TEXT],
    ["sandbox", "--port", TEXT],
    ["init", "--name", TEXT],
    ["init", "--base-url", TEXT],
    ["init", "--uid", TEXT, "--base-url", "https://x.example"],
    ["init", "--config", f"{{directory}}/{TEXT}/config.toml", "--base-url", "https://x.example"],
]


def obeyed(text: str) -> set[str]:
    """The characters of a text that a terminal would obey or hide, but for the ends of lines."""
    return {character for character in text if character not in "\r\n" and scrub(character) != character}


def run_commands(directory: Path, **streams: Any) -> subprocess.Popen[bytes]:
    """Start all commands with a NUL, which no system lets through as an argument, left out of them."""
    lines = [[word.replace("{directory}", str(directory)) for word in command] for command in COMMANDS]
    file = directory / "commands.json"
    file.write_text(json.dumps(lines), encoding="utf-8")
    program = [sys.executable, "-m", "tests.commands.hostile_commands", str(directory), str(file)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TRADETUI_")}
    return subprocess.Popen(program, cwd=ROOT.parent, env=environ, stdin=subprocess.DEVNULL, **streams)


def parts(text: str) -> list[str]:
    """What each command wrote."""
    mark = rf"\r?\n{MARK} (\d+): \S+\r?\n"
    # A terminal shows the mark of both streams.
    pieces = re.sub(rf"{mark}(?:\r?\n{MARK} \1: \S+\r?\n)?", "\0", text).split("\0")
    assert len(pieces) == len(COMMANDS) + 1 and pieces[-1] == "", pieces[-1]
    return pieces[:-1]


@pytest.fixture(scope="module")
def on_terminal(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a terminal gets of each command."""
    master, slave = os.openpty()
    process = run_commands(tmp_path_factory.mktemp("terminal"), stdout=slave, stderr=slave)
    os.close(slave)
    received = bytearray()
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end was closed
            break
        if not chunk:
            break
        received += chunk
    os.close(master)
    assert process.wait(60) == 0, received[-2000:].decode("utf-8", "replace")
    return parts(received.decode("utf-8"))


@pytest.fixture(scope="module")
def in_pipes(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Standard output and standard error of each command where neither is a terminal."""
    process = run_commands(tmp_path_factory.mktemp("pipes"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-2000:]
    return parts(out.decode("utf-8")), parts(err.decode("utf-8"))


def test_every_command_is_among_them() -> None:
    known = set(build_parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr,arg-type]
    assert {word for command in COMMANDS for word in command} >= known


def test_a_terminal_gets_nothing_that_it_obeys(on_terminal: list[str]) -> None:
    for command, text in zip(COMMANDS, on_terminal, strict=True):
        assert not obeyed(text), (command, obeyed(text))
        assert "internal error" not in text, (command, text)
        assert "Traceback" not in text, (command, text)


def test_the_hostile_texts_were_there(on_terminal: list[str]) -> None:
    shown = dict(zip(map(tuple, COMMANDS), on_terminal, strict=True))
    visible = ("aGFja2Vk", "evil.example", "wipe", "markup", "31m", "bidi", "app.quit", "bell", "width", "[/]")
    for what in TABLES:
        for form in FORMS:
            text = next(
                text for command, text in shown.items() if command[:2] == ("show", what) and {*form} < {*command}
            )
            assert any(word in text for word in visible), (what, form)
    for command in (("journal",), ("journal", "--json"), (TEXT,), ("show", "fills", "--since", TEXT)):
        assert "aGFja2Vk" in shown[command], command
    assert "\\u001b]52" in shown["journal", "--json"]


def test_json_has_escapes_everywhere_and_its_values_are_exact(in_pipes: tuple[list[str], list[str]]) -> None:
    values = ""
    for command, text in zip(COMMANDS, in_pipes[0], strict=True):
        if "--json" in command and text:
            assert not obeyed(text), command
            values += json.dumps(json.loads(text), ensure_ascii=False)
            for hostile in HOSTILE if command[0] == "journal" else ():
                assert hostile in json.loads(text)[0]["events"][0]["title"]
    assert "\x9b" in values and "‮" in values


def test_csv_in_a_pipe_is_exact(in_pipes: tuple[list[str], list[str]]) -> None:
    cells = {
        cell
        for command, text in zip(COMMANDS, in_pipes[0], strict=True)
        if "--csv" in command
        for row in csv.reader(io.StringIO(text, newline=""))
        for cell in row
    }
    for hostile in HOSTILE:
        assert any(hostile in cell for cell in cells), hostile


def test_text_and_messages_in_a_pipe_are_safe_too(in_pipes: tuple[list[str], list[str]]) -> None:
    for command, out, err in zip(COMMANDS, *in_pipes, strict=True):
        assert not obeyed(err), command
        assert "--csv" in command or not obeyed(out), command


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@given(st.lists(st.text(), min_size=1, max_size=3))
@example(["\x1b \\u001b"])
def test_any_text_is_safe_on_a_terminal_and_exact_elsewhere(values: list[str]) -> None:
    columns = [f"c{number}" for number in range(len(values))]
    row = dict(zip(columns, values, strict=True))
    for stream in (Terminal(), io.StringIO()):
        json_writer = JsonWriter(Output(stream))
        json_writer.write(row)
        json_writer.close()
        assert not obeyed(stream.getvalue())
        assert json.loads(stream.getvalue()) == [row]
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        writer = csv_writer(Output(stream), columns)
        writer.write(row)
        writer.close()
    assert not obeyed(terminal.getvalue())
    _, cells = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert cells == [csv_cell(value) for value in values]
    _, shown = csv.reader(io.StringIO(terminal.getvalue(), newline=""))
    unescaped = [json.loads('"' + cell.replace('"', '\\"') + '"') for cell in shown]
    assert unescaped == cells, "an escape on a terminal is told from the same text as it was received"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_an_encoding_that_lacks_a_character_gets_an_escape(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    output = Output(stream)
    output.line("Größe → 5")
    output.csv(["→", "\ud800"])
    output.json('{"a":"→\ud800"}')
    output.flush()
    written = stream.buffer.getvalue().decode(encoding)
    assert json.loads(written.splitlines()[-1]) == {"a": "→\ud800"}


WRITING = re.compile(
    r"print|input|getpass\.getpass|os\.write|argparse\.ArgumentParser|warnings\.warn|traceback\.print_\w+"
)
WRITING_TERMS = re.compile(r"\b(?:print|input|getpass|write|ArgumentParser|warn|print_\w+|sys)\b")
"""A module without any of them does nothing that is looked for."""
STREAM = re.compile(r"sys\.(__)?(stdout|stderr)(__)?")
OTHERS = {
    "commands/process/console.py": "the one writer",
    "commands/watch.py": "hands over what the one writer was given, to a reader that may be slow",
    "cli.py": "flushes, and lets a closed standard output go",
    "sandbox/server.py": "the server's first line, JSON in ASCII; the sandbox sees nothing of the commands",
    "desk/events/delivery.py": "the pipe to a program that alerts are handed to, in ASCII",
    "ui/application/run_app.py": "gives the terminal back as it was; what the screen says when it has gone, scrubbed",
}


def test_nothing_else_writes_to_standard_output_or_standard_error() -> None:
    for file in sorted(ROOT.rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        source = file.read_text(encoding="utf-8")
        if name in OTHERS or not WRITING_TERMS.search(source):
            continue
        for node in ast.walk(ast.parse(source)):
            calls = isinstance(node, ast.Call) and WRITING.fullmatch(ast.unparse(node.func))
            touches = isinstance(node, ast.Attribute) and STREAM.fullmatch(ast.unparse(node))
            imports = isinstance(node, ast.ImportFrom) and node.module in ("sys", "getpass")
            assert not (calls or touches or imports), f"{name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}"


def test_the_broker_reads_are_known() -> None:
    assert set(BROKER) <= set(TABLES)
