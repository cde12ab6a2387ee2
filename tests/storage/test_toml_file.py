"""Whatever a TOML file holds: its values, or one error that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradetui.storage.toml_file import NotToml, parse_toml, read_toml


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a = " + b"{b = " * 100_000, "nested too deeply"),
        (b"a = " + b"[" * 60 + b"]" * 60, "nested too deeply"),
        (b".".join([b"a"] * 5_000) + b" = 1", "nested too deeply"),
        (b"a = " + b"9" * 5_000, "digits"),
        (b"a = 1\nb = \x00", "line 2"),
        (b"a = 1\nb = 'caf\xe9'", "line 2"),
        (b"a = " + b"'" + b"x" * (1 << 20) + b"'", "larger than 1 MiB"),
    ],
    ids=["arrays", "tables", "closed arrays", "dotted key", "number", "NUL", "Latin-1", "size"],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)
    with pytest.raises(NotToml, match=reason):
        read_toml(file)


def test_values_as_deep_as_anybody_writes_them_are_read() -> None:
    assert parse_toml("a = " + "[" * 40 + "]" * 40)["a"]
    assert parse_toml("[a.b]\r\nc = 1") == {"a": {"b": {"c": 1}}}
