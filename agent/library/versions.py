"""Version ranges as PEP 440 specifiers, in three-valued logic: an unknown version is in no range and out of none."""

from __future__ import annotations

from agent.domain.truth import Truth


def in_range(version: str, specifier: str) -> Truth:
    """Whether ``version`` lies in ``specifier``; pre- and development releases count as their release.

    Raises ValueError for a malformed specifier. An empty or unreadable version is UNKNOWN unless every version is meant.
    """
    if not specifier:
        return Truth.TRUE
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        wanted = SpecifierSet(specifier)
    except InvalidSpecifier as problem:
        raise ValueError(f"{specifier!r} is no version range: {problem}") from None
    try:
        parsed = Version(version)
    except InvalidVersion:
        return Truth.UNKNOWN
    return Truth.of(wanted.contains(parsed, prereleases=True))
