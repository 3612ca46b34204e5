"""The answer key of the founding case: lines that are never reached under EAGLE, the guard that decides, and what EAGLE3 would change."""

from __future__ import annotations

import functools
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.domain.launch import Launch
from agent.domain.source import Absent
from agent.domain.verdict import AuditAnswer, Change, PathCondition, WhyAnswer
from agent.evaluation.engine import LaunchEngine, open_engine
from agent.hosts.local_tree import DirectoryTree
from tests.wheels import WheelTree

TARGET = "/shared/kimi-k2.5-int4"
DRAFT = "/data/eagle3/output_10k_sglang/4"
COMMAND = (
    f"python3 -m sglang.launch_server --model-path {TARGET} --trust-remote-code --tp-size 8 --mem-fraction-static 0.85 --host 0.0.0.0 --port 8000 "  # noqa: E501
    f"--speculative-algorithm EAGLE --speculative-draft-model-path {DRAFT} --speculative-num-steps 3 --speculative-eagle-topk 4 "
    "--speculative-num-draft-tokens 16 --num-continuous-decode-steps 4 --disable-custom-all-reduce --disable-cuda-graph --log-level info"
)
CONFIGS: dict[str, Any] = {
    f"{TARGET}/config.json": {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "model_type": "kimi_k25",
        "text_config": {
            "architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2", "hidden_size": 7168, "num_hidden_layers": 61,
            "num_attention_heads": 64, "num_key_value_heads": 64, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
            "v_head_dim": 128, "vocab_size": 163840, "max_position_embeddings": 262144, "n_routed_experts": 384,
        },
    },
    f"{DRAFT}/config.json": {
        "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 7168, "num_hidden_layers": 1, "num_attention_heads": 64,  # noqa: E501
        "num_key_value_heads": 64, "vocab_size": 163840, "draft_vocab_size": 32000, "max_position_embeddings": 262144,
        "eagle_config": {"use_aux_hidden_state": True, "eagle_aux_hidden_state_layer_ids": [2, 30, 58]},
    },
}  # fmt: skip
RUNNER = "sglang/srt/model_executor/model_runner.py"
GRAPHS = "sglang/srt/model_executor/cuda_graph_runner.py"
AUX = "sglang/srt/model_executor/model_runner_components/spec_aux_hidden_state.py"
EAGLE3 = Change(name="--speculative-algorithm", from_="EAGLE", to="EAGLE3")


class Configs:
    """The two config.json and nothing else."""

    def read(self, path: str) -> bytes | Absent:
        return json.dumps(CONFIGS[path]).encode() if path in CONFIGS else Absent(path=path)

    def is_dir(self, path: str) -> bool:
        return any(name.startswith(path.rstrip("/") + "/") for name in CONFIGS)


