"""A screen of records over the main screen: back and `q` close it."""

from __future__ import annotations

from tradetui.ui.table.table_screen import TableScreen


class ClosableScreen(TableScreen):
    """`where` is its name in the registry of keys and among the screens."""

    @property
    def screen_name(self) -> str:
        """None of the panels of the main screen."""
        return self.where

    async def action_back(self) -> None:
        """Clear the filter, then leave."""
        if not await self.drop_filter():
            self.dismiss()

    def action_leave(self) -> None:
        """`q` closes what is in front."""
        self.dismiss()
