"""Error codes of the exchange: their topics, what a trader can do, and whether a write was certainly refused."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class CodeGroup(StrEnum):
    """The topic of a code."""

    KEY = "key"
    CLOCK = "clock"
    ENVIRONMENT = "environment"
    PERMISSION = "permission"
    ACCOUNT = "account"
    RATE = "rate"
    PARAMETER = "parameter"
    SYMBOL = "symbol"
    TIME_RANGE = "time range"
    NO_POSITION = "no position"
    MODE = "position mode"
    SIZE = "size"
    MONEY = "money"
    PRICE = "price"
    MARKET = "market state"
    COPY = "copy trading"
    SUBACCOUNT = "sub-account"
    DUPLICATE = "duplicate id"
    NO_SUCH_ORDER = "not found"
    MISSING = "missing endpoint"
    SYSTEM = "system"
    UNLISTED = "unlisted"


class Meaning(NamedTuple):
    """The meaning of a code; `remedy` is a sentence that a trader can act on."""

    group: CodeGroup
    remedy: str


_UNLISTED: Final = Meaning(
    CodeGroup.UNLISTED, "This program does not know the code: look the code up in the exchange's documentation."
)

UNIFIED_ACCOUNT: Final = "40085"
"""The code with which an account in unified mode refuses every call of the classic interface."""
UNIFIED_TRADER: Final = "40731"
"""The code with which a trader's account in unified mode refuses reads of the classic interface."""
CLASSIC_ACCOUNT: Final = frozenset({"40084", "25245"})
"""The codes with which an account in classic mode refuses every call of interface v3."""
UNIFIED_ACCOUNT_REMEDY: Final = (
    "On the exchange's site create a sub-account in classic mode, make an API key in it, and use that key here."
)
SET_AUTO: Final = 'Set interface = "auto" in the profile, or leave it out.'
MOVING_REMEDY: Final = "Wait until the exchange's site says that the account's mode was changed."
TOO_MANY_CALLS_REMEDY: Final = (
    "Too many calls: tradetui slows down automatically; lower budget_share if other programs use this account, and "
    "address_share if others call from this network address."
)


