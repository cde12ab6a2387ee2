"""The base of every table of a profile."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StrictSettings(BaseModel):
    """Strict: an unknown key is an error, because a typing error must not pass as a default."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
