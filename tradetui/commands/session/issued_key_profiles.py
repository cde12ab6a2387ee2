"""Stores API keys that tradetui created: secrets in the system's keyring, and a profile that uses the key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tradetui.desk.creation import CreationKind, KeyStoreUnusable, ProfileNotWritten, Secrets, StoredKey
from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import PROXY_FLAG, Flags, LoadedProfile, known_profiles, profiles_dir
from tradetui.profiles.secrets import FIELDS, delete_from_keyring, fields_of_json, read_keyring, write_keyring
from tradetui.profiles.write import check_name, write_default, write_profile


class KeyringSecrets:
    """Secrets of the key store in the system's keyring, under names that no profile has.

    Methods raise KeyStoreUnusable.
    """

    def __init__(self, service: str) -> None:
        self.where = f"the system's keyring, service {service}"
        self._service = service

    def put(self, name: str, secrets: Mapping[str, str]) -> None:
        with _as_key_store():
            write_keyring(self._service, self._user(name), json.dumps(dict(secrets)))

    def get(self, name: str) -> Mapping[str, str]:
        with _as_key_store():
            text = read_keyring(self._service, self._user(name))
            return fields_of_json(text, self.where) if text else {}

    def drop(self, name: str) -> None:
        with _as_key_store():
            delete_from_keyring(self._service, self._user(name))

    def _user(self, name: str) -> str:
        return f"vault {name}"


@contextmanager
def _as_key_store() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as problem:
        raise KeyStoreUnusable(str(problem)) from None


class ProfileMaker:
    """Makes a profile of a stored key: on the same exchange, for another account, and in monitor mode."""

    def __init__(
        self, loaded: LoadedProfile, flags: Flags, profile_written: Callable[[str], None] = lambda _: None
    ) -> None:
        self._loaded = loaded
        self._flags = flags
        self._profile_written = profile_written

    def __call__(self, name: str, entry: StoredKey, secrets: Secrets, own_uid: str) -> str:
        """Write the profile and return its file; raises ProfileNotWritten."""
        try:
            file = self._written(name, entry, secrets, own_uid)
        except ConfigurationError as problem:
            raise ProfileNotWritten(str(problem)) from None
        self._profile_written(name)
        return file

    def _written(self, name: str, entry: StoredKey, secrets: Secrets, own_uid: str) -> str:
        check_name(name, "profile")
        config = self._loaded.environ, self._flags.config
        before = known_profiles(*config)
        if name in before.names:
            raise ConfigurationError(
                f"there is a profile {name!r} already", location="profile", remedy="Choose another name."
            )
        file = profiles_dir(paths.config_file(*config)) / f"{name}.toml"
        if file.exists():
            raise ConfigurationError("exists already and is not overwritten", location=str(file))
        service = self._loaded.profile.credentials.service
        credentials: dict[str, Any] = {"source": "file", "path": str(entry.file)}
        if entry.file is None:
            credentials = {"source": "keyring", "service": service}
            self._into_keyring(service, name, secrets)
        if before.written_default is None and before.default is not None:
            # The existing profile was the default as the only one; with a second one, it must be named.
            write_default(paths.config_file(*config), before.default)
        comment = f"tradetui profile {name}, made from an API key that tradetui created"
        write_profile(file, self._settings(entry, own_uid, credentials), comment)
        return str(file)

    def _settings(self, entry: StoredKey, own_uid: str, credentials: Mapping[str, Any]) -> dict[str, Any]:
        profile = self._loaded.profile
        uid = entry.uid or (own_uid if entry.kind == CreationKind.COPY_KEY else "")
        settings: dict[str, Any] = {
            "base_url": profile.base_url,
            "environment": profile.environment,
            "mode": "monitor",
            "product_types": list(profile.product_types),
            "locale": profile.locale,
            "credentials": dict(credentials),
        }
        if self._loaded.proxy_source != PROXY_FLAG:
            settings["proxy"] = profile.proxy.get_secret_value()
        if profile.data_dir is not None:
            settings["data_dir"] = str(profile.data_dir)
        if uid:
            settings["uid"] = uid
        if entry.kind == CreationKind.COPY_KEY:
            settings["account_kind"] = "copy_trader"
        return settings

    def _into_keyring(self, service: str, name: str, secrets: Secrets) -> None:
        if read_keyring(service, name) is not None:
            raise ConfigurationError(
                f"holds something for {name!r} already", location=f"keyring {service}", remedy="Choose another name."
            )
        fields = zip(FIELDS, (secrets.api_key, secrets.secret, secrets.passphrase), strict=True)
        write_keyring(service, name, json.dumps({key: value.get_secret_value() for key, value in fields if value}))
