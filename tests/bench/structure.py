"""How large the program is, how finely it is cut, how much runs for one action, and what stands in it more than once.

It prints the figures of this checkout, beside those of another one where its directory is given:

    python -m tests.bench.structure [OTHER_CHECKOUT]

Nothing is timed, so the figures are the same on every machine. They have no gate: a number is no reason to rewrite.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENTRIES_IGNORED = {"__init__.py", "__pycache__"}
NO_CODE = {
    tokenize.ENCODING,
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
KEY_COMMANDS = {"doctor": ["doctor"], "journal": ["journal"], "show pnl --fresh": ["show", "pnl", "--fresh"]}
ACCOUNT = "copy-old"
RECORD_BASES = {"NamedTuple", "TypedDict"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(file: Path) -> Counter[str]:
    """How many lines hold code and how many imports: neither is blank, a comment or a docstring."""
    lines: set[int] = set()
    imports: set[int] = set()
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            case ast.Import() | ast.ImportFrom():
                imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return Counter({"code": len(lines - imports), "imports": len(imports)})


def statements(function: Function) -> list[ast.stmt]:
    """The statements of a function's body without its docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def is_small_record(node: ast.ClassDef) -> bool:
    """Whether a class only names three values or fewer."""
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    is_dataclass = any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    has_methods = any(isinstance(part, Function) for part in node.body)
    return bool(bases & RECORD_BASES or is_dataclass) and not has_methods and 0 < len(fields) <= 3


