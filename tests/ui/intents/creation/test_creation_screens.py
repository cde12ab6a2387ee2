"""Creating on the screen: nothing sent by accident, nothing shown before it is kept, and every end explained."""

from __future__ import annotations

import asyncio
import json
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList, Static

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.whole.creation.creation_accounts import BATCH, BROKER, COPY
from tradetui.desk.creation import FIELD_TITLES, AccountKeys, ProfileNotWritten
from tradetui.desk.creation.key_store import Secrets, StoredKey
from tradetui.desk.creation.kinds import CreationKind
from tradetui.desk.intents.states import State
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ChoiceDialog, ConfirmDialog, TextDialog
from tradetui.ui.intents.creation.creation_form import CreationForm, ResultDialog, ReviewDialog
from tradetui.ui.intents.creation.issued_keys_screen import COVERED, IssuedKeys, IssuedKeysScreen
from tradetui.ui.intents.journal_screen import ReleaseDialog

pytestmark = pytest.mark.looptime
PASSPHRASE = "CanaryPass1"
SIZE = (140, 50)
COPY_KEY = "Create the copy-trading key"
FIELDS = ("subAccountName", "passphrase", "label", "permList", "ipList")


def posts(stage: AppOnFewRows) -> int:
    return sum(count for (method, _), count in stage.sandbox.counts.items() if method == "POST")


def text_in_front(stage: AppOnFewRows) -> str:
    """What is in front, its line breaks and frames taken out."""
    region = max((child.region for child in stage.app.screen.children), key=lambda region: region.area)
    rows = screen_text(stage.app).splitlines()[region.y : region.bottom]
    return " ".join(re.sub(r"[│╭╮╰╯─▔▁]", " ", "\n".join(row[region.x : region.right] for row in rows)).split())


def key_store(data_dir: Path) -> list[Path]:
    """The files of every key kept there."""
    return sorted(data_dir.rglob("vault/*.toml"))


async def choose(stage: AppOnFewRows, pilot: Pilot[None], name: str) -> list[str]:
    """Open one of the choices by its key and its place; all that were offered."""
    await pilot.press("N")
    await asyncio.sleep(0.2)
    await pilot.pause()
    dialog = stage.app.screen
    assert isinstance(dialog, ChoiceDialog)
    offered = list(dialog._options)
    await pilot.press(*["down"] * offered.index(name), "enter")
    await asyncio.sleep(0.2)
    await pilot.pause()
    return offered


async def type_into(pilot: Pilot[None], *texts: str) -> None:
    """Type into one box after the other."""
    for row_index, text in enumerate(texts):
        await pilot.press(*(["tab"] if row_index else []), *text)


def fill_in(stage: AppOnFewRows, names: Sequence[str]) -> CreationForm:
    """Fill in the open form for these names."""
    form = stage.app.screen
    assert isinstance(form, CreationForm)
    for row, name in enumerate(names):
        values = (name, PASSPHRASE, f"note {name}", "read contract_trade", "10.0.0.1 2001:db8::1")
        for field, text in zip(FIELDS, values, strict=True):
            form.query_one(f"#box-{row}-{field}", Input).value = text
    return form


async def batch_form(stage: AppOnFewRows, pilot: Pilot[None], names: Sequence[str] = ("alphaone",)) -> None:
    """Open the form and fill it in for these names."""
    await choose(stage, pilot, "Create sub-accounts with API keys")
    fill_in(stage, names)
    await pilot.pause()


async def reviewed(stage: AppOnFewRows, pilot: Pilot[None]) -> ReviewDialog:
    """From the form to its review, armed."""
    await pilot.press("enter")
    await asyncio.sleep(1)
    await pilot.pause()
    review = stage.app.screen
    assert isinstance(review, ReviewDialog)
    return review


async def sent(stage: AppOnFewRows, pilot: Pilot[None], seconds: float = 3) -> ResultDialog:
    """From the review to what became of it."""
    await reviewed(stage, pilot)
    await pilot.press("tab", "enter")
    await asyncio.sleep(seconds)
    await pilot.pause()
    result = stage.app.screen
    assert isinstance(result, ResultDialog)
    return result


