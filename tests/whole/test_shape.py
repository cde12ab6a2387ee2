"""The shape of the house: what lies at the top, which arrows exist, and what a room loads."""

from __future__ import annotations

import ast
import importlib
import operator
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import tradetui.exchange
from tests.optional_packages import optional_command
from tradetui.ui import app_protocols

ROOT = Path(__file__).parents[2]
TOP = {"pyproject.toml", "README.md", "config.example.toml", "tradetui", "tests", "screenshots"}
MOST_ENTRIES = 14
FLAT_LISTS = {
    "tradetui/commands": "one file a command, as the command line lists them",
    "tradetui/desk": "its eleven rooms are the nouns of a session, each held apart by the import contracts",
}
"""Rooms that show more, and why no room inside them would hold one idea."""
MOST_LINES = 620
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers", "data", "info"}
EMPTY_BINDINGS = {"seen"}
EMPTY_PARTS = {"each", "found", "told", "said", "asked", "words", "place", "thing", "things", "stuff"}
EMPTY_PARTS |= {"given", "wanted", "got"}
"""Words that no name has in it either, the sentences that name tests set aside."""
OWN_WAYS = {"mkstemp", "NamedTemporaryFile", "fsync", "hardlink_to", "ThreadPoolExecutor"}
"""Of writing a file whole, and of a thread for the disk, which storage has."""
TERMS = {
    "price_place": "the interface's field pricePlace, the decimals of a price",
    "volume_place": "the interface's field volumePlace, the decimals of a size",
    "place_order": "an order is placed, in every trader's language",
}
"""Names with such a word, and why it says what the value is."""


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the list of tracked files is not known")
    return listed.stdout.splitlines()


class Syntax(NamedTuple):
    """The tree of a module, and all nodes of it."""

    tree: ast.Module
    nodes: Sequence[ast.AST]


def syntax_of(source: str) -> Syntax:
    tree = ast.parse(source)
    return Syntax(tree, list(ast.walk(tree)))


@pytest.fixture(scope="module")
def package() -> dict[Path, Syntax]:
    """The modules of the package by their files within it, parsed once for all rules."""
    folder = ROOT / "tradetui"
    return {
        file.relative_to(folder): syntax_of(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.py"))
    }


def by_name(package: Mapping[Path, Syntax]) -> dict[str, Syntax]:
    """The modules of the package by the names they are imported by."""
    return {module_of(ROOT / "tradetui" / file): syntax for file, syntax in package.items()}


def test_the_top_of_the_repository_holds_only_what_belongs_there() -> None:
    entries = {line.split("/", 1)[0] for line in tracked()}
    assert {name for name in entries if not name.startswith(".")} <= TOP


def test_no_room_shows_more_than_about_a_dozen_entries() -> None:
    package = ROOT / "tradetui"
    for folder in (path.parent for path in package.rglob("__init__.py")):
        name = folder.relative_to(ROOT).as_posix()
        modules = [file for file in folder.glob("*.py") if file.name != "__init__.py"]
        rooms = [room for room in folder.iterdir() if (room / "__init__.py").exists()]
        entries = len(modules) + len(rooms)
        assert (entries > MOST_ENTRIES) == (name in FLAT_LISTS), f"{name} shows {entries} entries: give it rooms"


def test_no_file_is_longer_than_one_reads_at_once() -> None:
    lengths = {
        name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in tracked() if name.endswith(".py")
    }
    long = [name for name, length in lengths.items() if name.startswith("tradetui/") and length > MOST_LINES]
    assert not long, "a file is about one subject: give what else is in it a file of its own"


@pytest.mark.parametrize("page", ["tradetui/README.md", ".github/CONTRIBUTING.md"])
def test_every_file_that_a_page_for_developers_names_is_there(page: str) -> None:
    named = set(re.findall(r"`([a-z_/]+\.py)`", (ROOT / page).read_text(encoding="utf-8")))
    paths = [f"/{file.relative_to(ROOT).as_posix()}" for file in ROOT.glob("t*/**/*.py")]
    assert named, "the page names files"
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in paths)] == []


def test_the_map_fits_three_screens_and_names_every_room() -> None:
    text = (ROOT / "tradetui" / "README.md").read_text(encoding="utf-8")
    assert sum(len(line) // 120 + 1 for line in text.splitlines()) <= 110, "lines at 120 columns"
    rooms = {file.parent.name for file in (ROOT / "tradetui").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE)) == rooms


