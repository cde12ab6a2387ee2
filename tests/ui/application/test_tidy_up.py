"""What starting leaves is cleared away once; from then on garbage is looked for more often than by default."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tradetui.ui.application.textual_app import _tidy_up


@pytest.fixture
def thresholds() -> Iterator[None]:
    """Those of before hold again afterwards."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
def test_garbage_lies_for_a_shorter_time_once_the_program_runs() -> None:
    gc.set_threshold(700, 10, 10)
    _tidy_up()
    assert gc.isenabled()
    young, *older = gc.get_threshold()
    assert young * older[0] <= 700 * 10 / 3