# In each group: what a trader can do, and the codes to which it applies.
_REMEDIES: Final[Mapping[CodeGroup, Mapping[str, str]]] = {
    CodeGroup.KEY: {
        "Check the API key: it is missing, mistyped, deleted, or belongs to another host.": (
            "40001 40006 40037 40041 401 30001 30006 30012 30017 30018"
        ),
        "Check the secret key: the signature made with it does not match.": "40002 40003 40009 30002 30013 40506 40507",
        "Check the passphrase: it is the one chosen when the API key was made, not the account's password.": (
            "40011 40012 40036 30004 30015"
        ),
        "Add this machine's address to the key's IP whitelist, or use a key without one.": "40018 40038 30011",
        "The request was not sent as JSON; this is a fault of the program.": "40007 415",
    },
    CodeGroup.CLOCK: {
        "Set this machine's clock: requests are more than 30 seconds from the exchange's time.": (
            "40004 40005 40008 40078 40079 30003 30005 30008"
        ),
    },
    CodeGroup.ENVIRONMENT: {
        'Demo keys need environment = "demo" in the profile, and live keys must not have it.': "40099",
    },
    CodeGroup.PERMISSION: {
        "Give the API key the permission named in the message, or use another key.": (
            "40014 40025 40040 40301 403 30022 30028"
        ),
    },
    CodeGroup.ACCOUNT: {
        UNIFIED_ACCOUNT_REMEDY: "40085",
        SET_AUTO: "40084 25245",
        "The exchange has restricted, frozen or closed the account: ask its support.": (
            "40013 40022 40023 40024 40026 40031 40710 40916 30029 32001 32002 32026 32028 32038 35005 40300 50010"
        ),
        "Complete the identity verification on the exchange's web site.": "40035 40101 40111 40016",
        "The exchange does not serve this account from here.": "40000 40103 40104 32022",
        "Use the main account's key: sub-accounts may not do this.": "40061 40068",
        "Only a broker's main account may call this: use such an account's key.": "40029",
        "Bind the calling API key to an IP address on the exchange's site.": "22010",
    },
    CodeGroup.RATE: {
        TOO_MANY_CALLS_REMEDY: "429 40047 13001 70228 40918 22035 1001 30007 30014 30026 50009",
    },
    CodeGroup.PARAMETER: {
        "Correct the parameter named in the message.": (
            "40017 40019 40020 40053 40057 40058 40059 40064 40072 40402 40409 40811 40812 40813 40924 41101 41103 "
            "43011 43111 48001 48002 400172 00171 00172 40303 40304 40305 400 405 30020 30021 30023 30025 32031 33059 "
            "33060 35059 35060 35062 35063 35064 36203 36206 36208 40201 40202 40302 40403 40500"
        ),
    },
    CodeGroup.SYMBOL: {
        "Check the symbol and the product type: the exchange does not know or no longer lists it.": (
            "40034 40102 40309 40845 30024 30032 33021 35001 35061 35095 36002 36205 50004"
        ),
    },
    CodeGroup.MISSING: {
        "This exchange does not have this endpoint; the program works without it.": "404 40404",
    },
    CodeGroup.NO_SUCH_ORDER: {
        "No order has this id.": "40109 40768 43001 43025 33014 35029 36216",
    },
    CodeGroup.TIME_RANGE: {
        "Choose a shorter or later period; the exchange keeps about 90 days.": (
            "00001 20001 40707 42072 40408 40704 40705 40902 43130 70008 70103 70104"
        ),
    },
    CodeGroup.NO_POSITION: {
        "There is nothing to reverse on that side: look at the positions again.": (
            "22002 43043 40757 45003 45005 45006 40802 45014"
        ),
    },
    CodeGroup.MODE: {
        "The account's position mode is not the one the request was made for: look at the mode again.": (
            "40774 45021 43075 45109 40920"
        ),
    },
    CodeGroup.SIZE: {
        "The size is below the contract's minimum: choose a larger one.": (
            "43006 45111 43037 22034 45110 43010 43027 45114 32018 33024 50014 50019"
        ),
        "The size or price is not a multiple of the contract's step, or has too many decimals.": (
            "22038 43028 45115 40808 32083 33028 33029 36221"
        ),
        "The size is above the maximum of the contract or the position: choose a smaller one.": (
            "43007 43029 43038 45112 45120 40715 45113 32005 32014 32074 33036 35010 35019 35021 35030 35039 36224 "
            "36225 36226 36227 36228 36229 36230 50015"
        ),
    },
    CodeGroup.MONEY: {
        "The size is more than the margin covers or one market order allows: choose a smaller one.": "40762",
        "There is not enough margin: choose a smaller size, or transfer margin to the futures account.": (
            "40754 43012 40798 45002 40800 32044 32072 33017 35025 35047 35052 35055 40711 40712 50020"
        ),
    },
    CodeGroup.COPY: {
        "Copy traders have a minimum of their own: choose a larger size.": "13008 40734 40892",
        "The exchange restricts copy traders here: close it among the current copy orders on its site.": (
            "40199 40854 40731 40867 40746 40869 45098 40508 40601 40602 40609 40701 40702"
        ),
        (
            "This account is not a copy trader, and this is for copy traders only: use the API key of one, or "
            "become one on the exchange's site."
        ): "31001 31025 40732",
    },
    CodeGroup.MARKET: {
        "The market does not take this now; try again when it trades normally.": (
            "22043 22044 22067 22039 22040 22041 22045 40844 41114 45043 43115 43119 43120 22004 40931 45107 45108 "
            "40722 40826 45122 40917 32024 32025 36201"
        ),
    },
    CodeGroup.PRICE: {
        "The price is outside the range that the exchange accepts now: look at the market and choose another.": (
            "32006 32019 32020 35014 35020 36222 36223 40706 41117 50016 50017 50018 50021"
        ),
    },
    CodeGroup.SUBACCOUNT: {
        "Correct what the message names: name, label, passphrase or number of keys.": (
            "40055 40056 40060 40071 40063 40067 40070 40107 40108 40033 40065"
        ),
        "The sub-account does not belong to this broker: check the UID.": "40028 40066",
        "The account has all the sub-accounts it may have: use one of them, or ask the exchange for more.": (
            "40032 40069"
        ),
    },
    CodeGroup.DUPLICATE: {
        "An order with this client id exists already: look at the pending orders before trying again.": (
            "43118 45034 40708 40786"
        ),
    },
    CodeGroup.SYSTEM: {
        "The exchange is busy or being updated: try again in a minute.": (
            "40010 40015 40200 40725 40910 45001 43059 500 1 01001 30009 30019 30030 30037 30038 32047 40308 40604 "
            "50008"
        ),
    },
}
MEANINGS: Final[Mapping[str, Meaning]] = MappingProxyType(
    {
        code: Meaning(group, remedy)
        for group, remedies in _REMEDIES.items()
        for remedy, codes in remedies.items()
        for code in codes.split()
    }
)