@functools.cache
def engine_at(root: Path) -> LaunchEngine:
    """One engine a release and process."""
    launch = Launch(argv=tuple(shlex.split(COMMAND)), env={"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}, cwd="/root")
    return open_engine(DirectoryTree(root, ["sglang"]), launch, files=Configs())


@functools.cache
def audit_at(root: Path) -> AuditAnswer:
    return engine_at(root).audit()


@functools.cache
def under_eagle3(root: Path) -> LaunchEngine:
    return engine_at(root).under([EAGLE3])


@dataclass(frozen=True)
class Key:
    """A row: the line asked about and the guard that decides."""

    release: str
    file: str
    line: int
    guard: int
    condition: str


KEYS = [
    Key("0.5.9", RUNNER, 347, 345, "is_eagle3()"),
    Key("0.5.9", RUNNER, 622, 621, "eagle_use_aux_hidden_state"),
    Key("0.5.9", RUNNER, 1906, 1905, "eagle_use_aux_hidden_state"),
    Key("0.5.9", GRAPHS, 365, 362, "is_eagle3()"),
    Key("0.5.10.post1", RUNNER, 668, 667, "eagle_use_aux_hidden_state"),
    Key("0.5.10.post1", RUNNER, 358, 356, "is_eagle3()"),
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.release}-{Path(key.file).stem}-{key.line}")
def test_never_reached_and_the_guard_that_decides(wheel_tree: WheelTree, key: Key) -> None:
    answer = engine_at(wheel_tree("sglang", key.release)).why(f"{key.file}:{key.line}", counterfactuals=False)
    assert answer.verdict == "never", answer.reason
    assert answer.decisive is not None
    assert (answer.decisive.path, answer.decisive.line) == (key.file, key.guard)
    assert key.condition in answer.decisive.condition


def paths_of(answer: WhyAnswer, *, draft: bool) -> list[PathCondition]:
    """Call paths on which the runner is the draft's (made by an EAGLE worker) or the target's."""
    return [path for path in answer.paths if any("eagle" in step.path.lower() or "Eagle" in step.instance for step in path.calls) is draft]


def test_one_class_two_instances_two_answers(wheel_tree: WheelTree) -> None:
    answer = under_eagle3(wheel_tree("sglang", "0.5.9")).why(f"{RUNNER}:347", counterfactuals=False)
    assert answer.verdict in ("may", "always")
    targets, drafts = paths_of(answer, draft=False), paths_of(answer, draft=True)
    assert targets and any(path.open is not False for path in targets)
    assert drafts and all(path.open is False for path in drafts)


def test_under_eagle3_the_lines_open(wheel_tree: WheelTree) -> None:
    engine = under_eagle3(wheel_tree("sglang", "0.5.9"))
    for line in (347, 622):
        assert engine.why(f"{RUNNER}:{line}", counterfactuals=False).verdict != "never", line


@pytest.mark.parametrize("release", ["0.5.8", "0.5.9", "0.5.10.post1"])
def test_dead_configuration_without_a_playbook(wheel_tree: WheelTree, release: str) -> None:
    dead = {key.key.partition(".")[0]: key for key in audit_at(wheel_tree("sglang", release)).dead_config}
    assert "eagle_config" in dead
    key = dead["eagle_config"]
    assert any(reader.path == RUNNER and reader.decisive is not None and "is_eagle3" in reader.decisive.condition for reader in key.readers)
    changes = [change for counterfactual in key.counterfactuals for change in counterfactual.change]
    assert ("--speculative-algorithm", "EAGLE3") in [(change.name, change.to) for change in changes]


READ_FOR_THE_DRAFT = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"


@pytest.mark.parametrize("release", ["0.5.8", "0.5.9", "0.5.10.post1"])
def test_nothing_else_is_accused(wheel_tree: WheelTree, release: str) -> None:
    """The variable's reader is passed by while the target's config is made, and met when the draft's is."""
    root = wheel_tree("sglang", release)
    assert {key.key.partition(".")[0] for key in audit_at(root).dead_config} == {"eagle_config"}
    for audit in (audit_at(root), under_eagle3(root).audit()):
        rows = {row.name: row for row in audit.settings}
        assert rows[f"env:{READ_FOR_THE_DRAFT}"].verdict == "as_asked"
        assert "never_read" not in {row.verdict for row in rows.values()}
        overridden = {name: row.asked.source for name, row in rows.items() if row.verdict == "overridden"}
        assert "disable_overlap_schedule" in overridden and set(overridden.values()) == {"default"}, "nothing that was given"
        assert not [each for each in audit.raises if each.certainty == "always"]
        assert not [smell for smell in audit.smells if "multi_layer" in smell.path], "that model is one of several drafts"


@pytest.mark.parametrize("release", ["0.5.8", "0.5.9", "0.5.10.post1"])
def test_under_eagle3_no_key_is_dead(wheel_tree: WheelTree, release: str) -> None:
    audit = under_eagle3(wheel_tree("sglang", release)).audit()
    assert audit.dead_config == ()
    assert not [key for key in audit.unread_keys if key.file in ("environment", "command line")]


def test_the_alias_leaves_eagle_alone(wheel_tree: WheelTree) -> None:
    engine = engine_at(wheel_tree("sglang", "0.5.9"))
    assert getattr(engine.setting("speculative_algorithm"), "value", None) == "EAGLE"
    renamed = engine.under([Change(name="--speculative-algorithm", from_="EAGLE", to="NEXTN")])
    assert getattr(renamed.setting("speculative_algorithm"), "value", None) == "EAGLE"


def test_lower_case_is_rejected_by_the_command_line(wheel_tree: WheelTree) -> None:
    engine = engine_at(wheel_tree("sglang", "0.5.9")).under([Change(name="--speculative-algorithm", from_="EAGLE", to="eagle3")])
    assert any(each.certainty == "always" and "invalid choice" in each.message for each in engine.audit().raises)


def test_where_the_code_moved(wheel_tree: WheelTree) -> None:
    answer = engine_at(wheel_tree("sglang", "0.5.23")).why(f"{AUX}:186", counterfactuals=False)
    assert answer.verdict == "never", answer.reason
    assert answer.decisive is not None and (answer.decisive.path, answer.decisive.line) == (AUX, 185)
