"""Secrets that show by their shape alone, wherever they stand: tokens with a known beginning, logins in addresses, private keys."""

from __future__ import annotations

import re

from agent.domain.secrets import placeholder

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*KEY[A-Z ]*-----|\Z)", re.DOTALL)
_PUTTY_KEY = re.compile(r"(?<=Private-Lines: )\d+[^\n]*\n.*?(?=Private-MAC:|\Z)", re.DOTALL)
# Each with the signs without which there is none of them: a text of megabytes is looked through by ``in`` alone.
_SHAPES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    # A password may hold `@`; it may hold `/` where what stands before it cannot be a port.
    (
        "url-login",
        ("://",),
        re.compile(r"(?<=://)(?!<redacted)(?:[^\s/?#\"'<>]{1,300}|(?!\[)[^\s/:@\"'<>]{0,80}:(?!\d{1,5}(?:/|\Z))[^\s@\"'<>,;]{1,200})(?=@)"),
    ),
    (
        "url-login",
        ("@",),
        re.compile(
            r"(?<=:)(?<!mailto:)(?=[^\s@:/]{0,60}?\d)(?=[^\s@:/]{0,60}?[A-Z])(?=[^\s@:/]{0,60}?[a-z])[^\s@:/\"'<>,;]{8,60}(?=@(?!sha\d)[A-Za-z0-9])"
        ),
    ),
    ("url-login", (":thin:",), re.compile(r"(?<=:thin:)(?!<redacted)[^\s/@]{1,80}/[^\s@]{1,80}(?=@)")),
    (
        "login",
        (" -u ", "--user ", "--user=", "--proxy-user "),
        re.compile(r"(?:(?<= -u )|(?<=-user[ =]))[\w.@-]{0,60}?[A-Za-z][\w.@-]{0,60}:(?!/)[^\s:]+"),
    ),
    ("password", ("sshpass",), re.compile(r"(?:(?<=\bsshpass -p)|(?<=\bsshpass -p ))[^\s<]\S*")),
    ("password", ("mysql",), re.compile(r"(?:(?<=\bmysql -p)|(?<=\bmysqldump -p)|(?<=\bmysqladmin -p))[^\s<]\S*")),
    ("password", ("requirepass ", "masterauth "), re.compile(r"(?:(?<=\brequirepass )|(?<=\bmasterauth ))[^\s<]\S*")),
    ("password", ("redis-cli",), re.compile(r"(?<=\bredis-cli -a )[^\s<]\S*")),
    ("password", ("-passin pass:", "-passout pass:"), re.compile(r"(?<= pass:)[^\s<]\S*")),
    ("token", ("wandb login ",), re.compile(r"(?<=\bwandb login )[A-Za-z0-9_-]{16,}")),
    ("authorization", ("earer ", "EARER "), re.compile(r"(?<=\b[Bb]earer )[\w.~+/=-]{6,}|(?<=\bBEARER )[\w.~+/=-]{6,}")),
    ("authorization", ("asic ",), re.compile(r"(?<=\b[Bb]asic )[A-Za-z0-9+/]{8,}={0,2}")),
    ("authorization", ("igest ",), re.compile(r"(?<=\b[Dd]igest )\w+=\"[^\n]*")),
    ("jwt", ("eyJ",), re.compile(r"\beyJ[\w-]{6,500}\.[\w-]{6,}(?:\.[\w-]*)?")),
    ("token", ("sk-",), re.compile(r"\bsk-(?=[\w-]{0,100}\d)[\w-]{16,}")),
    ("token", ("hf_", "npm_", "gsk_"), re.compile(r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{20,}|npm_\w{30,}|gsk_[A-Za-z0-9]{20,})")),
    (
        "token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "glrt-", "gldt-", "glptt-", "glft-", "GR1348941"),
        re.compile(r"\b(?:gh[pousr]_\w{20,}|gl(?:pat|rt|dt|ptt|ft)-[\w-]{16,}|GR1348941[\w-]{16,})"),
    ),
    ("token", ("github_pat_", "_v1_"), re.compile(r"\b(?:github_pat_\w{20,}|do[opr]_v1_\w{40,})")),
    ("token", ("xox", "xapp-"), re.compile(r"\b(?:xox[abeoprs]|xapp)-[\w-]{10,}")),
    ("token", ("AKIA", "ASIA"), re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}(?::[A-Za-z0-9/+=]{40})?")),
    ("token", ("AIza", "ya29.", "GOCSPX-", "1//0"), re.compile(r"\b(?:AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{30,})")),
    ("token", ("nvapi-", "pypi-"), re.compile(r"\b(?:nvapi-[\w-]{20,}|pypi-[\w-]{40,})")),
    ("token", ("SG.", "hvs.", "hvb."), re.compile(r"\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|hv[sb]\.[\w-]{20,})")),
    ("token", ("k_live_", "k_test_", "whsec_"), re.compile(r"\b(?:[prs]k_(?:live|test)_\w{16,}|whsec_[\w+/=]{16,})")),
    (
        "token",
        ("dapi", "r8_", "shpat_", "shpca_", "shppa_", "shpss_"),
        re.compile(r"\b(?:dapi[0-9a-f]{32}|r8_[A-Za-z0-9]{30,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})\b"),
    ),
    ("token", ("dckr_", "lin_api_", "ATATT"), re.compile(r"\b(?:dckr_[op]at_[\w-]{20,}|lin_api_\w{30,}|ATATT3[\w=-]{30,})")),
    ("token", ("8Q~", "7Q~"), re.compile(r"\b\w{3}[78]Q~[\w.~-]{30,}")),
    ("token", ("AGE-SECRET-KEY-",), re.compile(r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}")),
    ("token", ("hooks.slack.com/", "/api/webhooks/"), re.compile(r"(?:(?<=hooks\.slack\.com/services/)|(?<=/api/webhooks/))[\w/-]{20,}")),
    ("token", ("/bot",), re.compile(r"(?<=/bot)\d{6,}:[\w-]{30,}")),
    ("password-hash", ("$",), re.compile(r"\$(?:1|2[abxy]|5|6|y|7|apr1|argon2\w{1,2}|pbkdf2[\w-]*)\$[\w./$=,+-]{20,}")),
)


def redact_shapes(text: str) -> str:
    """The text without what its shape gives away; as many lines as before."""
    if "-----BEGIN " in text:
        text = _PRIVATE_KEY.sub(_same_height, text)
    if "Private-Lines: " in text:
        text = _PUTTY_KEY.sub(_same_height, text)
    for kind, signs, shape in _SHAPES:
        if any(sign in text for sign in signs):
            text = shape.sub(placeholder(kind), text)
    return text


def open_key(text: str) -> int:
    """Where a private key begins that does not end in this text; the text's length where there is none."""
    at = text.rfind("-----BEGIN ")
    return at if at >= 0 and "-----END " not in text[at:] and "PRIVATE KEY" in text[at : at + 60] else len(text)


def _same_height(match: re.Match[str]) -> str:
    """A secret of several lines leaves as many: line numbers below it stay true."""
    return placeholder("private-key") + "\n" * match[0].count("\n")