# Each of the three, from end to end


async def test_a_batch_is_reviewed_sent_once_kept_and_then_shown(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await choose(stage, pilot, "Create sub-accounts with API keys")
        await type_into(pilot, "alphaone", PASSPHRASE, "first", "read", "10.0.0.1", "betatwos", PASSPHRASE, "second")
        assert PASSPHRASE not in screen_text(stage.app)
        await reviewed(stage, pilot)
        assert posts(stage) == 0
        text = screen_text(stage.app)
        assert "SANDBOX · hedge · 4100000001" in text
        assert f"POST {BATCH}" in text
        assert PASSPHRASE not in text
        await pilot.press("tab", "enter", *["enter"] * 8)
        await asyncio.sleep(3)
        await pilot.pause()
        assert posts(stage) == 1
        assert isinstance(stage.app.screen, ResultDialog), "Enter pressed once too often closes nothing unread"
        text = screen_text(stage.app)
        for row in ("✓ alphaone", "✓ betatwos"):
            assert row in text
        assert COVERED in text
        made = [key for key in stage.sandbox.exchange_state.keys if key.passphrase == PASSPHRASE]
        assert len(made) == 2
        for key in made:
            assert key.secret not in text and key.api_key not in text
        kept = {file.stem: tomllib.loads(file.read_text()) for file in key_store(tmp_path)}
        assert {key["secret"] for key in kept.values()} == {key.secret for key in made}
        await pilot.press("v")
        await pilot.pause()
        assert made[0].secret in screen_text(stage.app)
        await pilot.press("j")
        await pilot.pause()
        assert made[0].secret not in screen_text(stage.app), "covered again once the cursor moves on"


async def test_the_review_is_what_is_sent_and_the_keys_advertised_after_it_work_whatever_has_the_focus(
    tmp_path: Path,
) -> None:
    made: list[tuple[str, str, bool]] = []

    def make(name: str, entry: StoredKey, secrets: Secrets, own_uid: str) -> str:
        if name == "betatwos":
            raise ProfileNotWritten("there is a profile 'betatwos' already. Choose another name.")
        made.append((name, entry.uid, secrets.secret is not None))
        return f"/profiles.d/{name}.toml"

    stage = AppOnFewRows(data_dir=tmp_path, make_profile=make)
    bodies: list[bytes] = []
    async with stage.running((160, 60)) as pilot:
        await batch_form(stage, pilot, ["alphaone", "betatwos"])
        review = await reviewed(stage, pilot)
        lines = str(review.query_one("#body", Static).content).split("\n")
        assert all(line.strip() in screen_text(stage.app) for line in lines[lines.index("[") :][:9])
        shown = json.loads("".join(lines[lines.index("[") : lines.index("]") + 1]))
        real = stage.sandbox.answer

        def watched(request: object, *rest: object) -> object:
            bodies.append(getattr(request, "body", b""))
            return real(request, *rest)  # type: ignore[arg-type]

        stage.sandbox.answer = watched  # type: ignore[method-assign, assignment]
        await pilot.press("tab", "enter")
        await asyncio.sleep(3)
        await pilot.pause()
        (body,) = [json.loads(body) for body in bodies if body.startswith(b"[")]
        assert {account["passphrase"] for account in body} == {PASSPHRASE}
        assert shown == [{**account, "passphrase": "***"} for account in body]

        result = stage.app.screen
        assert isinstance(result, ResultDialog)
        await pilot.press("tab")
        assert result.focused is result.query_one("#close", Button)
        assert "m makes it a profile" in text_in_front(stage)
        first, second = (key for key in stage.sandbox.exchange_state.keys if key.passphrase == PASSPHRASE)
        await pilot.press("v")
        await pilot.pause()
        assert first.secret in screen_text(stage.app)
        await pilot.press("j")
        for key, copied in (("a", second.api_key), ("s", second.secret), ("x", PASSPHRASE)):
            await pilot.press(key)
            await asyncio.sleep(0.1)
            assert stage.app.clipboard == copied, key

        await pilot.press("m")
        await pilot.pause()
        assert isinstance(stage.app.screen, TextDialog), "a profile in one step"
        await pilot.press("enter")
        await pilot.pause()
        assert "Choose another name" in text_in_front(stage)
        await pilot.press("end", "2", "enter")
        await asyncio.sleep(0.3)
        assert made == [("betatwos2", "4400010001", True)]
        assert "tradetui --profile betatwos2" in newest_message(stage)
        assert stage.app.screen_stack[-1] is result


async def test_a_broker_s_sub_account() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running(SIZE) as pilot:
        offered = await choose(stage, pilot, "Create a broker sub-account")
        assert COPY_KEY not in offered, "what the account cannot have is not offered"
        await type_into(pilot, "new@desk.example", "new desk")
        assert "a key once" not in text_in_front(stage)
        await sent(stage, pilot)
        assert stage.sandbox.counts["POST", BROKER] == posts(stage) == 1
        assert "✓ new@desk.example created: UID 42" in text_in_front(stage)
        assert not stage.app.screen.query(IssuedKeys), "no key was created"


async def test_the_copy_key() -> None:
    stage = AppOnFewRows("copy-new")
    async with stage.running(SIZE) as pilot:
        await choose(stage, pilot, COPY_KEY)
        await type_into(pilot, PASSPHRASE)
        assert "a key once" in text_in_front(stage)
        await sent(stage, pilot)
        assert stage.sandbox.counts["POST", COPY] == posts(stage) == 1
        assert "key kept as copy-trading" in text_in_front(stage)
        await pilot.press("s")
        await asyncio.sleep(0.1)
        secret = next(key.secret for key in stage.sandbox.exchange_state.keys if key.passphrase == PASSPHRASE)
        assert stage.app.clipboard == secret
        assert newest_message(stage) == "Copied the secret of copy-trading; the clipboard holds it now."
        await pilot.pause()
        assert secret not in screen_text(stage.app)
        for key, copied in (("a", "bg_"), ("x", PASSPHRASE)):
            await pilot.press(key)
            await asyncio.sleep(0.1)
            assert stage.app.clipboard.startswith(copied)


# The form


RULES = [
    ("subAccountName", "alpha", "8 English letters"),
    ("subAccountName", "alpha1ne", "8 English letters"),
    ("passphrase", "short", "8 to 32 characters"),
    ("passphrase", "with space 1", "8 to 32 characters"),
    ("label", "x" * 21, "Shorten it from 21 to 20"),
    ("permList", "read withdraw", "spot_trade, margin_trade, contract_trade, read"),
    ("ipList", "10.0.0.1 10.0.0.256", "Give addresses such as"),
    ("ipList", "10.0.0.0/24", "10.0.0.0/24 is a network: give single addresses."),
    ("ipList", "10.0.0.1 10.0.0.2 10.0.0.1", "10.0.0.1 is given twice"),
    ("ipList", " ".join(f"10.0.0.{number}" for number in range(31)), "Give at most 30"),
]


async def test_every_rule_is_told_as_one_types() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot)
        form = stage.app.screen
        for field, text, rule in RULES:
            box = form.query_one(f"#box-0-{field}", Input)
            right = box.value
            assert not form.query_one("#confirm", Button).disabled, field
            box.value = text
            await pilot.pause()
            problem = form.query_one("#problem-0", Static)
            if box.has_focus:
                assert not problem.display, "what is half typed is not called wrong"
                assert f"Fill in or correct: {FIELD_TITLES[field]}." in screen_text(stage.app)
                await pilot.press("enter")
                await pilot.pause()
            assert problem.display and rule in str(problem.content), (field, text)
            assert form.query_one("#confirm", Button).disabled
            await pilot.press("enter")
            await pilot.pause()
            assert stage.app.screen is form
            if field == "passphrase":
                assert text not in screen_text(stage.app)
            box.value = right
            await pilot.pause()
            assert not problem.display