def test_every_room_that_the_map_names_is_there() -> None:
    table = re.findall(r"^\| `([a-z]+)` \| (.*)$", (ROOT / "tradetui" / "README.md").read_text(encoding="utf-8"), re.M)
    named = [f"{room}/{inner}" for room, row in table for inner in re.findall(r"`([a-z_]+)/`", row)]
    assert named, "the map names rooms"
    assert [room for room in named if not (ROOT / "tradetui" / room / "__init__.py").exists()] == []


def test_no_name_says_nothing() -> None:
    parts = {part.removesuffix(".py") for line in tracked() if line.startswith("tradetui/") for part in line.split("/")}
    assert not parts & EMPTY_NAMES


def bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """The line and name of everything a module binds: variables, parameters, fields, functions, captures, ids.

    An import binds a name where it gives a new one; what it brings by its own name is bound where it is defined.
    """
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.keyword(arg="id", value=ast.Constant(value=str(name))):
                yield node.value.lineno, name.replace("-", "_")


def test_every_kind_of_binding_is_seen() -> None:
    source = """
import a1 as each
from a2 import a3 as found, a4
def told(said, *asked, words=0, **place): ...
thing: int = 0
with x as (stuff, b1): ...
for b2, (b3, *b4) in x: [b5 for b5 in x]
try: ...
except E as b6: ...
match x:
    case {"k": b7, **b8}: ...
    case [*b9] | b10: ...
(lambda b11: (b12 := b11)); self.b13 = 1; Static(id="b-16")
class b14:
    async def b15(self): ...
"""
    expected = (
        {"each", "found", "told", "said", "asked", "words", "place", "thing", "stuff"}
        | {f"b{number}" for number in range(1, 16)}
        | {"self", "b_16"}
    )
    assert {name for _, name in bindings(syntax_of(source).nodes)} == expected


@cache
def says_nothing(name: str) -> bool:
    """Whether a name says that one has a value, and not what it is."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    if snake in TERMS or snake.startswith("test_"):
        return False
    return snake in EMPTY_BINDINGS or not EMPTY_PARTS.isdisjoint(snake.split("_"))


def test_empty_names_are_recognised() -> None:
    empty = ("each", "_found", "TOLD", "told_from", "_last_asked", "given", "seen", "_live_words", "FoundRows")
    named = ("first_seen_s", "volume_place", "test_what_is_told", "teach", "untold", "placed_order")
    assert [name for name in (*empty, *named) if says_nothing(name)] == list(empty)


def test_no_binding_says_nothing(package: Mapping[Path, Syntax]) -> None:
    in_package = [
        f"tradetui/{file}:{line}: {name}"
        for file, syntax in package.items()
        for line, name in bindings(syntax.nodes)
        if says_nothing(name)
    ]
    in_tests = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for line, name in bindings(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        if says_nothing(name)
    ]
    assert not in_package + in_tests, "\n".join(in_package + in_tests)


def imports_of(nodes: Iterable[ast.AST], modules: Set[str]) -> set[str]:
    """The package's own modules that a module imports: anywhere, in functions and for the type checker too."""
    imported: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import(names=names):
                imported |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(base), names=names, level=0):
                # What is imported from a package may be a module of it.
                imported |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in names}
            case ast.ImportFrom():
                raise AssertionError("a relative import, which the whole package is without")
    return imported & modules


def circles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    components: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        path.append(module)
        for imported in sorted(graph[module]):
            if imported not in order:
                visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in path:
                lowest[module] = min(lowest[module], order[imported])
        if lowest[module] == order[module]:
            component = path[path.index(module) :]
            del path[path.index(module) :]
            if len(component) > 1:
                components.append(sorted(component))

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return components


def test_imports_are_seen_wherever_they_stand() -> None:
    source = """
import p.a, os
from p.b import name
from p import c, missing
if TYPE_CHECKING:
    from p.d import Name
def load():
    from p.e import name
    class Late:
        import p.f
"""
    assert imports_of(syntax_of(source).nodes, {"p", *(f"p.{letter}" for letter in "abcdefg")}) == {
        "p", "p.a", "p.b", "p.c", "p.d", "p.e", "p.f",
    }  # fmt: skip


