"""Parses the command line and hands over to one file of `commands`; imports nothing heavy itself."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from tradetui.commands.process.console import DONE, INTERRUPTED, GuardedStderr
from tradetui.commands.process.flags import EVENT_KINDS, CommandParser, ShowVersion, global_flags_into, path_of
from tradetui.commands.process.secrecy import forbid_core_dumps

_MODULES = {None: "run_tui", "monitor": "run_tui", "show": "show.show"}
_OWN_PARSER = frozenset({"show"})
_REFUSED = {"demo": ("--config", "--base-url", "--proxy", "--data-dir")}
"""Flags of every command that a command refuses with a reason."""

_DESCRIPTION = "A terminal for futures traders. Without a command: an interactive session on the default profile."
_EPILOG = "Try it without an account: tradetui demo. Set up an account: tradetui init. Read the manual: tradetui help."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 done, 1 refused, 2 usage, 3 attention, 130 interrupted."""
    with GuardedStderr():
        return _run(list(sys.argv[1:] if argv is None else argv))


def _run(arguments: list[str]) -> int:
    if sys.stdout is None:
        # Closed by the shell (`>&-`): what the command prints fails then, as it should, and nothing else does.
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    _keep_out_modules()
    try:
        parser = build_parser(arguments)
        known, rest = parser.parse_known_args(arguments)
        while known.command == "watch" and rest and not rest[0].startswith("-"):
            known.kinds.append(_kind_after_flags(parser, rest.pop(0)))
        if rest and known.command not in _OWN_PARSER:
            parser.refuse_rest(known.command, rest)
        known.rest = rest
        forbid_core_dumps()
        # Importing makes tens of thousands of objects that all stay: looking through them for garbage is wasted.
        gc.disable()
        module = importlib.import_module(f"tradetui.commands.{_MODULES.get(known.command, known.command)}")
        gc.freeze()
        gc.enable()
        if known.log is not None:
            from tradetui.commands.process.log_file import start_log

            start_log(known.log)
        code: int = module.run(known)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return DONE
    except Exception as problem:
        from tradetui.commands.process.failures import report

        if isinstance(problem, OSError):
            _forget_output()
        return report(problem)


def _keep_out_modules() -> None:
    # What validates replies and keys is ours alone: a plugin that somebody else installed would see them. What looks
    # for one loads archives and mail with it, half a megabyte.
    sys.modules.setdefault("pydantic.plugin._loader", SimpleNamespace(get_plugins=tuple))  # type: ignore[arg-type]
    # httpx imports its own command line wherever click is there, as it is with uvicorn: 3 MiB that nothing here uses.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]