async def test_letters_are_text_in_the_form_and_what_is_still_needed_is_said() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        offered = await choose(stage, pilot, "Create sub-accounts with API keys")
        assert COPY_KEY not in offered, "what the account cannot have is not offered"
        assert "Fill in a row: Review shows what would be sent." in text_in_front(stage)
        await pilot.press(*"qNRLoPTu")
        form = stage.app.screen
        assert isinstance(form, CreationForm)
        assert form.query_one("#box-0-subAccountName", Input).value == "qNRLoPTu"
        await pilot.press("tab", "down", "down", "up")
        assert form.focused is not None
        assert form.focused.id == "box-1-passphrase", "up and down stay in the column"

        fill_in(stage, ["alphaone"])
        await pilot.pause()
        assert PASSPHRASE not in screen_text(stage.app), "covered until one asks for it"
        await pilot.press("f2")
        await pilot.pause()
        assert PASSPHRASE in screen_text(stage.app)
        await pilot.press("f2")
        await pilot.pause()
        assert PASSPHRASE not in screen_text(stage.app)

        form.query_one("#box-1-subAccountName", Input).focus()
        await pilot.press(*"ALPHAONE")
        await pilot.pause()
        assert "still needed: passphrase, note" in text_in_front(stage)
        assert "Fill in or correct: Passphrase, Note." in text_in_front(stage)
        await type_into(pilot, "", PASSPHRASE, "another")
        await pilot.pause()
        assert "Name: each name once. Choose another." in text_in_front(stage)
        assert form.query_one("#confirm", Button).disabled


