"""Whose account a key is, once the exchange has told: so that it is still known on a day when it does not tell.

Journal, lock and archive belong to the account. Were it taken for another, an order whose outcome is unknown would
lock nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from tradetui.desk.account.identity import AccountKey, former_spellings, normalised_address
from tradetui.storage.atomic_file import write_text
from tradetui.storage.private_directory import make_private_directory
from tradetui.storage.sqlite_file import FileUnusable

_FILE = "known.json"


class KnownAccounts:
    """UIDs by address, environment and hash of the key, in a file of mode 0600; nothing without a directory.

    Every call blocks.
    """

    def __init__(self, data_dir: Path | None) -> None:
        self._file = None if data_dir is None else data_dir / "accounts" / _FILE

    def uid_of(self, key: AccountKey) -> str | None:
        """The UID the exchange told for this key; raises FileUnusable where the file is there and cannot be read."""
        known = self._read()
        for spelling in (normalised_address(key.base_url), *former_spellings(key.base_url)):
            if uid := known.get("|".join(key._replace(base_url=spelling))):
                return uid
        return None

    def remember(self, key: AccountKey, uid: str) -> None:
        """Keep what the exchange told, synced; raises FileUnusable or OSError."""
        if self._file is None:
            return
        known, name = self._read(), "|".join(key._replace(base_url=normalised_address(key.base_url)))
        if known.get(name) == uid:
            return
        make_private_directory(self._file.parent)
        write_text(self._file, json.dumps({**known, name: uid}, indent=1, sort_keys=True))

    def _read(self) -> dict[str, str]:
        if self._file is None:
            return {}
        try:
            stored_uids = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except NotADirectoryError:
            folder = self._file.parent.parent
            raise FileUnusable(str(folder), "it is not a directory", "Set data_dir to one.") from None
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else None
            raise FileUnusable(
                str(self._file),
                f"the list of known accounts cannot be read ({reason or 'not JSON'})",
                "Set uid in the profile, then delete the file.",
            ) from None
        return (
            {name: uid for name, uid in stored_uids.items() if isinstance(uid, str)}
            if isinstance(stored_uids, dict)
            else {}
        )