def static_figures(checkout: Path) -> dict[str, str]:
    """Figures that the source alone shows."""
    files = sorted((checkout / "tradetui").rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    nodes = {file: list(ast.walk(tree)) for file, tree in trees.items()}
    every = [node for of_file in nodes.values() for node in of_file]
    classes = [node for node in every if isinstance(node, ast.ClassDef)]
    functions = [node for node in every if isinstance(node, Function)]
    names = Counter(node.id for node in every if isinstance(node, ast.Name))
    names.update(node.attr for node in every if isinstance(node, ast.Attribute))
    short = [function for function in functions if len(statements(function)) == 1]
    called_once = [
        function
        for function in functions
        if function.name.startswith("_")
        and not function.name.startswith("__")
        and len(statements(function)) <= 2
        and names[function.name] == 1
    ]
    records = [node for node in classes if is_small_record(node)]
    used_at_home = [node for node in records if _files_that_name(nodes, node.name) == 1]
    constructors = [function for function in functions if function.name == "__init__"]
    many = [function for function in constructors if len(function.args.args) + len(function.args.kwonlyargs) > 9]
    longest = max((function.end_lineno or 0) - function.lineno + 1 for function in functions)
    folders = [file.parent for file in files if file.name == "__init__.py"]
    entries = max(len([entry for entry in folder.iterdir() if _is_module(entry)]) for folder in folders)
    lines = sum((code_lines(file) for file in files), Counter[str]())
    return {
        "lines": f"{sum(file.read_text(encoding='utf-8').count(chr(10)) for file in files):,}",
        "lines of code": f"{lines['code']:,}",
        "lines of imports": f"{lines['imports']:,}",
        "files": f"{len(files)}",
        "classes": f"{len(classes)}",
        "functions": f"{len(functions):,}",
        "functions of one statement": f"{len(short) / len(functions):.0%}",
        "private functions of two statements at most, called once": f"{len(called_once)}",
        "records of three fields at most, used in one file": f"{len(used_at_home)}",
        "constructors with nine arguments or more": f"{len(many)}",
        "lines of the longest function": f"{longest}",
        "files of trading and desk that read trade_side": f"{_reading_trade_side(checkout)}",
        "classes of exchange that give permits": f"{_giving_permits(nodes)}",
        "uses of private names of Textual": f"{_private_textual_names(nodes)}",
        "entries of the largest folder": f"{entries}",
    }


def _files_that_name(nodes: Mapping[Path, list[ast.AST]], name: str) -> int:
    return sum(
        any(getattr(node, "id", getattr(node, "name", getattr(node, "attr", None))) == name for node in of_file)
        for of_file in nodes.values()
    )


def _is_module(entry: Path) -> bool:
    return entry.name not in ENTRIES_IGNORED and (entry.suffix == ".py" or (entry / "__init__.py").exists())


def _reading_trade_side(checkout: Path) -> int:
    rooms = [checkout / "tradetui" / room for room in ("trading", "desk")]
    sources = [file.read_text(encoding="utf-8") for room in rooms for file in room.rglob("*.py")]
    return sum(bool(re.search(r"\.trade_side\b|[\"']tradeSide[\"']", source)) for source in sources)


def _giving_permits(nodes: Mapping[Path, list[ast.AST]]) -> int:
    of_exchange = [node for file, of_file in nodes.items() if "exchange" in file.parts for node in of_file]
    return sum(
        isinstance(node, ast.ClassDef)
        and any(isinstance(part, ast.AsyncFunctionDef) and part.name == "acquire" for part in node.body)
        for node in of_exchange
    )


def _private_textual_names(nodes: Mapping[Path, list[ast.AST]]) -> int:
    """How many private names of Textual's classes the screen reads or replaces, each use counted."""
    import textual

    source = "\n".join(file.read_text(encoding="utf-8") for file in Path(textual.__file__).parent.rglob("*.py"))
    private = set(re.findall(r"(?:def |self\.)(_[a-z][a-z_]+)", source))
    uses = 0
    for file, of_file in nodes.items():
        if "ui" in file.parts:
            assigned = {
                node.attr for node in of_file if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            }
            defined = {node.name for node in of_file if isinstance(node, Function)} | assigned
            for node in of_file:
                if isinstance(node, ast.Attribute) and node.attr in private - defined:
                    uses += 1
    return uses


def walks() -> Iterator[tuple[str, str]]:
    """How many functions in how many files run for one action on the embedded exchange, which is not counted."""
    from tests.bench.virtual_loop import run

    yield from run(_reversal_walks()).items()
    yield from run(_poll_walk()).items()


async def _traced(work: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, str]:
    """The work's result, and the functions and files of ours that ran for it."""
    ran: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and "/tradetui/" in file and "/tradetui/sandbox/" not in file:
            ran.add((file, frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        result = await work()
    finally:
        sys.setprofile(None)
    return result, f"{len(ran)} in {len({file for file, _ in ran})} files"


async def _reversal_walks() -> dict[str, str]:
    from tests.whole.reversal.reversal_session import SYMBOL, USDT, scene
    from tradetui.desk.reversal.preview import Target
    from tradetui.wire.enums import Side

    async with scene() as on:
        on.hold(long="10", short="3")
        target = Target(SYMBOL, USDT, Side.BUY)
        await on.execution.preview(target)
        shown, preview = await _traced(lambda: on.execution.preview(target))
        _, confirm = await _traced(lambda: on.execution.confirm(shown, shown.subject))
    return {"functions from the key to the preview": preview, "functions from confirming to the reply": confirm}


async def _poll_walk() -> dict[str, str]:
    from tests.desk.fixtures.desk_simulation import Simulation

    with tempfile.TemporaryDirectory() as name:
        simulation = Simulation(3, data_dir=Path(name), jitter=False, fills=50)
        simulation.desk.start()
        await simulation.run(20)
        _, poll = await _traced(simulation.desk.fills.poll)
        await simulation.desk.stop()
    return {"functions of a poll of the fills": poll}


def key_calls() -> Iterator[tuple[str, str]]:
    """How often each command runs the profile's key command."""
    sandbox = [sys.executable, "-m", "tradetui", "sandbox", "--seed", "11"]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(sandbox, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            server = json.loads(process.stdout.readline())
            folder = Path(name)
            for command, arguments in KEY_COMMANDS.items():
                yield f"runs of the key command in {command}", f"{_key_calls_of(arguments, server, folder)}"
        finally:
            process.terminate()


def _key_calls_of(arguments: list[str], server: Mapping[str, Any], folder: Path) -> int:
    key = next(profile for profile in server["profiles"] if profile["name"] == ACCOUNT)
    calls, program, config = folder / "calls", folder / "key.sh", folder / "config.toml"
    calls.write_text("")
    printed = json.dumps({part: key[part] for part in ("api_key", "secret", "passphrase")})
    program.write_text(f"#!/bin/sh\necho run >> {calls}\necho '{printed}'\n")
    program.chmod(0o700)
    config.write_text(
        f'[profiles.main]\nbase_url = "{server["base_url"]}"\nproduct_types = ["USDT-FUTURES"]\n'
        f'[profiles.main.credentials]\nsource = "command"\ncommand = ["{program}"]\n'
    )
    rooms = {f"TRADETUI_{kind}_DIR": str(folder / kind) for kind in ("DATA", "RUNTIME", "STATE")}
    subprocess.run(
        [sys.executable, "-m", "tradetui", *arguments],
        env={**os.environ, **rooms, "TRADETUI_CONFIG": str(config)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return len(calls.read_text().splitlines())


def run_figures(checkout: Path) -> dict[str, str]:
    """Figures that running a checkout shows, in a process that imports that checkout."""
    finished = subprocess.run(
        [sys.executable, __file__, "--run"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    figures: dict[str, str] = json.loads(finished.stdout)
    return figures


def main() -> int:
    if sys.argv[1:] == ["--run"]:
        sys.path[0] = str(Path.cwd())  # this file's own folder would hide other modules
        print(json.dumps(dict([*walks(), *key_calls()])))
        return 0
    checkouts = [ROOT, *map(Path, sys.argv[1:])]
    figures = [{**static_figures(checkout), **run_figures(checkout)} for checkout in checkouts]
    width = max(map(len, figures[0]))
    for name in figures[0]:
        print(name.ljust(width), *(of_checkout[name].rjust(16) for of_checkout in figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
