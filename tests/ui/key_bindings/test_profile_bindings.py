"""A profile's own keys: what is taken, and what is said of the rest."""

from __future__ import annotations

import pytest

from tradetui.ui.key_bindings.profile_bindings import profile_bindings


@pytest.mark.parametrize(
    "changed",
    [
        {"zoom": "x"},
        {"poll_now": "u,f5"},
        {"reverse": "q", "quit": "R"},
        {"zoom": "s", "sort": "ctrl+k"},
        {"release": "L"},
        {"zoom": "+"},
    ],
)
def test_keys_nothing_else_has_in_their_place_are_taken(changed: dict[str, str]) -> None:
    assert profile_bindings(changed).taken == changed
    assert profile_bindings(changed).troubles == ()


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ({"reverse": "q"}, {"reverse": "q is the key of quit too, it stays R"}),
        ({"zoom": "/"}, {"zoom": "/ is the key of filter too, it stays z"}),
        ({"release": "ctrl+p"}, {"release": "Ctrl+P is the key of palette too, it stays x"}),
        ({"zoom": "w", "pause": "w"}, {"zoom": "w is the key of pause too", "pause": "w is the key of zoom too"}),
        ({"zoom": "s", "sort": "q"}, {"sort": "q is the key of quit too", "zoom": "s is the key of sort too"}),
    ],
)
def test_a_key_another_binding_has_is_not_taken(changed: dict[str, str], refused: dict[str, str]) -> None:
    own = profile_bindings(changed)
    assert own.taken == {}
    sentences = {trouble.id: str(trouble) for trouble in own.troubles}
    assert sentences.keys() == refused.keys()
    for id_, parts in refused.items():
        assert f"keys.{id_} is not taken: {parts}" in sentences[id_]


def test_an_id_no_binding_has_is_named() -> None:
    (trouble,) = profile_bindings({"revers": "x"}).troubles
    assert str(trouble) == "keys.revers is not the id of a key. Did you mean reverse? `tradetui keys` lists them."


@pytest.mark.parametrize("keys", ["zork", "", "x,", "F5", "ctrl+zork", "zork+x"])
def test_a_key_there_is_not_leaves_the_built_in_one(keys: str) -> None:
    own = profile_bindings({"zoom": keys})
    assert own.taken == {}
    (trouble,) = own.troubles
    assert "there is no key" in trouble.rule and "it stays z" in trouble.rule
