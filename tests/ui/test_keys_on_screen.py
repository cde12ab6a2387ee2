"""Every key of the main screen does what its line in the help says."""

from __future__ import annotations

import pytest

from tests.ui.virtual import Stage

pytestmark = pytest.mark.looptime


async def test_starts_on_the_positions() -> None:
    stage = Stage()
    async with stage.running():
        assert stage.app.main.focused_panel == "positions"
        assert stage.app.main.table.shown > 0