def test_circles_are_recognised() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a", "f"}, "g": set()}
    assert sorted(circles(graph)) == [["a", "b", "c"], ["d", "e"]]
    assert circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []


def test_no_module_imports_itself_by_way_of_another(package: Mapping[Path, Syntax]) -> None:
    modules = by_name(package)
    graph = {module: imports_of(syntax.nodes, modules.keys()) for module, syntax in modules.items()}
    assert sum(map(len, graph.values())) > 1_000, "the imports are not seen"
    assert not circles(graph)


def test_the_screen_imports_late_in_one_module(package: Mapping[Path, Syntax]) -> None:
    late = {
        file.relative_to("ui").as_posix()
        for file, syntax in package.items()
        if file.parts[0] == "ui"
        for function in syntax.nodes
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Name) and node.id == "import_module")
    }
    assert late == {"app_protocols.py"}
    in_list = {name: late for name, late in vars(app_protocols).items() if isinstance(late, app_protocols.Late)}
    assert "MAIN_SCREEN" in in_list and all(callable(late.imported()) for late in in_list.values())


def test_no_wait_loses_a_cancellation(package: Mapping[Path, Syntax]) -> None:
    # Before Python 3.12 asyncio.wait_for returns, and forgets that it was cancelled, where both come in one moment.
    calls = [
        f"{file}:{node.lineno}"
        for file, syntax in package.items()
        for node in syntax.nodes
        if isinstance(node, ast.Attribute | ast.alias)
        and "wait_for" in (getattr(node, "attr", ""), getattr(node, "name", ""))
    ]
    assert not calls, "use asyncio.timeout: " + ", ".join(calls)


