"""What a run keeps of its request: enough to go on, no secret, and what is given again goes first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli.options import What, Where
from agent.cli.resuming import Asked, KeptAnswers, taken_up
from agent.config import Settings, load_settings
from agent.domain.errors import UsageError
from agent.store import RunStore
from tests.reports import samples

WHERE = Where(hosts=("root@gpu-07:2222",), identity=("key",), transport="asyncssh", container="docker:x")
WHAT = What(pid=42, launch="python3 -m server --port 8000", env={"NCCL_DEBUG": "INFO"}, assume={"gpus": 8, "names": ["a"]})
NOTHING = Asked(symptom="", where=Where(), what=What(), playbooks=())


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return load_settings({"RCA_HOME": str(tmp_path)})


def begun(config: Settings, asked: Asked) -> None:
    answers = KeptAnswers(config, "run-1")
    answers.keep({"transport": b"asyncssh"})
    answers.begin(asked, "gpu-07", "2026-05-01T10:00:00Z")
    answers.keep({"features": b"{}"})
    answers.close()


def test_the_request_comes_back(config: Settings) -> None:
    begun(config, Asked(symptom="7168", where=WHERE, what=WHAT, playbooks=("eagle",)))
    asked = taken_up(config, "last", NOTHING)
    assert asked == Asked(symptom="7168", where=WHERE, what=WHAT, playbooks=("eagle",), run_id="run-1", started_at="2026-05-01T10:00:00Z")
    answers = KeptAnswers(config, "run-1")
    answers.recollect()
    assert (answers.recall("transport"), answers.recall("features"), answers.recall("else")) == (b"asyncssh", b"{}", None)
    answers.close()


def test_what_is_given_now_goes_first(config: Settings) -> None:
    begun(config, Asked(symptom="7168", where=WHERE, what=WHAT, playbooks=()))
    asked = taken_up(config, "run-1", Asked(symptom="other", where=Where(transport="openssh"), what=What(pid=43), playbooks=("p",)))
    assert (asked.symptom, asked.where.transport, asked.where.hosts, asked.what.pid, asked.what.launch, asked.playbooks) == (
        "other",
        "openssh",
        WHERE.hosts,
        43,
        WHAT.launch,
        ("p",),
    )


@pytest.mark.parametrize(
    "what",
    [
        What(launch="python3 -m server --api-key sk-secret-0123456789abcdef"),
        What(env={"HF_TOKEN": "hf_secret0123456789abcdefghijkl"}),
    ],
)
def test_a_secret_is_not_kept_and_has_to_be_given_again(config: Settings, what: What) -> None:
    asked = Asked(symptom="7168", where=WHERE, what=what, playbooks=())
    begun(config, asked)
    assert "secret" not in json.dumps(asked.kept())
    assert b"secret" not in b"".join(path.read_bytes() for path in config.data_dir.rglob("*") if path.is_file())
    with pytest.raises(UsageError, match="was given a secret, which is not kept"):
        taken_up(config, "run-1", NOTHING)
    with pytest.raises(UsageError, match="was given a secret"):
        taken_up(config, "run-1", Asked(symptom="", where=Where(), what=What(pid=7), playbooks=()))
    assert taken_up(config, "run-1", Asked(symptom="", where=Where(), what=what, playbooks=())).what == what


def test_what_cannot_be_taken_up(config: Settings) -> None:
    store = RunStore(config.data_dir)
    store.save(samples.founding())
    store.begin("old", host="gpu-07", symptom="7168", started_at="2026-05-01T10:00:00Z")
    store.close()
    with pytest.raises(UsageError, match="is finished: cause confirmed"):
        taken_up(config, "2026", NOTHING)
    with pytest.raises(UsageError, match="kept nothing to go on with"):
        taken_up(config, "old", NOTHING)
    with pytest.raises(UsageError, match="no run 'none'"):
        taken_up(config, "none", NOTHING)


def test_a_store_that_cannot_be_written_is_told_once_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").write_text("in the way")
    answers = KeptAnswers(load_settings({"RCA_HOME": str(tmp_path)}), "run-1")
    answers.begin(NOTHING, "gpu-07", "2026-05-01T10:00:00Z")
    for at in range(3):
        answers.keep({str(at): b""})
    answers.close()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("rca: the run cannot be kept: ")
