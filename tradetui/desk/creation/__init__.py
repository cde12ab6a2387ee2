"""The one way a sub-account or an API key is created: reviewed, journalled, sent once, kept before it is shown.

In it: the kinds, the form's rules, the sending, the matching of issued keys to what was requested, the key store.
It looks at intents alone. This is its door: others import these names from here, and nothing from the modules behind
it.
"""

from tradetui.desk.creation.account_keys import AccountKeys, MakeProfile, ProfileNotWritten
from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.form import FIELD_TITLES, CheckedForm, check_form, creation_fields, rows_of
from tradetui.desk.creation.key_files import KeyStoreUnusable
from tradetui.desk.creation.key_store import SecretBackend, Secrets, StoredKey
from tradetui.desk.creation.kinds import CreationKind, CreationRequest, CreationStatus, kind_of, titles_of

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
