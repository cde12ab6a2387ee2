"""Pages: how many rows one holds, and where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.number_parsing import whole_number


class Paging(NamedTuple):
    """Default and greatest page size; `capped` gives the greatest where more is asked.

    `first` is the idLessThan that stands for the first page.
    """

    default: int
    maximum: int
    capped: bool = False
    first: str | None = None


def page_size(paging: Paging, values: Mapping[str, str]) -> int:
    """How many rows a page holds; raises Refusal."""
    text = values.get("limit")
    if text is None:
        return paging.default
    size = whole_number(text)
    if not size:
        raise Refusal("40020", "Parameter limit error")
    if size > paging.maximum:
        if paging.capped:
            return paging.maximum
        raise Refusal("40058", f"The parameter limit exceeds the maximum value {paging.maximum}")
    return size


def page_before(paging: Paging, values: Mapping[str, str]) -> int | None:
    """The id that every row of the page is below, or None for the first page; raises Refusal.

    Ids grow with time, so that a row that has meanwhile left the book still marks its place.
    """
    text = values.get("idLessThan")
    if text is None or text == paging.first:
        return None
    before = whole_number(text)
    if before is None:
        raise Refusal("40020", "Parameter idLessThan error")
    return before