# Nothing by accident


async def test_enter_and_escape_go_back_cancel_leaves_the_form_and_keys_typed_ahead_send_nothing() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot)
        form = stage.app.screen
        for key in ("enter", "escape"):
            await reviewed(stage, pilot)
            await pilot.press(key)
            await pilot.pause()
            assert stage.app.screen is form, "with everything still typed"
            assert form.query_one("#box-0-subAccountName", Input).value == "alphaone"
        await pilot.press("escape")
        assert isinstance(stage.app.screen, ConfirmDialog), "what was typed is not lost by one key"
        await pilot.press("enter")
        assert stage.app.screen is form
        await pilot.press("escape", "tab", "enter")
        assert stage.app.screen is stage.app.main
        assert posts(stage) == 0

        await batch_form(stage, pilot)
        stage.app.screen.query_one("#cancel").focus()
        await asyncio.sleep(1)
        await pilot.press("enter")
        assert isinstance(stage.app.screen, ConfirmDialog)
        await asyncio.sleep(1)
        await pilot.press("tab", "enter")
        await asyncio.sleep(1)
        assert stage.app.screen_stack[-1] is stage.app.main
        assert posts(stage) == 0

        await batch_form(stage, pilot)
        await pilot.press("enter", "tab", "enter", "tab", "enter")
        await asyncio.sleep(3)
        assert posts(stage) == 0


async def test_while_it_is_sent_nothing_can_be_cancelled_or_sent_again(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot)
        await reviewed(stage, pilot)
        stage.sandbox.faults.plan("delay", endpoint="subaccounts.create_batch")
        await pilot.press("tab", "enter")
        review = stage.app.screen
        await pilot.press("escape", "enter", "tab", "enter")
        assert stage.app.screen is review
        await asyncio.sleep(5)
        await pilot.pause()
        assert isinstance(stage.app.screen, ResultDialog)
        assert posts(stage) == 1