def _forget_output() -> None:
    """Let what is still unwritten go: its reader has gone or its disk is full, and Python would try once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _kind_after_flags(parser: CommandParser, text: str) -> str:
    """A kind of event that stands after a flag, which argparse leaves to its caller."""
    try:
        return _event_kind(text)
    except argparse.ArgumentTypeError as problem:
        parser.error(f"argument WHAT: {problem}")


def build_parser(arguments: Sequence[str] | None = None) -> CommandParser:
    """Return the parser of every command; `show` adds the interface's parameters by itself.

    With arguments, only the commands named among them get their options, and a command that comes first is the only
    one: making all takes half the time of --help, and a hundredth of the time to the first paint.
    """
    parser = CommandParser(prog="tradetui", description=_DESCRIPTION, epilog=_EPILOG)
    global_flags_into(parser)
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="versions of tradetui, Python and Textual")
    unset = dict.fromkeys(("config", "profile", "base_url", "product_type", "proxy", "data_dir", "log", "command"))
    parser.set_defaults(**unset, read_only=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    first = arguments[0] if arguments else ""
    for name, (summary, add_options) in _COMMANDS.items():
        if first in _COMMANDS and name != first:
            continue
        about = summary[:1].upper() + summary[1:] + "."
        has_own_parser = name in _OWN_PARSER
        command = commands.add_parser(name, help=summary, description=about, add_help=not has_own_parser)
        if not has_own_parser and (arguments is None or name in arguments):
            global_flags_into(command, refused=_REFUSED.get(name, ()))
            add_options(command)
    return parser


def _no_options(_: argparse.ArgumentParser) -> None:
    """A command that takes what every command takes."""


_JSON_HELP = "as JSON, for scripts"


def _json_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help=_JSON_HELP)


def _demo_options(demo: argparse.ArgumentParser) -> None:
    demo.add_argument(
        "--screenshot", type=path_of, metavar="FILE", help="run without a terminal; write SVG, or text for .txt"
    )
    demo.add_argument("--size", type=_size, default=(160, 48), metavar="WxH", help="columns and rows (default 160x48)")
    demo.add_argument("--after", type=_seconds, default=3.0, metavar="SECONDS", help="how long to run (default 3)")
    demo.add_argument("--keys", type=_keys, default=(), metavar="a,b,enter", help="keys to press, by Textual's names")
    demo.add_argument("--seed", type=int, default=7, help="the embedded exchange's seed (default 7)")
    demo.add_argument("--accounts", type=int, metavar="N", help="show an overview of N accounts, such as 8")
    demo.add_argument("--unified", action="store_true", help="open the unified account, which interface v3 reads")


def _overview_options(overview: argparse.ArgumentParser) -> None:
    overview.add_argument("--profiles", metavar="a,b", help="which profiles, with commas; all if left out")


def _sandbox_options(sandbox: argparse.ArgumentParser) -> None:
    sandbox.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    sandbox.add_argument("--port", type=_port, default=0, help="port to listen on (default 0: a free one)")
    sandbox.add_argument("--seed", type=int, default=7, help="accounts and market follow from it (default 7)")
    sandbox.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        metavar="X",
        help="how many times as fast as real time the market goes (default 1)",
    )
    sandbox.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="KIND=RATE,…",
        help="let a share of calls fail, such as 5xx=0.05; without a rate every call",
    )
    sandbox.add_argument("--no-limits", action="store_true", help="no rate limits")
    sandbox.add_argument("--core-only", action="store_true", help="only the thirteen endpoints")
    dialect = "speak as the interface document does, or with the live exchange's words"
    sandbox.add_argument("--dialect", choices=("documented", "live"), default="documented", help=dialect)
    one_way_size = "whether the size of a reversal counts in one-way mode"
    sandbox.add_argument("--one-way-size", choices=("honour", "ignore"), default="honour", help=one_way_size)


def _preview_options(preview: argparse.ArgumentParser) -> None:
    preview.add_argument("symbol", metavar="SYMBOL", help="the contract, such as BTCUSDT")
    preview.add_argument(
        "--side",
        type=str.lower,
        choices=("buy", "sell"),
        help="the side to reverse: buy for the LONG, sell for the SHORT; needed where both are held",
    )
    preview.add_argument("--size", help="amount to reverse; the whole position when not given")
    preview.add_argument("--json", action="store_true", help=_JSON_HELP)


def _store_options(store: argparse.ArgumentParser) -> None:
    store.add_argument(
        "what",
        choices=("init", "join", "leave", "status", "unlock", "remove"),
        metavar="ACTION",
        help="init, join, leave, status, unlock or remove; see tradetui help machines",
    )
    target = (
        "with init: the database, as in the setting store; the profile's if left out. "
        "With unlock: the person who has locked trading. With remove: PERSON@MACHINE"
    )
    store.add_argument("target", nargs="?", metavar="TARGET", help=target)
    store.add_argument("--json", action="store_true", help=f"with status: {_JSON_HELP}")


def _init_options(init: argparse.ArgumentParser) -> None:
    init.add_argument("--name", help="the profile's name, as --profile (default main)")
    init.add_argument("--default", action="store_true", help="the profile that plain tradetui opens from now on")
    init.add_argument("--uid", help="the account's user ID")
    init.add_argument("--trade", action="store_true", help='mode = "trade"; without it the profile can only read')


def _watch_options(watch: argparse.ArgumentParser) -> None:
    watch.add_argument(
        "kinds",
        nargs="*",
        type=_event_kind,
        metavar="WHAT",
        help=f"which of {', '.join(EVENT_KINDS)} to print; all if left out",
    )
    watch.add_argument("--json", action="store_true", help="a JSON object a line")
    since = "go on after this event; or from a time: yesterday, ISO 8601 in the profile's time zone, 1h ago, or ms"
    watch.add_argument("--since", metavar="EVENT_ID", help=f"{since} (default: now)")
    watch.epilog = _WATCH_EPILOG


def _config_options(config: argparse.ArgumentParser) -> None:
    config.add_argument("what", choices=("example",), help="what to print")


def _journal_options(journal: argparse.ArgumentParser) -> None:
    journal.add_argument("--json", action="store_true", help=_JSON_HELP)
    journal.add_argument(
        "--accept-loss",
        action="store_true",
        help="go on without the lost entries: nothing is deleted, and trading is locked until you unlock it",
    )


def _help_options(help_command: argparse.ArgumentParser) -> None:
    from tradetui.manual import PAGE_NAMES

    pages = f"which page: {', '.join(PAGE_NAMES)}; without one, the list of pages"
    help_command.add_argument("page", nargs="?", metavar="PAGE", help=pages)


def _completions_options(completions: argparse.ArgumentParser) -> None:
    completions.add_argument(
        "shell",
        choices=("bash", "zsh", "fish"),
        help="which shell; save what is printed where it looks for completions",
    )
    completions.set_defaults(build_parser=build_parser)


_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "demo": ("the whole program on its own embedded exchange: no account, no network, nothing kept", _demo_options),
    "overview": ("all your accounts on one screen, a row each", _overview_options),
    "monitor": ("the interactive session, read-only: nothing can be sent", _no_options),
    "sandbox": ("the embedded exchange as an HTTP server for any client", _sandbox_options),
    "show": ("read one kind of record once, for scripts", _no_options),
    "watch": (
        "print a line for each fill, order, trigger, alert and outcome as it comes, or since an earlier one",
        _watch_options,
    ),
    "preview": ("what a reversal would do, from live data; never sends", _preview_options),
    "init": ("set up a profile and its API key (files of mode 0600)", _init_options),
    "config": ("print the example configuration: every setting with its meaning", _config_options),
    "doctor": ("check configuration, clock, key, permissions, limits and terminal", _json_option),
    "journal": ("list what was sent, reversals and creations, with its outcome", _journal_options),
    "store": ("the PostgreSQL that several machines on one account share: set it up, see who is there", _store_options),
    "keys": ("every key and what it does, with the id to change it by", _json_option),
    "help": ("print a page of the manual, or the list of its pages", _help_options),
    "paths": ("where configuration, API keys, data, state and the shared rate limits lie", _json_option),
    "completions": ("print the completion script of a shell", _completions_options),
}
"""Each command with its summary and what adds its own options."""


_WATCH_EPILOG = """Example: tradetui watch fill trigger --json --since 17-5f0c2a9b-1763800000000. Every line has an
id; --since with the last id you have goes on after it, even after a kill: fills and triggers come once each, orders
with what has changed meanwhile, and "missed": true where a state between was not seen. A lost link is reported on
standard error and tried again. Ends with 0 on SIGINT, SIGTERM, and when its output is closed.
JSON: id, event, time (ms), sentence, productType; fill, trigger or order as the exchange sent it; of an order state
(new, changed, filled, gone), filled, missed; of an alert rules, channels; of an outcome intent, state, details."""


def _event_kind(text: str) -> str:
    if text.lower() not in EVENT_KINDS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(EVENT_KINDS)}")
    return text.lower()


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()) or not (20 <= int(width) <= 1000 and 5 <= int(height) <= 1000):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 160x48, from 20x5 to 1000x1000")
    return int(width), int(height)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    if not 0 <= (seconds := _number(text)) <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 86400")
    return seconds


def _speed(text: str) -> float:
    if not 0 < (speed := _number(text)) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and up to 1000")
    return speed


def _number(text: str) -> float:
    """The number that a text is; one that no option takes where it is none."""
    try:
        return float(text)
    except ValueError:
        return -1


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key for key in text.split(",") if key)
