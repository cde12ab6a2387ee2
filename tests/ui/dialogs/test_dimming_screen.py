"""Behind a dialog the screen goes on, in Textual's dimmed colours, and is painted once a second."""

from __future__ import annotations

import asyncio

import pytest
from textual.screen import Screen

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.ui.dialogs.deliberate_dialog import DimmingScreen

pytestmark = pytest.mark.looptime


def drawn(stage: AppOnFewRows) -> list[list[tuple[str, object]]]:
    """The frame's texts and styles."""
    dialog = stage.app.screen
    dialog.refresh()
    dialog._compositor.render_update(full=True, screen_stack=stage.app._background_screens)
    strips = dialog._compositor.render_strips()
    return [[(segment.text, segment.style) for segment in strip.simplify()] for strip in strips]


@pytest.mark.parametrize("theme", ["tradetui-dark", "tradetui-light"])
async def test_it_is_dimmed_as_textual_dims_it(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows(theme=theme)
    async with stage.running((80, 24)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(stage.app.screen, DimmingScreen)
        ours = drawn(stage)
        assert "SANDBOX" in "".join(text for line in ours for text, _ in line)
        monkeypatch.setattr(DimmingScreen, "render", Screen.render)
        assert ours == drawn(stage)


async def test_it_is_painted_once_a_second_and_at_once_when_the_dialog_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running(after=3) as pilot:
        main, painted = stage.app.main, 0
        paint = main.paint

        def counted() -> None:
            nonlocal painted
            painted += 1
            paint()

        monkeypatch.setattr(main, "paint", counted)
        await asyncio.sleep(5)
        alone, painted = painted, 0
        await pilot.press("question_mark")
        painted = 0
        await asyncio.sleep(5)
        assert 4 <= painted <= 6 < alone
        await asyncio.sleep(0.5)
        shown = {name for name, panel in main.panels.items() if panel.display}
        assert main._area.unpainted & shown, "rows came that wait for the next second"
        await pilot.press("escape")
        assert not main._area.unpainted & shown