async def test_locked_nothing_is_sent_and_what_was_typed_is_there_after_unlocking_in_the_review(
    tmp_path: Path,
) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        assert stage.desk.execution is not None
        intents = stage.desk.execution.intents
        for lock in ("L", "f9"):
            await pilot.press(lock)
            assert intents.locked, lock
            await batch_form(stage, pilot)
            form = stage.app.screen
            assert "Trading is locked. Enter shows the review; L unlocks it there." in text_in_front(stage)
            review = await reviewed(stage, pilot)
            assert "Trading is locked; L unlocks it." in text_in_front(stage)
            await pilot.press("tab", "enter")
            await asyncio.sleep(2)
            assert posts(stage) == 0
            assert stage.app.screen is form, "Enter pressed Back"

            review = await reviewed(stage, pilot)
            await pilot.press("L")
            assert isinstance(stage.app.screen, ConfirmDialog)
            await pilot.press("tab", "enter")
            await pilot.pause()
            assert stage.app.screen_stack[-1] is review
            assert not intents.locked
            assert "L unlocks it" not in text_in_front(stage)
            if lock == "L":
                await pilot.press("escape", "escape", "tab", "enter")
        intents.set_lock(True)  # while the review stands
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert "Trading is locked; L unlocks it." in text_in_front(stage)
        assert review.query_one("#confirm", Button).disabled
        await pilot.press("tab", "enter")
        await asyncio.sleep(2)
        assert posts(stage) == 0
        assert isinstance(stage.app.screen, CreationForm), "Enter pressed Back"

        assert form.query_one("#box-0-subAccountName", Input).value == "alphaone"
        intents.set_lock(False)
        await sent(stage, pilot)
        assert posts(stage) == 1


@pytest.mark.parametrize("how", ["monitor", "not an admin"])
async def test_without_leave_it_is_not_there_and_in_monitor_mode_its_key_says_why(how: str) -> None:
    stage = AppOnFewRows(read_only=how == "monitor", account_admin=how == "monitor")
    async with stage.running(SIZE) as pilot:
        assert stage.desk.creation is None
        await pilot.press("N")
        await pilot.pause()
        assert stage.app.screen is stage.app.main
        if how == "monitor":
            for keys in ([], ["6", "N"]):
                await pilot.press(*keys)
                await pilot.pause()
                (message,) = [notification.message for notification in stage.app._notifications]
                assert message == "Monitor mode: nothing can be sent.", keys
                stage.app.clear_notifications()
            await pilot.press("escape")
        await pilot.press("question_mark")
        await pilot.pause()
        assert "API keys; those you created" not in screen_text(stage.app)
        await pilot.press("escape", "o")
        await pilot.pause()
        assert isinstance(stage.app.screen, ChoiceDialog)
        assert not any("Create" in option for option in stage.app.screen._options)
        await pilot.press("escape", "ctrl+p")
        await asyncio.sleep(0.5)
        await pilot.press(*"create")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert "sub-account" not in screen_text(stage.app)
        await pilot.press("escape")
        assert posts(stage) == 0


async def test_with_leave_it_is_in_help_palette_and_the_list_of_screens() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "API keys; those you created" in str(stage.app.screen.query_one(Static).content)
        await pilot.press("escape", "o", "end", "enter")
        await asyncio.sleep(0.2)
        await pilot.pause()
        assert isinstance(stage.app.screen, ChoiceDialog)
        assert "API keys you created" not in stage.app.screen._options, "there is none yet"
        await pilot.press("escape", "ctrl+p")
        await asyncio.sleep(0.5)
        await pilot.press(*"keys you created")
        await asyncio.sleep(0.5)
        await pilot.press("down", "enter")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert isinstance(stage.app.screen, IssuedKeysScreen)
        assert "tradetui has not created an API key" in screen_text(stage.app)
        assert "v shows" not in screen_text(stage.app), "there is nothing to show or copy"


# Refusals


@pytest.mark.parametrize(
    ("account", "why"),
    [
        ("copy-old", "This account is a copy trader of the old model"),
        ("at-limits", "This account has its one copy-trading key already"),
    ],
)
async def test_both_documented_refusals_are_explained(account: str, why: str) -> None:
    stage = AppOnFewRows(account)
    async with stage.running(SIZE) as pilot:
        await choose(stage, pilot, COPY_KEY)
        await type_into(pilot, PASSPHRASE)
        await sent(stage, pilot)
        assert "Refused: nothing was created" in text_in_front(stage)
        assert why in text_in_front(stage)
        assert posts(stage) == 1
        await asyncio.sleep(1.5)
        await pilot.press("escape")
        assert isinstance(stage.app.screen, CreationForm), "what was typed can be mended"
        assert stage.app.screen.query_one(Input).value == PASSPHRASE