def is_own_way(node: ast.AST) -> bool:
    """Whether a module uses here, by itself, what storage has one way of."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in OWN_WAYS:
            return True
        case ast.Attribute(value=ast.Name(id="sqlite3"), attr="connect") | ast.Attribute(ast.Name("os"), "link"):
            return True
    return False


def test_own_ways_are_seen() -> None:
    source = "a.b().fsync\nNamedTemporaryFile\nsqlite3.connect\nos.link\nconnect\na.sqlite3.connect\nb.link"
    assert [node.lineno for node in ast.walk(ast.parse(source)) if is_own_way(node)] == [1, 2, 3, 4]  # type: ignore[attr-defined]


def test_only_storage_writes_files_whole_and_opens_databases(package: Mapping[Path, Syntax]) -> None:
    calls = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"  # type: ignore[attr-defined]
        for file, syntax in package.items()
        if file.parent.name != "storage"
        for node in syntax.nodes
        if is_own_way(node)
    ]
    assert not calls, "use tradetui/storage: " + ", ".join(calls)


ROWS_WAY = (
    "desk/archive",
    "desk/desk.py",
    *(
        f"desk/events/{name}.py"
        for name in ("alerts", "delivery", "detector", "rules", "sentences", "thresholds", "typed_rule")
    ),
    "desk/feeds",
    "desk/lookup/lookup.py",
    "desk/lookup/session_lookups.py",
    "desk/tables",
    "ui/main",
    "ui/app_protocols.py",
    "ui/records",
    "ui/table",
)
"""Where rows go by, from the reader to the cell: folders and files of tradetui/."""


def unnamed_types(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """The lines of a module that leave a type open: `Any`, or attributes that are looked up by any name."""
    for node in nodes:
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any") | ast.FunctionDef(name="__getattr__"):
                yield node.lineno


def test_rows_are_typed_from_the_reader_to_the_cell(package: Mapping[Path, Syntax]) -> None:
    ways = {way: [file for file in package if file == Path(way) or Path(way) in file.parents] for way in ROWS_WAY}
    assert all(ways.values()), "each is there"
    untyped = [
        f"{file}:{line}" for files in ways.values() for file in files for line in unnamed_types(package[file].nodes)
    ]
    assert not untyped, ", ".join(untyped)


def test_a_type_that_is_left_open_is_seen() -> None:
    source = "import typing as t\ndef f(row: list[Any]) -> t.Any: ...\nclass C:\n    def __getattr__(self, name): ..."
    assert sorted(unnamed_types(syntax_of(source).nodes)) == [2, 2, 4]


def test_no_lock_file_is_tracked() -> None:
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "package-lock.json"}
    assert not [line for line in tracked() if line.rsplit("/", 1)[-1] in locks]


def loaded_by(*modules: str) -> set[str]:
    imports = "; ".join(f"import {module}" for module in modules)
    code = f"import sys; {imports}; print(' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules_of(room: str) -> list[str]:
    return sorted(map(module_of, (ROOT / "tradetui" / room).rglob("*.py")))


@pytest.mark.parametrize("room", ["wire", "trading", "sandbox"])
def test_a_pure_room_loads_neither_network_nor_screen(room: str) -> None:
    assert not loaded_by(*modules_of(room)) & {"httpcore", "httpx", "textual", "rich"}


def test_wire_loads_nothing_but_pydantic() -> None:
    third_party = loaded_by(*modules_of("wire")) - set(sys.stdlib_module_names) - {"tradetui"}
    pydantic_and_what_it_needs = loaded_by("pydantic.main", "pydantic.types", "pydantic.alias_generators") | {
        "__mp_main__"
    }
    assert not {name for name in third_party if not name.startswith("_")} - pydantic_and_what_it_needs


def test_the_command_line_loads_nothing_heavy() -> None:
    assert not loaded_by("tradetui.cli") & {"pydantic", "httpcore", "httpx", "textual", "asyncio", "sqlite3", "ssl"}


def test_nothing_but_the_stores_room_loads_postgresqls_library() -> None:
    modules = {module_of(file) for file in (ROOT / "tradetui").rglob("*.py") if file.name != "__main__.py"}
    ours = sorted(name for name in modules if not name.startswith("tradetui.storage.postgres."))
    assert "psycopg" not in loaded_by(*ours)


def test_the_import_contracts_hold() -> None:
    lint = optional_command("lint-imports")
    done = subprocess.run([str(lint)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# Names that the package itself does not use, with the reason why each is there.
USED_FROM_OUTSIDE = {
    "_Scrubbing.writelines": "a stream has it, and what writes to standard error may call it",
    "Market.set_price": "tests move the embedded exchange's market",
}
# Textual calls these by their names.
CALLED_BY_NAME = ("action_", "on_", "watch_", "validate_", "compute_", "key_")


class PublicName(NamedTuple):
    """A function, class, method or constant that is not private, and where it is defined."""

    module: str
    qualified_name: str


def definitions(tree: ast.AST, module: str, within: tuple[str, ...] = ()) -> Iterator[PublicName]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_"):
                yield PublicName(module, ".".join((*within, node.name)))
            if isinstance(node, ast.ClassDef):
                yield from definitions(node, module, (*within, node.name))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not within:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (PublicName(module, target.id) for target in targets if isinstance(target, ast.Name))
        elif not isinstance(node, ast.expr):
            yield from definitions(node, module, within)


def uses(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names a module reads, and whether as an attribute; of what it imports late, the text `module:name` has it.

    A function that calls itself, or a method that hands on to what has its own name, is no use of either.
    """
    parents: list[tuple[ast.AST, frozenset[str], str]] = [(tree, frozenset(), "")]
    while parents:
        parent, within, method = parents.pop()
        for node in ast.iter_child_nodes(parent):
            inside, own_method = within, method
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = within | {node.name}
                own_method = node.name if isinstance(parent, ast.ClassDef) else method
            elif isinstance(node, ast.Attribute) and node.attr != method:
                yield node.attr, True
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in within:
                yield node.id, False
            elif isinstance(node, ast.Constant) and (late := re.fullmatch(r"[\w.]+:(\w+)", str(node.value))):
                yield late[1], False
            parents.append((node, inside, own_method))


def overrides_a_name_of_a_library(name: PublicName) -> bool:
    """Whether a base class from outside the package has a member of this name, and may call it."""
    *owners, member = name.qualified_name.split(".")
    kind = operator.attrgetter(".".join(owners))(importlib.import_module(name.module))
    return any(member in vars(base) for base in kind.__mro__ if not base.__module__.startswith("tradetui"))


