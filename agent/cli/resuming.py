"""What a run keeps so that it can go on after an interruption: the request it was given, and every answer of its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.cli.options import What, Where
from agent.domain.errors import StoreError, UsageError
from agent.domain.investigation import Investigation, UnknownThing

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.hosts.remembering import RememberingHost

_SETTLED = ("cause_confirmed", "no_fault_found")
_PREFIX = "host/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One run as it was asked for. ``run_id`` and ``started_at`` are set where it is taken up again."""

    symptom: str
    where: Where
    what: What
    playbooks: tuple[str, ...]
    run_id: str = ""
    started_at: str = ""

    def kept(self) -> dict[str, Any]:
        """As it is stored: a placeholder stands for each secret, which has to be given again."""
        from agent.domain.redaction import is_secret, placeholder, redact_text
        from agent.domain.serialize import to_plain

        env = {name: placeholder(name) if is_secret(name, value) else value for name, value in self.what.env.items()}
        what = replace(self.what, env=env, launch=redact_text(self.what.launch))
        plain: dict[str, Any] = to_plain({"symptom": self.symptom, "where": self.where, "what": what, "playbooks": self.playbooks})
        return plain


def taken_up(config: Settings, reference: str, now: Asked) -> Asked:
    """The interrupted run's request; options given now go first. Raises UsageError where there is nothing to go on with."""
    from agent import wiring
    from agent.domain.redaction import is_redacted
    from agent.domain.restore import restore

    store = wiring.store(config)
    try:
        entry, request = store.entry(reference), store.request(reference)
    finally:
        store.close()
    if entry.outcome in _SETTLED:
        raise UsageError(f"run {entry.id} is finished: {entry.outcome.replace('_', ' ')}", hint=f"`rca report show {entry.id}`")
    if not request:
        raise UsageError(f"run {entry.id} kept nothing to go on with", hint="start it again")
    what = _laid_over(restore(What, request["what"]), now.what)
    if any(map(is_redacted, (what.launch, *what.env.values()))):
        raise UsageError(f"run {entry.id} was given a secret, which is not kept", hint="give --launch and --env again")
    return Asked(
        symptom=now.symptom or request["symptom"],
        where=_laid_over(restore(Where, request["where"]), now.where),
        what=what,
        playbooks=now.playbooks or tuple(request["playbooks"]),
        run_id=entry.id,
        started_at=entry.started_at,
    )


def way_to(config: Settings, reference: str, where: Where, what: What) -> tuple[Where, What]:
    """How a stored run reached its host, to ask it once more: options given now go first. Which process, and what it was started with,
    is never taken over. Raises UsageError for a run on a bundle, and for one on several hosts of which none is named.
    """
    from agent import wiring
    from agent.domain.restore import restore

    store = wiring.store(config)
    try:
        entry, request = store.entry(reference), store.request(reference)
    finally:
        store.close()
    named = bool(where.hosts or where.bundle or where.inventory or where.transport == "local")
    if not request:
        return (where if named else replace(where, hosts=(entry.host,))), what
    before = restore(What, request["what"])
    what = _laid_over(replace(What(), tree=before.tree, log=before.log, assume=before.assume), what)
    if named:
        return where, what
    stored = restore(Where, request["where"])
    if stored.bundle:
        raise UsageError(
            f"run {entry.id} read a bundle, which stays as it was", hint="name the host with --host, or a newer one with --bundle"
        )
    return _laid_over(stored, where), what


def _laid_over(stored: Any, given: Any) -> Any:
    """The fields of ``given`` that differ from their defaults, over ``stored``."""
    usual = type(given)()
    changed = {name: getattr(given, name) for name in given.__dataclass_fields__ if getattr(given, name) != getattr(usual, name)}
    return replace(stored, **changed)


class KeptAnswers:
    """A Memory in the store of runs."""

    def __init__(self, config: Settings, run_id: str) -> None:
        from agent import wiring

        self._store = wiring.store(config)
        self._run_id = run_id
        self._known: dict[str, bytes] = {}
        self._early: dict[str, bytes] = {}
        self._begun = self._broken = False

    def begin(self, asked: Asked, host: str, now: str) -> None:
        """Registers the run. A store that cannot be written is told once, and the run goes on without it."""
        self._attempt(
            lambda: self._store.begin(self._run_id, host=host, symptom=asked.symptom, started_at=now, request=asked.kept()), "the run"
        )
        self._begun = True
        self.keep(self._early)

    def recollect(self) -> None:
        """Makes the answers of the attempt before known."""
        kept = self._store.checkpoints(self._run_id)
        self._known = {name.removeprefix(_PREFIX): one for name, one in kept.items() if name.startswith(_PREFIX)}

    def recall(self, name: str) -> bytes | None:
        return self._known.get(name)

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """What comes before the run is registered (the login) waits for that."""
        if not self._begun:
            self._early.update(answers)
            return
        named = {f"{_PREFIX}{name}": content for name, content in answers.items()}
        self._attempt(lambda: self._store.checkpoint_all(self._run_id, named), "what --resume would need")

    def close(self) -> None:
        self._store.close()

    def _attempt(self, write: Any, what: str) -> None:
        if self._broken:
            return
        try:
            write()
        except StoreError as problem:
            from agent import wiring

            self._broken = True
            wiring.tell(f"{what} cannot be kept: {problem}", why=str(problem))


def with_interruption(found: Investigation, host: RememberingHost, asked: Asked) -> Investigation:
    """A report that rests on answers of two attempts says so: the host may have changed in between."""
    if not host.recalled:
        return found
    between = UnknownThing(
        what=f"whether the host changed between {asked.started_at} and {found.run.started_at}",
        why=f"the run was interrupted; {host.recalled} of {host.recalled + host.asked} answers were read before that",
        settle_by="a new rca run",
    )
    return replace(found, unknowns=(*found.unknowns, between))