@pytest.mark.parametrize(
    ("account", "codes"),
    [("at-limits", {"brandnew": "40069", "limiteda": "40063"}), ("managed", {"brandnew": "22010"})],
)
async def test_other_refusals_are_sentences(account: str, codes: dict[str, str]) -> None:
    stage = AppOnFewRows(account)
    async with stage.running(SIZE) as pilot:
        await choose(stage, pilot, "Create sub-accounts with API keys")
        for name, code in codes.items():
            fill_in(stage, [name])
            result = await sent(stage, pilot)
            assert f"(code {code})" in text_in_front(stage), name
            assert not result.query(IssuedKeys)
            await pilot.press("escape")
            assert isinstance(stage.app.screen, CreationForm), "nothing stands in the way of another try"
        await reviewed(stage, pilot)


# In doubt


async def test_a_lost_reply_is_explained_blocks_another_and_is_released_by_hand(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await choose(stage, pilot, "Create sub-accounts with API keys")
        for lost, (fault, name) in enumerate(
            {"dropped-after": "alphaone", "5xx": "betatwos", "truncated": "gammatri"}.items(), start=1
        ):
            fill_in(stage, [name])
            await pilot.pause()
            stage.sandbox.faults.plan(fault, endpoint="subaccounts.create_batch")
            await sent(stage, pilot)
            for sentence in (
                "It is not known what was created",
                "Keys may exist that tradetui never received",
                f"? {name}",
            ):
                assert sentence in text_in_front(stage), fault
            await pilot.press("escape")
            await choose(stage, pilot, "Create sub-accounts with API keys")
            result = stage.app.screen
            assert isinstance(result, ResultDialog), f"{fault}: what is in doubt stands before the form"
            assert "delete the API keys there" in text_in_front(stage)
            result.query_one("#release", Button).press()
            await pilot.pause()
            dialog = stage.app.screen
            assert isinstance(dialog, ReleaseDialog)
            assert "delete the API keys there" in text_in_front(stage)
            dialog.query_one("#why", Input).value = "deleted it"
            await pilot.pause()
            assert dialog.query_one("#confirm", Button).disabled
            dialog.query_one("#typed", Input).value = "create-subaccounts"
            await pilot.pause()
            dialog.query_one("#confirm", Button).press()
            await asyncio.sleep(0.5)
            await pilot.pause()
            assert stage.app.screen is stage.app.main
            await choose(stage, pilot, "Create sub-accounts with API keys")
            assert isinstance(stage.app.screen, CreationForm), fault
            assert posts(stage) == lost
            assert stage.desk.execution is not None
            intents = await stage.desk.execution.intents.newest()
            assert len(intents) == lost
            assert (intents[0].state, intents[0].details["why"]) == (State.RELEASED, "deleted it")


async def test_no_answer_in_time_is_in_doubt() -> None:
    stage = AppOnFewRows("copy-new")
    async with stage.running(SIZE) as pilot:
        stage.sandbox.options = type(stage.sandbox.options)(seed=7, delay_ms=60_000)
        stage.sandbox.faults.plan("delay", endpoint="copytrading.create_api_key")
        await choose(stage, pilot, COPY_KEY)
        await type_into(pilot, PASSPHRASE)
        await sent(stage, pilot, 20)
        assert "A copy-trading key may exist that tradetui never received" in text_in_front(stage)
        await pilot.press("escape", "q")
        await pilot.pause()
        assert isinstance(stage.app.screen, ConfirmDialog), "quitting asks while it is in doubt"


# Not kept


async def test_keys_that_cannot_be_kept_are_held_not_shown_and_kept_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot)
        await reviewed(stage, pilot)
        replace, written = os.replace, list[Path]()

        def full(source: Path, target: Path) -> None:
            written.append(target)
            if len(written) > 1:
                raise OSError(28, "No space left on device")
            replace(source, target)

        monkeypatch.setattr(os, "replace", full)
        await pilot.press("tab", "enter")
        await asyncio.sleep(3)
        await pilot.pause()
        result = stage.app.screen
        assert isinstance(result, ResultDialog)
        assert "Created, and not saved yet" in text_in_front(stage)
        # On the screen the path, which is as long as it is, decides where the line breaks.
        assert any("No space left on device" in str(static.content) for static in result.query(Static))
        assert not result.query(IssuedKeys)
        secret = next(key.secret for key in stage.sandbox.exchange_state.keys if key.passphrase == PASSPHRASE)
        assert secret not in screen_text(stage.app)
        await pilot.press("escape", "q")
        await pilot.pause()
        assert "NEW API KEYS ARE IN MEMORY ONLY" in text_in_front(stage)
        await pilot.press("enter")
        stage.app.open_profile(1)
        await asyncio.sleep(0.5)
        assert "not saved yet" in newest_message(stage)
        assert stage.app.chosen == 0, "another account is not opened meanwhile"
        await choose(stage, pilot, "Create sub-accounts with API keys")
        assert "Created, and not saved yet" in text_in_front(stage)
        monkeypatch.undo()
        stage.app.screen.query_one("#again", Button).press()
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert "✓ alphaone" in text_in_front(stage)
        (file,) = key_store(tmp_path)
        assert tomllib.loads(file.read_text())["secret"] == secret
        assert stage.desk.execution is not None
        assert stage.desk.execution.intents.unsettled() == ()
        assert posts(stage) == 1