def names_used_by_nothing(modules: Mapping[str, Syntax], surface: Collection[str]) -> set[PublicName]:
    """The public names of these modules that none of them uses, nor the library's surface holds."""
    used = {use for syntax in modules.values() for use in uses(syntax.tree)}
    unused: set[PublicName] = set()
    for module, syntax in modules.items():
        for name in definitions(syntax.tree, module):
            *owners, own_name = name.qualified_name.split(".")
            exported = (owners[0] if owners else own_name) in surface
            if not exported and (own_name, True) not in used and (owners or (own_name, False) not in used):
                unused.add(name)
    return unused


def test_every_public_name_is_used(package: Mapping[Path, Syntax]) -> None:
    unused = {
        name.qualified_name
        for name in names_used_by_nothing(by_name(package), tradetui.exchange.__all__)
        if not name.qualified_name.rpartition(".")[2].startswith(CALLED_BY_NAME)
        and not ("." in name.qualified_name and overrides_a_name_of_a_library(name))
    }
    assert unused - USED_FROM_OUTSIDE.keys() == set(), "used by tests alone, or by nothing: delete it"
    assert USED_FROM_OUTSIDE.keys() - unused == set(), "used by the package: take it off the list"


def test_a_name_that_nothing_uses_is_found() -> None:
    first = "def a(): a()\ndef b(): ...\nclass C:\n    def d(self): ...\n    def e(self): ...\n    def _f(self): ...\n"
    first += "class G:\n    def h(self): self.inner.h()\nI = J = 1"
    first += "\ndef k(): ..."
    second = "from first import b, C, G, I\nb(I)\nG()\nC().e\nLate('first:k')"
    modules = {"first": syntax_of(first), "second": syntax_of(second)}
    unused = names_used_by_nothing(modules, surface=())
    assert unused == {
        PublicName("first", "a"),
        PublicName("first", "C.d"),
        PublicName("first", "G.h"),
        PublicName("first", "J"),
    }
    assert names_used_by_nothing(modules, surface=("a", "C", "G", "J")) == set()


def attributes_never_read(modules: Mapping[str, Syntax]) -> dict[str, str]:
    """Private attributes that are assigned and read nowhere, and a module that assigns each."""
    attributes = [
        (module, node)
        for module, syntax in modules.items()
        for node in syntax.nodes
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__")
    ]
    read = {node.attr for _, node in attributes if not isinstance(node.ctx, ast.Store)}
    return {node.attr: module for module, node in attributes if node.attr not in read}


def test_no_attribute_is_written_that_nothing_reads(package: Mapping[Path, Syntax]) -> None:
    unread = attributes_never_read(by_name(package))
    assert unread == {"_value_": "tradetui.ui.key_bindings.actions"}  # enum reads it


def test_an_attribute_that_a_rename_left_behind_is_recognised() -> None:
    renamed = "class Rows:\n    def __init__(self):\n        self._index = None\n    def of(self): return self._index\n"
    left_behind = "class Loaded(Rows):\n    def add(self):\n        self._places = None\n"
    modules = {"rows": syntax_of(renamed), "loaded": syntax_of(left_behind)}
    assert attributes_never_read(modules) == {"_places": "loaded"}


# Public names that several modules define, with the reason why each is one meaning.
ONE_MEANING = {
    "LIVE_BUSINESS_TYPES": "the embedded exchange writes the live exchange's words apart from the client on purpose",
    "ZERO": "Decimal(0), in two rooms that may not see each other",
    "run": "what a command is started by: commands/NAME.py with run(arguments)",
    "TYPE_CHECKING": "the name type checkers know; importing it from typing would cost the start of every command",
}


def public_names(tree: ast.Module) -> Iterator[str]:
    """The functions, classes and constants a module defines; type variables are a matter of each module's own."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec"))):
                continue
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_no_public_name_has_two_meanings(package: Mapping[Path, Syntax]) -> None:
    modules_of_name: dict[str, list[str]] = {}
    for module, syntax in by_name(package).items():
        for name in sorted(set(public_names(syntax.tree))):
            if not name.startswith("_"):
                modules_of_name.setdefault(name, []).append(module)
    shared = {name: modules for name, modules in modules_of_name.items() if len(modules) > 1}
    assert {name: modules for name, modules in shared.items() if name not in ONE_MEANING} == {}
    assert ONE_MEANING.keys() - shared.keys() == set(), "a name of one module is taken off the list"
