"""The keys issued to this account: hidden at first, copied without being shown, made profiles in one step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import ClassVar

from pydantic import SecretStr
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static

from tradetui.desk.creation import AccountKeys, CreationKind, KeyStoreUnusable, Secrets, StoredKey
from tradetui.desk.tables.cells.cell_format import UNKNOWN
from tradetui.desk.tables.time_format import dated_text
from tradetui.desk.tables.time_zones import zone_label
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import DimmingScreen, TextDialog
from tradetui.ui.intents.creation.titles import BREAKPOINTS
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import notify, sanitized
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text import scrub

COVERED = "•" * 12
_LABEL_WIDTH = 14
_HINTS = "v shows · a copies the API key · s the secret · x the passphrase"
_LABELS = {"api_key": "API key", "secret": "secret", "passphrase": "passphrase"}
"""The parts of an issued key, by the attributes of `Secrets`."""


class IssuedKeysDialog(DimmingScreen[None]):
    """A screen with a list of keys, whose bindings work with any focus: `action_issued` runs them there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "issued('reveal')", "Show"),
        Binding("a", "issued('copy(\"api_key\")')", "Copy the API key"),
        Binding("s", "issued('copy(\"secret\")')", "Copy the secret"),
        Binding("x", "issued('copy(\"passphrase\")')", "Copy the passphrase"),
        Binding("m", "issued('make_profile')", "Make it a profile"),
        Binding("j", "issued('cursor(1)')", "Down"),
        Binding("k", "issued('cursor(-1)')", "Up"),
    ]

    async def action_issued(self, action: str) -> None:
        for keys in self.query(IssuedKeys):
            await keys.run_action(action)


class IssuedKeys(Vertical):
    """A list of keys and the one under the cursor; a shown key is hidden again when the cursor moves on."""

    _key_list = getters.query_one(OptionList)
    _card = getters.query_one("#card", Static)

    def __init__(self, keys: AccountKeys, entries: Sequence[StoredKey]) -> None:
        super().__init__()
        self._keys = keys
        self._entries = entries
        self._shown: Secrets | None = None

    def compose(self) -> ComposeResult:
        yield OptionList(*(sanitized(self._summary(entry)) for entry in self._entries), markup=False)
        yield Static("", id="card", markup=False)
        profile_hint = " · m makes it a profile" if self._keys.makes_profiles else ""
        yield Static(sanitized(_HINTS + profile_hint), classes="keys", markup=False)

    def on_mount(self) -> None:
        self._key_list.highlighted = 0 if self._entries else None
        self._draw()

    @property
    def entry(self) -> StoredKey | None:
        index = self._key_list.highlighted
        return self._entries[index] if index is not None and index < len(self._entries) else None

    @staticmethod
    def _summary(entry: StoredKey) -> str:
        state = "" if entry.complete else "  INCOMPLETE" if entry.issued else "  requested, never received"
        if entry.unreadable:
            state = "  CANNOT BE READ"
        return f"{entry.name:<32} {entry.uid or UNKNOWN:<12} {entry.label}{state}"

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        self._shown = None
        self._draw()

    def _draw(self) -> None:
        entry = self.entry
        if entry is None:
            return
        if entry.unreadable:
            self._card.update(sanitized(f"{entry.unreadable}\nIt may hold keys: do not delete it."))
            return
        created = UNKNOWN
        if entry.at_ms:
            desk = trading_app(self).desk
            zone = UTC if desk is None else desk.zone
            created = f"{dated_text(utc_moment(entry.at_ms).astimezone(zone), None)} {zone_label(zone)}"
        kind = "copy-trading key" if entry.kind == CreationKind.COPY_KEY else "virtual sub-account"
        lines = [self._line("for", f"{entry.title} ({kind}), {created}")]
        lines += [self._line(label, self._value(entry, name), "bold") for name, label in _LABELS.items()]
        lines.append(self._line("permissions", ", ".join(entry.permissions) or UNKNOWN))
        lines.append(self._line("addresses", ", ".join(entry.addresses) or "none given"))
        lines.append(self._line("kept in", entry.location))
        self._card.update(Content("\n").join(lines))

    def _value(self, entry: StoredKey, name: str) -> str:
        if self._shown is None:
            return COVERED if name in entry.has else UNKNOWN
        value: SecretStr | None = getattr(self._shown, name)
        return UNKNOWN if value is None else value.get_secret_value()

    @staticmethod
    def _line(label: str, text: str, style: str = "") -> Content:
        return Content.assemble((f"{label:<{_LABEL_WIDTH}}", "$quiet"), (scrub(text), style))

    def action_cursor(self, by: int) -> None:
        self._key_list.highlighted = max(0, min((self._key_list.highlighted or 0) + by, len(self._entries) - 1))

    async def _secrets(self) -> Secrets | None:
        entry = self.entry
        if entry is None:
            return None
        try:
            return await self._keys.secrets(entry.name)
        except KeyStoreUnusable as problem:
            notify(self.app, str(problem), severity="error", seconds=10)
            return None

    async def action_reveal(self) -> None:
        entry = self.entry
        secrets = None if self._shown is not None else await self._secrets()
        # The cursor may have gone on to another key while the store was read.
        self._shown = secrets if self.entry is entry else None
        self._draw()

    async def action_copy(self, name: str) -> None:
        """Copy one of the three texts to the clipboard, without showing it."""
        entry, secrets = self.entry, await self._secrets()
        if entry is None or secrets is None:
            return
        label = _LABELS[name]
        value: SecretStr | None = getattr(secrets, name)
        if value is None:
            notify(self.app, f"There is no {label} of {entry.name}.", severity="warning")
            return
        self.app.copy_to_clipboard(value.get_secret_value())
        notify(self.app, f"Copied the {label} of {entry.name}; the clipboard holds it now.")

    def action_make_profile(self) -> None:
        entry = self.entry
        if entry is None or not self._keys.makes_profiles:
            return

        async def write(name: str) -> str:
            file = await self._keys.make_profile(name, entry)
            key = trading_app(self).key_named(Action.PROFILE)
            return f"Wrote {file}. It only reads; {key} opens it, or: tradetui --profile {name}"

        self.app.push_screen(TextDialog("Make it a profile", "The profile's name:", entry.name, write))


class IssuedKeysScreen(IssuedKeysDialog):
    """The list of issued keys; it opens empty, and the keys are read meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "Close")]
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, keys: AccountKeys) -> None:
        super().__init__(classes="dialog -creating")
        self._keys = keys

    def compose(self) -> ComposeResult:
        with self.framed("API keys you created", "Esc closes"):
            yield Static(sanitized("reading …"), id="message", markup=False)

    async def on_mount(self) -> None:
        message_line = self.query_one("#message", Static)
        try:
            entries = await self._keys.entries()
        except KeyStoreUnusable as problem:
            message_line.update(sanitized(problem))
            return
        if not entries:
            message_line.update(sanitized("tradetui has not created an API key for this account yet."))
            return
        message_line.display = False
        await self.query_one(Vertical).mount(IssuedKeys(self._keys, entries))
        self.query_one(OptionList).focus()
