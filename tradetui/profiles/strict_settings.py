"""The base of every table of a profile."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StrictSettings(BaseModel):
    """Strict: an unknown key is an error, so that a misspelt key does not silently leave the default in force."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
