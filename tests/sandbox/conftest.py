"""A sandbox for reading, shared by the tests that change nothing."""

from __future__ import annotations

import pytest

from tests.sandbox.signed_requests import Caller


@pytest.fixture(scope="session")
def reading() -> Caller:
    return Caller()


@pytest.fixture
def fresh() -> Caller:
    return Caller()
