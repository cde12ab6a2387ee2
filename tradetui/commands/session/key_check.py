"""What the exchange says of a key: whose account it is, what the key may do, from where, and the clock's offset."""

from __future__ import annotations

from dataclasses import dataclass

from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import WARN_OFFSET_MS
from tradetui.exchange.errors import AuthenticationFailed, ExchangeError, PermissionRefused, UnifiedAccount
from tradetui.wire.key_permissions import may_withdraw, permission_texts
from tradetui.wire.models.spot import AccountInfo

# The documentation's own example has the parent 1, which is nobody's: such a number says that there is none.
_SHORTEST_UID = 5
_ANY_ADDRESS = frozenset({"0.0.0.0", "0.0.0.0/0", "::", "::/0"})


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """Sentences about a key, and whether the exchange refuses it."""

    sentences: tuple[str, ...]
    refused: bool = False


async def check_key(client: ExchangeReader, product_type: str) -> KeyCheck:
    """Read what this key may read in any case and what the exchange tells of it."""
    try:
        await client.futures.accounts(product_type=product_type)
    except (AuthenticationFailed, PermissionRefused, UnifiedAccount) as refusal:
        return KeyCheck((f"The exchange refuses this key. {refusal}", *_clock_sentences(client)), refused=True)
    except ExchangeError as problem:
        return KeyCheck((f"The key was not tried: {problem}",))
    try:
        reply = await client.spot.account_info()
    except ExchangeError as problem:
        nothing_else = f"The key can read futures. The exchange reports nothing else about it: {problem}"
        sentences: tuple[str, ...] = (nothing_else,)
    else:
        sentences = account_sentences(reply.rows[0]) if reply.rows else ("The key can read futures.",)
    return KeyCheck((*sentences, *_clock_sentences(client)))


def account_sentences(info: AccountInfo) -> tuple[str, ...]:
    """The account's kind, the key's permissions with a warning where it may withdraw, and its address binding."""
    kinds = {
        True: "a copy trader",
        False: "not a copy trader",
        None: "a copy trader or not (the exchange does not say)",
    }
    parent = info.parent_id or ""
    owner = f", a sub-account of {parent}" if len(parent) >= _SHORTEST_UID and parent != info.user_id else ""
    permissions = "; ".join(permission_texts(info.authorities)) or "the exchange does not report them"
    sentences = [
        f"Account: user ID {info.user_id}{owner}, classic mode, {kinds[info.is_copy_trader]}.",
        f"Permissions: {permissions}.",
    ]
    if may_withdraw(info.authorities):
        sentences.append(
            "WARNING: this key may withdraw, so a thief could empty the account. tradetui never needs that: create a "
            "key without withdrawal and delete this one."
        )
    if not info.ips or _ANY_ADDRESS & set(info.ips):
        sentences.append("Addresses: the key works from everywhere. Bind it to your address at the exchange.")
    else:
        sentences.append(f"Addresses: the key works from {', '.join(info.ips)} only.")
    return tuple(sentences)


def _clock_sentences(client: ExchangeReader) -> tuple[str, ...]:
    offset = client.connection_status.clock_offset_ms
    if offset is None:
        return ()
    if abs(offset) <= WARN_OFFSET_MS:
        return (f"Clock: {offset:+d} ms from the exchange's, which is fine.",)
    return (f"Clock: {offset:+d} ms from the exchange's. Set this machine's clock; above 5 s nothing is sent.",)
