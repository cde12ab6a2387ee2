"""Injects a failure at one await of the program, found in its syntax tree; the modules stay the objects they are."""

from __future__ import annotations

import ast
import asyncio
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

POINT = "__await_point__"


class Kind(StrEnum):
    """What happens in the place of an await."""

    ERROR_BEFORE = "an exception before it"
    ERROR_AFTER = "an exception after it"
    CANCELLED = "a cancellation"
    STALL = "it never returns"


class Injected(Exception):
    """Nothing the program knows of."""


@dataclass(frozen=True, slots=True, order=True)
class AwaitPoint:
    """One await in the source."""

    module: str
    function: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column} {self.function}"


class Injector:
    """Which awaits were reached, and what is to happen at one of them, once, from when it is armed."""

    def __init__(self) -> None:
        self.points: list[AwaitPoint] = []
        self.reached: set[AwaitPoint] = set()
        self.armed = False
        self._aims: list[tuple[AwaitPoint, Kind]] = []

    def aim(self, *aims: tuple[AwaitPoint, Kind]) -> None:
        """Let these happen, each once, one after the other."""
        self.armed, self.reached, self._aims = False, set(), list(aims)

    async def at(self, number: int, awaitable: Any) -> Any:
        """Stand in the place of one await."""
        point = self.points[number]
        if self.armed:
            self.reached.add(point)
        if not self.armed or not self._aims or point != self._aims[0][0]:
            return await awaitable
        _, kind = self._aims.pop(0)
        if kind is Kind.ERROR_AFTER:
            await awaitable
            raise Injected(str(point))
        if asyncio.iscoroutine(awaitable):
            awaitable.close()
        if kind is Kind.CANCELLED:
            raise asyncio.CancelledError
        if kind is Kind.STALL:
            await asyncio.Event().wait()
        raise Injected(str(point))


class _Points(ast.NodeTransformer):
    def __init__(self, module: str, injector: Injector) -> None:
        self._module = module
        self._injector = injector
        self._inside: list[str] = []

    def _enter(self, node: Any) -> Any:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()
        return node

    visit_ClassDef = visit_FunctionDef = visit_AsyncFunctionDef = _enter

    def visit_Await(self, node: ast.Await) -> ast.Await:
        self.generic_visit(node)
        number = len(self._injector.points)
        function = ".".join(self._inside)
        self._injector.points.append(AwaitPoint(self._module, function, node.lineno, node.col_offset))
        call = ast.Call(ast.Name(POINT, ast.Load()), [ast.Constant(number), node.value], [])
        return ast.copy_location(ast.Await(call), node)


@contextmanager
def injecting(*modules: ModuleType) -> Iterator[Injector]:
    """Every await of these modules, each given once, goes through the injector."""
    assert len({*modules}) == len(modules), "a module that is given twice would keep the injector for ever"
    injector = Injector()
    before: list[tuple[FunctionType, CodeType]] = []
    try:
        for module in modules:
            assert module.__file__ is not None
            source = Path(module.__file__).read_text(encoding="utf-8")
            tree = ast.fix_missing_locations(_Points(module.__name__, injector).visit(ast.parse(source)))
            codes = {code.co_qualname: code for code in _codes(compile(tree, module.__file__, "exec"))}
            module.__dict__[POINT] = injector.at
            for function in _functions(module):
                code = codes.get(function.__code__.co_qualname)
                if code is not None and code.co_freevars == function.__code__.co_freevars:
                    before.append((function, function.__code__))
                    function.__code__ = code
        yield injector
    finally:
        for function, code in before:
            function.__code__ = code
        for module in modules:
            module.__dict__.pop(POINT, None)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    holders: list[Any] = [module]
    holders += [
        member for member in vars(module).values() if inspect.isclass(member) and member.__module__ == module.__name__
    ]
    for holder in holders:
        for member in vars(holder).values():
            function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function