_AMBIGUOUS: Final = "40808"  # a parameter was wrong, or the exchange's servers are being replaced
# A system code may come after the request was taken. A client id is used for one request only: if an order has it
# already, that request was taken. "No such order" may be said of the very order that the write has made.
_LEAVES_OPEN: Final = frozenset({CodeGroup.SYSTEM, CodeGroup.DUPLICATE, CodeGroup.NO_SUCH_ORDER})
_NAMES_THE_FAULT: Final = ("checkBDScale", "is null", "delegate count")  # in a 40808 for a wrong parameter

COPY_KEY_REFUSALS: Final[Mapping[str, str]] = {
    "This interface is only applicable to the new Copy model": (
        "This account is a copy trader of the old model, and the exchange makes such keys for the new one only. "
        "Change to the new model on the exchange's site, or make an ordinary API key there."
    ),
    "You have already created a Copy API Key": (
        "This account has its one copy-trading key already, and its secret is shown only once. "
        "Use that key; if its secret is lost, delete it on the exchange's site first."
    ),
}
"""The two documented refusals of a copy-trading key, by their texts because they have no code, with their meaning."""


def meaning(code: str, msg: str = "") -> Meaning:
    """Return the meaning of a code; an unlisted one is a rejection that only the message explains.

    A documented message without a documented code, such as a copy-trading key's, has its own remedy.
    """
    known = MEANINGS.get(code)
    if known is not None:
        return known
    remedy = refusal_explained(msg)
    return _UNLISTED if remedy is None else _UNLISTED._replace(remedy=remedy)


def write_refused(code: str, http_status: int | None = None, msg: str = "") -> bool:
    """Whether a reply with this code clearly says that a write was refused.

    It does so if the code is listed and refuses the request itself, or if the message is a documented refusal without a
    code. Unlisted and system codes, codes about an existing or missing client id or order, and any reply under a 408 or
    5xx leave the outcome unknown. 40808 is a refusal if its message names the fault; the exchange also sends it while
    its servers are being replaced.
    """
    if http_status is not None and (http_status >= 500 or http_status == 408):
        return False
    if code == _AMBIGUOUS:
        return any(sign in msg for sign in _NAMES_THE_FAULT)
    known = MEANINGS.get(code)
    if known is None:
        return refusal_explained(msg) is not None
    return known.group not in _LEAVES_OPEN


def says_no_such_order(code: str | None) -> bool:
    return code is not None and meaning(code).group is CodeGroup.NO_SUCH_ORDER


def endpoint_missing(code: str, http_status: int | None = None) -> bool:
    return http_status == 404 or meaning(code).group is CodeGroup.MISSING


def switches_off(code: str, http_status: int | None = None) -> bool:
    """Whether an endpoint beyond the interface should be left alone for a while: missing, or not permitted."""
    return endpoint_missing(code, http_status) or meaning(code).group is CodeGroup.PERMISSION


def wants_another_word(code: str) -> bool:
    """Whether a read refused with this code may be repeated with the live exchange's word for a parameter."""
    return meaning(code).group in (CodeGroup.PARAMETER, CodeGroup.SYMBOL) or code == _AMBIGUOUS


def wants_another_signature(code: str) -> bool:
    """Whether the signature was refused, so that a read may be repeated with its decoded values signed."""
    return code in ("40009", "40003", "40002")


def refusal_explained(message: str) -> str | None:
    """Return the meaning and remedy of a documented refusal; None for any other message."""
    folded_message = message.casefold()
    return next((meaning for phrase, meaning in COPY_KEY_REFUSALS.items() if phrase.casefold() in folded_message), None)
