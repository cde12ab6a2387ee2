"""What there is to look up beside the live panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tradetui.wire.catalogue import Endpoint


@dataclass(frozen=True, slots=True)
class LookupKind:
    """One kind of lookup: the table whose columns it shows, its title, its endpoint by the catalogue's name.

    `nothing` says what it means that there is no row.
    """

    table: str
    title: str
    endpoint_name: str
    nothing: str

    @property
    def endpoint(self) -> Endpoint:
        """Its endpoint."""
        from tradetui.wire.catalogue import endpoint

        return endpoint(self.endpoint_name)


LOOKUPS: Final[Mapping[str, LookupKind]] = {
    kind.table: kind
    for kind in (
        LookupKind("spot-fills", "Spot fills", "spot.fills", "No spot fill that this asks for."),
        LookupKind("spot-bills", "Spot bills", "spot.bills", "No movement of the spot account that this asks for."),
        LookupKind("convert", "Convert history", "convert.history", "Nothing was converted in this time."),
        LookupKind("transfers", "Sub-account transfers", "broker.transfers", "No deposit or withdrawal in this time."),
        LookupKind("email", "Sub-account e-mail", "broker.subaccount_email", "The exchange tells no e-mail."),
    )
}
