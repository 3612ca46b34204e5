"""Which names and values are secrets, and what stands in their place.

The placeholder ``<redacted:NAME>`` tells the name, never anything of the value (a short hash would let a weak password
be guessed). It is the same on every run, so redacted text can be compared. Numbers, booleans, ``<...>`` markers and names
like ``eos_token`` or ``num_key_value_heads`` are no secrets: model servers are full of tokens that are words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

OPEN = "<redacted:"
# Names: whole words that make a secret of any value that follows, and parts that do so of a value that looks random.
_STRONG_PARTS = ("secret", "passw", "passphrase", "apikey", "credential", "privatekey", "accesskey", "bearer")
_STRONG_LAST = frozenset("token auth authorization pass pwd pw psk jwt cookie cookies creds passcode".split())
_KEY_OWNERS = frozenset(
    "access account admin api app auth aws azure client consumer database db deploy encryption hf license master openai private"
    " secret service session shared signing ssh storage subscription user wandb webhook x".split()
)
_WEAK_PARTS = ("token", "key", "auth", "pass", "sig", "session", "cred")
_WORD_TOKENS = frozenset(
    "eos bos pad unk sep cls mask image video audio vision begin end start stop special added next last draft mm think img boi eoi eot sot"
    " placeholder newline speech text decoder input output prompt".split()
)
_HARMLESS_WORDS = frozenset("bypass compass author authors authored".split())
_HARMLESS_PARTS = ("tokeniz", "tokenis", "keyword", "keyboard", "monkey", "passthrough", "authorit")
_SIZES = frozenset("size length len count number bytes bits id ttl timeout seconds age port version".split())
_FILE_ENDS = frozenset("file path dir directory files".split())

_NUMBER = re.compile(r"[-+]?[\d_.,]+(?:[eE][-+]?\d+)?\s*(?:[kmgt]i?b?|%|s|ms)?", re.IGNORECASE)
# Words, types, references to a variable, and what stands in pointed brackets unless it looks random.
_HARMLESS_VALUE = re.compile(
    r"true|false|none|null|nil|yes|no|on|off|auto|default|required|str|int|bool|bytes|final|optional|union|annotated|secretstr"
    r"|<(?!(?=[^>]*\d)(?=[^>]*(?-i:[A-Z]))[\w+/=-]{8,}>).*>|\*+|\$\{\w+\}|(?-i:\$\{?[A-Z_][A-Z0-9_]*\}?)|\$\d|",
    re.IGNORECASE | re.DOTALL,
)
_PIN = re.compile(r"\d{4,}")
_LONG_NUMBER = re.compile(r"\d{14,}")
_LONG_WORD = re.compile(r"[A-Za-z0-9_+=-]{16,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def placeholder(name: str) -> str:
    """What stands where a secret stood."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return f"{OPEN}{'-'.join(words) or 'secret'}>"


def is_redacted(value: object) -> bool:
    """Whether a value is, or contains, a placeholder: its real content is then unknown."""
    return isinstance(value, str) and OPEN in value


def is_secret(name: str, value: str) -> bool:
    """Whether ``value`` under this name is to be kept from everybody."""
    if not hides_all(value):
        return _is_pin(name, value)
    words = _words_of(name)
    if not words or any(part in "".join(words) for part in _HARMLESS_PARTS):
        return False
    if words[-1] in _FILE_ENDS and value[:1] in "/.~":
        return False
    if _strong(name, words):
        return True
    named = any(part in word for word in words for part in _WEAK_PARTS if word not in _HARMLESS_WORDS)
    return named and _looks_random(value) and "/" not in value


def _looks_random(value: str) -> bool:
    words = _LONG_WORD.findall(value)
    return any(re.search(r"\d", word) and re.search(r"[A-Za-z]", word) for word in words) or bool(_UUID.search(value))


@lru_cache(maxsize=4096)
def _words_of(name: str) -> tuple[str, ...]:
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return tuple(re.findall(r"[a-z0-9]+", split.lower()))


def hides_all(value: str) -> bool:
    """Whether a value below a secret's name is to be masked: all but numbers, booleans and what is masked already."""
    plain = value.strip()
    return not (_HARMLESS_VALUE.fullmatch(plain) or _NUMBER.fullmatch(plain) or is_redacted(value))


def _is_pin(name: str, value: str) -> bool:
    """Whether a number is a secret: after a name that leaves no doubt, or, since tokens are counted, when it is very long."""
    if not _PIN.fullmatch(value.strip()) or not (words := _words_of(name)) or any(part in "".join(words) for part in _HARMLESS_PARTS):
        return False
    surely = any(part in "".join(words[-2:]) for part in _STRONG_PARTS) and words[-1] not in _SIZES
    return surely or (bool(_LONG_NUMBER.fullmatch(value.strip())) and _strong(name, words))


@lru_cache(maxsize=4096)
def is_strong(name: str) -> bool:
    """Whether every value under this name is a secret."""
    return bool(words := _words_of(name)) and _strong(name, words)


def _strong(name: str, words: tuple[str, ...]) -> bool:
    joined = "".join(words)
    if any(part in joined for part in _STRONG_PARTS):
        return True
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith("token"):
        return before not in _WORD_TOKENS and last.removesuffix("token") not in _WORD_TOKENS
    if last in ("key", "keys", "tokens"):
        return before in _KEY_OWNERS or (last == "key" and name.isupper())
    return last in _STRONG_LAST or (last.endswith(("pass", "pwd", "auth")) and last not in _HARMLESS_WORDS)


def mask(name: str, value: Any) -> Any:
    """A value, or the placeholder of a secret by its name, or by the names in it."""
    if isinstance(value, dict):
        return {key: mask(str(key), mask(name, each)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask(name, each) for each in value]
    return placeholder(name) if isinstance(value, str) and is_secret(name, value) else value