async def test_a_key_store_that_cannot_be_written_stops_it_before_sending(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        (account,) = (file for file in (tmp_path / "accounts").iterdir() if file.is_dir())
        (account / "vault").write_text("a file in the place of the directory")
        await batch_form(stage, pilot)
        await reviewed(stage, pilot)
        await pilot.press("tab", "enter")
        await asyncio.sleep(2)
        await pilot.pause()
        assert "Nothing was sent. The keys could not be saved" in text_in_front(stage)
        assert posts(stage) == 0


# API keys you created


async def test_keys_of_earlier_sessions_are_listed(tmp_path: Path) -> None:
    first = AppOnFewRows(data_dir=tmp_path)
    async with first.running(SIZE) as pilot:
        await batch_form(first, pilot, ["alphaone", "betatwos"])
        await sent(first, pilot)
    second = AppOnFewRows(data_dir=tmp_path)
    async with second.running(SIZE) as pilot:
        await choose(second, pilot, "API keys you created")
        assert isinstance(second.app.screen, IssuedKeysScreen)
        listed = second.app.screen.query_one(OptionList)
        assert listed.option_count == 2
        assert COVERED in screen_text(second.app)
        assert PASSPHRASE not in screen_text(second.app)
        await pilot.press("v")
        await pilot.pause()
        assert PASSPHRASE in screen_text(second.app)
        await pilot.press("v")
        await pilot.pause()
        assert PASSPHRASE not in screen_text(second.app)
        await pilot.press("q")
        assert second.app.screen_stack[-1] is second.app.main


async def test_a_secret_is_never_shown_under_the_key_that_the_cursor_went_on_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot, ["alphaone", "betatwos"])
        await sent(stage, pilot)
        read = AccountKeys.secrets

        async def slow(keys: AccountKeys, name: str) -> Secrets:
            await asyncio.sleep(1)
            return await read(keys, name)

        monkeypatch.setattr(AccountKeys, "secrets", slow)
        issued = stage.app.screen.query_one(IssuedKeys)
        revealing = asyncio.create_task(issued.action_reveal())
        await asyncio.sleep(0.5)
        issued.action_cursor(1)
        await revealing
        await pilot.pause()
        secrets = [key.secret for key in stage.sandbox.exchange_state.keys if key.passphrase == PASSPHRASE]
        assert len(secrets) == 2
        assert not any(secret in screen_text(stage.app) for secret in secrets)


