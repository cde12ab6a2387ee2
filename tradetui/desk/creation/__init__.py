"""The one way to create a sub-account or an API key; others import these names only."""

from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.key_store import (
    AccountKeys,
    KeyStoreUnusable,
    MakeProfile,
    ProfileNotWritten,
    SecretBackend,
    Secrets,
    StoredKey,
)
from tradetui.desk.creation.kinds import (
    FIELD_TITLES,
    CheckedForm,
    CreationKind,
    CreationRequest,
    CreationStatus,
    check_form,
    creation_fields,
    kind_of,
    rows_of,
    titles_of,
)

__all__ = [
    "FIELD_TITLES",
    "AccountKeys",
    "CheckedForm",
    "Creation",
    "CreationKind",
    "CreationRequest",
    "CreationStatus",
    "KeyStoreUnusable",
    "MakeProfile",
    "ProfileNotWritten",
    "SecretBackend",
    "Secrets",
    "StoredKey",
    "check_form",
    "creation_fields",
    "kind_of",
    "rows_of",
    "titles_of",
]
