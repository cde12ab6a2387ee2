"""Time zones by their names in a profile: utc, local, or a zone's own such as Europe/Berlin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class MachineZone(tzinfo):
    """This machine's own time, summer time included."""

    def fromutc(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """None: the machine does not say whether it is summer time."""
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "local time"


def zone_named(name: str) -> tzinfo:
    """The zone of a name; one that this machine does not know is UTC."""
    if name == "utc":
        return UTC
    if name == "local":
        return MachineZone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def zone_label(zone: tzinfo) -> str:
    return "UTC" if zone is UTC else str(zone.tzname(None) or zone)
