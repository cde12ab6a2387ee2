"""Strips that Textual keeps of a table and its frame: one of each line, and one of all lines inside a border."""

from __future__ import annotations

import pytest
from textual.filter import ANSIToTruecolor

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.terminal.drawn_once import TrueColours


@pytest.mark.looptime
async def test_lines_in_true_colours_are_what_their_translation_would_be() -> None:
    stage = AppOnFewRows()
    async with stage.running(size=(200, 60)) as pilot:
        for theme in THEMES:
            stage.app.theme = theme.name
            await pilot.pause()
            widgets = list(stage.app.screen.query(TrueColours).filter(".panel, RecordTable"))
            assert len(widgets) > 5
            filters = stage.app.get_line_filters()
            for widget in widgets:
                assert not any(isinstance(line_filter, ANSIToTruecolor) for line_filter in widget.get_line_filters())
                for strip in widget.render_lines(widget.outer_size.region):
                    for line_filter in filters:
                        assert strip.apply_filter(line_filter, widget.background_colors[1]) == strip


@pytest.mark.looptime
async def test_all_lines_inside_a_border_are_one_strip() -> None:
    stage = AppOnFewRows()
    async with stage.running():
        panel = stage.app.main.panel
        top, *inside, bottom = panel.render_lines(panel.outer_size.region)
        assert len(inside) > 3
        assert len({id(line) for line in inside}) == 1
        assert len({top.text, inside[0].text, bottom.text}) == 3
