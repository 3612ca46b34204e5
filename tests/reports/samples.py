"""Investigations to render: the founding case in full, and the same with hostile content from the host."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from agent.domain.investigation import (
    AgentRecord,
    Cause,
    ChainStep,
    Cost,
    DecisiveGuard,
    Finding,
    Fix,
    Hypothesis,
    Investigation,
    LaunchInfo,
    NumberExplained,
    RunInfo,
    Subject,
    Symptom,
    TargetVerdict,
    UnknownThing,
)
from agent.domain.source import Evidence
from agent.domain.verdict import CallStep, Change, Counterfactual, Guard, NextEvent, Operand, PathCondition, Place

HOST = "gpu-07"
OBSERVED = "2026-05-01T15:20:03Z"
DRAFT = "/data/eagle3/output_10k_sglang/4"
RUNNER = "sglang/srt/model_executor/model_runner.py"
SPEC = "sglang/srt/speculative/spec_info.py"
GUARD = "self.spec_algorithm.is_eagle3() and not self.is_draft_worker"
_OPTIONS = (
    "--model-path /shared/kimi-k2.5-int4 --trust-remote-code --tp-size 8 --mem-fraction-static 0.85 --host 0.0.0.0 --port 8000"
    " --speculative-algorithm {algorithm} --speculative-draft-model-path /data/eagle3/output_10k_sglang/4 --speculative-num-steps 3"
    " --speculative-eagle-topk 4 --speculative-num-draft-tokens 16 --num-continuous-decode-steps 4 --disable-custom-all-reduce"
    " --disable-cuda-graph --log-level info"
)


def launch_command(algorithm: str) -> str:
    return "python3 -m sglang.launch_server " + _OPTIONS.format(algorithm=algorithm)


def evidence(at: int, kind: str, path: str, start: int, excerpt: str, command: str = "") -> Evidence:
    """One piece of evidence whose hash is that of its excerpt."""
    end = start + excerpt.count("\n") if start else 0
    return Evidence(
        id=f"E{at}",
        kind=kind,
        host=HOST,
        path=path,
        start=start,
        end=end,
        command=command or f"sed -n {start},{end}p /srv/venv/lib/python3.11/site-packages/{path}",
        sha256=hashlib.sha256(excerpt.encode("utf-8", "surrogatepass")).hexdigest(),
        observed_at=OBSERVED,
        excerpt=excerpt,
    )


def _all_evidence() -> tuple[Evidence, ...]:
    config = '"eagle_config": {\n  "use_aux_hidden_state": true,\n  "eagle_aux_hidden_state_layer_ids": [2, 30, 58]\n}'
    return (
        evidence(1, "process", "", 0, launch_command("EAGLE"), "cat /proc/4242/cmdline"),
        evidence(2, "source", "sglang/srt/server_args.py", 467, "    speculative_algorithm: Optional[str] = None"),
        evidence(
            3,
            "source",
            SPEC,
            25,
            "    def from_string(cls, name: Optional[str]) -> SpeculativeAlgorithm:\n        if name is None:\n"
            "            return cls.NONE\n        try:\n            return cls[name.upper()]",
        ),
        evidence(4, "source", SPEC, 40, "    def is_eagle3(self) -> bool:\n        return self == SpeculativeAlgorithm.EAGLE3"),
        evidence(5, "source", RUNNER, 344, f"        self.eagle_use_aux_hidden_state = False\n        if {GUARD}:"),
        evidence(
            6,
            "source",
            RUNNER,
            621,
            "        if self.eagle_use_aux_hidden_state:\n            self.model.set_eagle3_layers_to_capture(\n"
            "                self.eagle_aux_hidden_state_layer_ids\n            )",
        ),
        evidence(
            7,
            "source",
            "sglang/srt/models/llama_eagle3.py",
            162,
            "        if hidden_states.shape[-1] != embeds.shape[-1]:\n            hidden_states = self.fc(hidden_states)",
        ),
        evidence(8, "config", f"{DRAFT}/config.json", 12, config, f"cat {DRAFT}/config.json"),
        evidence(
            9,
            "absence",
            "sglang/srt/speculative/speculative_utils.py",
            0,
            "",
            "grep -n is_eagle3 sglang/srt/speculative/speculative_utils.py",
        ),
        evidence(
            10,
            "log",
            "/var/log/sglang/server.log",
            1810,
            "[2026-05-01 15:18:44 TP0] Decode batch, #running-req: 1, #token: 412, token usage: 0.00, accept len: 1.00, accept rate: 0.06, "
            "cuda graph: False, gen throughput (token/s): 61.40, #queue-req: 0",
            "tail -c 65536 /var/log/sglang/server.log",
        ),
    )


def _chain() -> tuple[ChainStep, ...]:
    rows = (
        ("", 0, "--speculative-algorithm EAGLE", "config", "'EAGLE'", "E1"),
        ("sglang/srt/server_args.py", 467, "speculative_algorithm: Optional[str] = None", "config", "'EAGLE'", "E2"),
        (SPEC, 29, "return cls[name.upper()]", "call", "SpeculativeAlgorithm.EAGLE", "E3"),
        (SPEC, 41, "return self == SpeculativeAlgorithm.EAGLE3", "definition", "False", "E4"),
        (RUNNER, 345, f"if {GUARD}:", "guard", "False", "E5"),
        (RUNNER, 621, "if self.eagle_use_aux_hidden_state:", "guard", "False", "E6"),
        (RUNNER, 622, "self.model.set_eagle3_layers_to_capture(", "effect", "never runs", "E6"),
        (
            "sglang/srt/models/llama_eagle3.py",
            162,
            "if hidden_states.shape[-1] != embeds.shape[-1]:",
            "effect",
            "7168 != 7168 is False: fc is skipped",
            "E7",
        ),
    )
    return tuple(ChainStep(path=p, line=n, text=t, role=r, value=v, evidence=e) for p, n, t, r, v, e in rows)


def _paths() -> tuple[PathCondition, ...]:
    grpc = Guard(
        path="sglang/launch_server.py", line=16, condition="server_args.grpc_mode", polarity=False, truth="false", function="run_server"
    )
    aux = Guard(
        path=RUNNER,
        line=345,
        condition=GUARD,
        truth="false",
        function="ModelRunner.__init__",
        decisive_operand="self.spec_algorithm.is_eagle3()",
        operands=(
            Operand(
                text="self.spec_algorithm.is_eagle3()",
                value="False",
                from_=(Place(path=SPEC, line=41), Place(path=SPEC, line=29), Place(path="sglang/srt/server_args.py", line=467)),
            ),
            Operand(text="not self.is_draft_worker", value="True", from_=(Place(path="sglang/srt/managers/tp_worker.py", line=247),)),
        ),
    )
    calls = (
        ("sglang/launch_server.py", 35, "run_server", ""),
        ("sglang/srt/entrypoints/http_server.py", 1894, "launch_server", ""),
        ("sglang/srt/managers/scheduler.py", 3130, "run_scheduler_process", ""),
        ("sglang/srt/managers/tp_worker.py", 330, "TpModelWorker._init_model_runner", "target"),
    )
    steps = tuple(CallStep(path=p, line=n, function=f, instance=i) for p, n, f, i in calls)
    return (PathCondition(calls=steps, guards=(grpc, aux), open=False),)


def _finding() -> Finding:
    return Finding(
        id="F1",
        title="EAGLE was asked for, the draft is an EAGLE3 draft",
        summary=(
            "The server runs with `--speculative-algorithm EAGLE`, so `is_eagle3()` is false, the block that turns the "
            "capture of auxiliary hidden states on never runs, and the draft gets 7168 wide states where its fusion layer was trained "
            "on 21504."
        ),
        confidence="proved",
        assumptions=(),
        cause=Cause(kind="flag", name="--speculative-algorithm", actual="EAGLE", required=("EAGLE3",), evidence=("E1", "E2")),
        guard=DecisiveGuard(
            path=RUNNER,
            line=345,
            condition=GUARD,
            truth="false",
            decisive_operand="self.spec_algorithm.is_eagle3()",
            function="ModelRunner.__init__",
        ),
        targets=(
            TargetVerdict(path=RUNNER, line=353, text="self.eagle_use_aux_hidden_state = True", verdict="never"),
            TargetVerdict(path=RUNNER, line=622, text="self.model.set_eagle3_layers_to_capture(", verdict="never"),
            TargetVerdict(
                path="sglang/srt/model_executor/cuda_graph_runner.py",
                line=365,
                text="self.model_runner.model.set_eagle3_layers_to_capture()",
                verdict="never",
            ),
        ),
        chain=_chain(),
        counterfactual=Counterfactual(
            change=(Change(name="--speculative-algorithm", from_="EAGLE", to="EAGLE3"),),
            opens=(Place(path=RUNNER, line=353), Place(path=RUNNER, line=622)),
            next=(
                NextEvent(
                    kind="closed_guard",
                    path="sglang/srt/model_executor/model_runner.py",
                    line=2131,
                    text="init_device_graphs returns early: disable_cuda_graph",
                ),
            ),
        ),
        fix=Fix(
            summary="Start the server with EAGLE3.",
            command=launch_command("EAGLE3"),
            warnings=("The server must be restarted; running requests are lost.",),
        ),
        paths=_paths(),
    )


def run(**changes: Any) -> RunInfo:
    given = {
        "id": "20260501-152001-k3f9",
        "started_at": "2026-05-01T15:20:01Z",
        "duration_s": 1.84,
        "host": HOST,
        "transport": "asyncssh",
        "rca_version": "0.1.0",
    }
    return RunInfo(**{**given, **changes})


def founding(**changes: Any) -> Investigation:
    """The founding case on 0.5.9, as a run without a language model reports it."""
    sample = Investigation(
        run=run(),
        symptom=Symptom.parse("hidden dim 7168 where fc expects 21504, accept length 1.0"),
        outcome="cause_confirmed",
        subject=Subject(package="sglang", version="0.5.9", root="/srv/venv/lib/python3.11/site-packages", modified_files=()),
        launch=LaunchInfo(
            argv=tuple(launch_command("EAGLE").split()),
            env={"NCCL_DEBUG": "WARN", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"},
            cwd="/srv",
            pid=4242,
            source="process",
        ),
        findings=(_finding(),),
        hypotheses=_hypotheses(),
        unknowns=(
            UnknownThing(
                what="what port 8000 answers now",
                why="HTTP probes were not allowed",
                settle_by="rca run --http",
            ),
        ),
        evidence=_all_evidence(),
        numbers=(
            NumberExplained(number=7168, formula="hidden_size of the target's config.json", evidence=("E8",)),
            NumberExplained(number=21504, formula="3 auxiliary layers x hidden_size 7168", evidence=("E8",)),
        ),
        agents=_agents(),
        reproduce=(
            "tr '\\0' ' ' </proc/4242/cmdline",
            f"sed -n 344,346p /srv/venv/lib/python3.11/site-packages/{RUNNER}",
            f"sed -n 40,41p /srv/venv/lib/python3.11/site-packages/{SPEC}",
        ),
        playbook="eagle3-aux-capture",
        matched_because="the symptom names 7168, the target's hidden_size",
        cost=Cost(commands=41, round_trips=7, bytes=486_120, files=23),
    )
    return replace(sample, **changes)


def _hypotheses() -> tuple[Hypothesis, ...]:
    rows = (
        ("the launch flag names the wrong algorithm", "confirmed", "is_eagle3() is false for SpeculativeAlgorithm.EAGLE", ("E1", "E4")),
        ("the model wrapper does not delegate", "refuted", "the call at model_runner.py:622 is never reached", ("E6",)),
        ("a bare except swallows an error", "refuted", "the try at model_runner.py:355 stands inside the block that never runs", ("E5",)),
        ("hidden states are concatenated wrongly", "refuted", "nothing is captured, so nothing is concatenated", ("E6",)),
        ("the draft's config is parsed wrongly", "refuted", "eagle_config is present with layers 2, 30 and 58", ("E8",)),
        ("CUDA graphs replay a stale shape", "undecided", "graphs are off under --disable-cuda-graph; not examined further", ()),
    )
    return tuple(Hypothesis(id=f"H{at}", claim=c, status=s, why=w, evidence=e) for at, (c, s, w, e) in enumerate(rows, 1))


def _agents() -> tuple[AgentRecord, ...]:
    rows = (
        ("launch", "read the launch command", "done", "EAGLE, pid 4242"),
        ("configs", "read target and draft config.json", "done", "eagle_config has 3 layers"),
        ("log", "read the server's log", "done", "accept len 1.00 in 212 decode lines"),
        ("source", "find is_eagle3", "done", "speculative_utils.py does not exist; found in spec_info.py"),
        ("guard 1", "trace call:set_eagle3_layers_to_capture", "done", "never: model_runner.py:345"),
        ("http", "ask /server_info", "skipped", "HTTP probes were not allowed"),
    )
    return tuple(AgentRecord(name=n, task=t, status=s, summary=r) for n, t, s, r in rows)


def nothing_found() -> Investigation:
    """A healthy launch: nobody is accused."""
    return founding(findings=(), outcome="no_fault_found", hypotheses=(), numbers=(), unknowns=(), evidence=_all_evidence()[:1])


def failed() -> Investigation:
    """The host answered, the process was not there: only unknowns."""
    missing = UnknownThing(what="the launch command", why="no process on gpu-07 runs a known server", settle_by="rca run --pid PID")
    return founding(
        outcome="failed", subject=None, launch=None, findings=(), hypotheses=(), numbers=(), evidence=(), unknowns=(missing,), reproduce=()
    )


HOSTILE = (
    "@octocat please #12 and org/repo#7 !3 $4 ~label %milestone &5 GH-8 ABC-9",
    "```\n# broken out\n```",
    "~~~\n/close\n/assign @root\n",
    "</pre></code></details><script>alert(1)</script><img src=x onerror=alert(2)>",
    "[click](https://evil.example/) ![x](https://evil.example/x.png) <https://evil.example> www.evil.example evil@example.com",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b2J",
    "abc\u202egnp.exe \u2066x\u2069 zero\u200bwidth \ufeff tag\U000e0041",
    "| a | b |\n|---|---|\n| c | d |",
    "`x` ``y`` ```z``` \\` trailing \\",
    "]]> --> <!-- {{ 7 * 7 }} {% raw %} ${jndi:x} *bold* _it_ __init__ ~~gone~~ :smile: deadbeefcafe1234567890deadbeefcafe12345678",
    "---\ntitle: x\n---\n# h1\n> quote\n- item\n1. one\n===\n",
    '"] --> evil["x\nclick n1 "javascript:alert(1)"\nend',
    "nul\x00 bell\x07 back\x08space cr\rhere \udc80",
)


def hostile(text: str) -> Investigation:
    """The founding case with ``text`` in every place that host or user content can reach."""
    base = founding()
    finding = base.findings[0]
    assert finding.guard and finding.counterfactual and finding.fix
    guard = replace(finding.paths[0].guards[1], condition=text, function=text, operands=(Operand(text=text, value=text, from_=()),))
    return replace(
        base,
        run=run(host=text, transport=text),
        symptom=Symptom(text=text),
        subject=Subject(package=text, version=text, root=text, modified_files=(text,)),
        launch=LaunchInfo(argv=("python3", text), env={text: text}, cwd=text, pid=1, source="process"),
        findings=(
            replace(
                finding,
                title=text,
                summary=text,
                assumptions=(text,),
                cause=Cause(kind="flag", name=text, actual=text, required=(text,), evidence=("E1",)),
                guard=replace(finding.guard, path=text, condition=text, decisive_operand=text, function=text),
                targets=(TargetVerdict(path=text, line=3, text=text, verdict="never"),),
                chain=(ChainStep(path=text, line=3, text=text, role="guard", value=text, evidence="E1"),),
                counterfactual=Counterfactual(
                    change=(Change(name=text, from_=text, to=text),),
                    opens=(Place(path=text, line=3),),
                    next=(NextEvent(kind="raises", path=text, line=3, text=text),),
                ),
                fix=Fix(summary=text, command=text, warnings=(text,)),
                paths=(PathCondition(calls=(CallStep(path=text, line=3, function=text, instance=text),), guards=(guard,), open=False),),
            ),
        ),
        hypotheses=(Hypothesis(id="H1", claim=text, status="refuted", why=text, evidence=("E1",)),),
        unknowns=(UnknownThing(what=text, why=text, settle_by=text),),
        evidence=(evidence(1, "source", text, 3, text, command=text), evidence(2, "absence", text, 0, "", command=text)),
        numbers=(NumberExplained(number=7168, formula=text, evidence=("E1",)),),
        agents=(AgentRecord(name=text, task=text, status="failed", summary=text),),
        reproduce=(text,),
        playbook=text,
        matched_because=text,
    )