async def test_everything_can_be_reached_in_a_small_terminal(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running((80, 24)) as pilot:
        await batch_form(stage, pilot, ["alphaone", "betatwos", "gammatri", "deltafor", "epsilonf"])
        assert "Review" in screen_text(stage.app)
        await reviewed(stage, pilot)
        text = screen_text(stage.app)
        assert "Create 5" in text and "Cancel" in text
        await pilot.press(*["pagedown"] * 4)
        await pilot.pause()
        assert "never sent twice" in text_in_front(stage)
        await pilot.press("tab", "enter")
        await asyncio.sleep(3)
        await pilot.pause()
        assert "Close" in screen_text(stage.app)
        await pilot.press("pagedown", "pagedown")
        await pilot.pause()
        assert "v shows" in screen_text(stage.app)


async def test_the_journal_s_screen_lists_it_and_releases_it_too(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot)
        stage.sandbox.faults.plan("dropped-after", endpoint="subaccounts.create_batch")
        await sent(stage, pilot)
        assert len(key_store(tmp_path)) == 1
        await pilot.press("escape", "J")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert "create sub-accounts with keys: alphaone" in text_in_front(stage)
        await pilot.press("enter")
        await pilot.pause()
        assert PASSPHRASE not in screen_text(stage.app)
        await pilot.press("escape", "x")
        await pilot.pause()
        dialog = stage.app.screen
        assert isinstance(dialog, ReleaseDialog)
        assert "Keys may exist that tradetui never received" in text_in_front(stage)
        dialog.query_one("#why", Input).value = "not there"
        dialog.query_one("#typed", Input).value = "create-subaccounts"
        await pilot.pause()
        dialog.query_one("#confirm", Button).press()
        await asyncio.sleep(0.5)
        assert stage.desk.execution is not None
        assert stage.desk.execution.intents.unsettled() == ()
        assert key_store(tmp_path) == [], "its passphrase is kept no longer"


async def test_some_fail_while_others_succeed_and_each_has_its_row(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await batch_form(stage, pilot, ["alphaone", "betatwos", "gammatri"])
        real = stage.sandbox.answer

        def partly(request: object, *rest: object) -> object:
            answer = real(request, *rest)  # type: ignore[arg-type]
            if getattr(request, "path", "") == BATCH:
                answered = json.loads(answer.body)
                del answered["data"][2]["secretKey"], answered["data"][0]
                return replace(answer, body=json.dumps(answered).encode())
            return answer

        stage.sandbox.answer = partly  # type: ignore[method-assign, assignment]
        await sent(stage, pilot)
        for row in (
            "? alphaone not in the reply: it may have been created",
            "✓ betatwos created: UID 4400010001, key kept as betatwos",
            "✗ gammatri created: UID 4400010002, but its secret is missing in the reply",
        ):
            assert row in text_in_front(stage)
        assert "1 of 3 created with a key" in text_in_front(stage)
        assert posts(stage) == 1


def break_a_key(data_dir: Path) -> None:
    (journal,) = data_dir.rglob("journal.sqlite")
    folder = journal.with_name("vault")
    folder.mkdir(mode=0o700, exist_ok=True)
    broken = folder / "broken.toml"
    broken.write_text("broken = [")
    broken.chmod(0o600)


async def test_a_file_that_cannot_be_read_is_called_so_and_never_empty(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        break_a_key(tmp_path)
        await choose(stage, pilot, "API keys you created")
        shown = screen_text(stage.app)
        for sentence in ("CANNOT BE READ", str(tmp_path), "It may hold keys: do not delete it."):
            assert sentence in shown, sentence
        assert "never received" not in text_in_front(stage)


async def test_what_the_key_may_not_do_is_not_offered() -> None:
    stage = AppOnFewRows(permissions=frozenset({"futures-read", "holdings-read", "spot-read"}))
    async with stage.running(SIZE) as pilot:
        await pilot.press("N")
        await pilot.pause()
        assert isinstance(stage.app.screen, ChoiceDialog)
        assert list(stage.app.screen._options) == ["API keys you created"]
        assert stage.desk.creation is not None
        assert any(
            "lacks the permission" in reason
            for reason in stage.desk.creation.blocking_reasons(CreationKind.SUBACCOUNTS)
        )
