"""Settings: read once from the environment and the XDG directories, frozen, passed by constructor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from agent.domain.errors import UsageError

_APP = "rca"
GENERAL_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "VIRTUAL_ENV", "CONDA_PREFIX",
    "HOME", "PWD", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "XDG_CACHE_HOME",
    "CUDA_*", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NCCL_*", "GLOO_*", "UCX_*", "NVSHMEM_*",
    "TORCH_*", "PYTORCH_*", "TORCHINDUCTOR_*", "TRITON_*", "TOKENIZERS_PARALLELISM", "OMP_NUM_THREADS",
    "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
)  # fmt: skip
"""Environment variables that may leave a host for every product; a product's own names stand in its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Bounds of the language-model part: steps, tokens, seconds of one investigator; tokens and seconds in all; how many at once."""

    steps: int = 20
    tokens: int = 200_000
    seconds_each: float = 300.0
    total_tokens: int = 600_000
    seconds: float = 600.0
    parallel: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that outlives one command line."""

    cache_dir: Path
    data_dir: Path
    config_dir: Path
    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    budget: Budget = field(default_factory=Budget)
    ask_always: bool = False
    """Ask the model also where the cause is known."""
    connect_timeout: float = 10.0
    login_timeout: float = 10.0
    max_hosts: int = 32
    hard_mode: bool = False
    """Shells on hosts see every file system mounted read-only; RCA_HARD_MODE=1."""

    @property
    def playbook_dir(self) -> Path:
        """Where a user's own playbooks lie."""
        return self.config_dir / "playbooks"

    @property
    def known_hosts(self) -> Path:
        """The product's own known_hosts; the user's is never written."""
        return self.config_dir / "known_hosts"


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; ``RCA_HOME`` puts every directory under one (for tests and shared machines)."""
    env = os.environ if environ is None else environ
    home = env.get("RCA_HOME", "")
    return Settings(
        cache_dir=Path(home, "cache") if home else Path(platformdirs.user_cache_dir(_APP)),
        data_dir=Path(home, "data") if home else Path(platformdirs.user_data_dir(_APP)),
        config_dir=Path(home, "config") if home else Path(platformdirs.user_config_dir(_APP)),
        model=env.get("RCA_MODEL", ""),
        base_url=env.get("OPENAI_BASE_URL", ""),
        api_key=env.get("OPENAI_API_KEY", ""),
        hard_mode=env.get("RCA_HARD_MODE", "") not in ("", "0"),
        budget=_budget(env),
        ask_always=env.get("RCA_ASK_ALWAYS", "") not in ("", "0"),
    )


def _budget(env: Mapping[str, str]) -> Budget:
    """``RCA_MODEL_SECONDS`` and ``RCA_MODEL_TOKENS`` bound the language-model part of every run."""
    given = Budget()
    seconds = _number(env, "RCA_MODEL_SECONDS", given.seconds)
    tokens = int(_number(env, "RCA_MODEL_TOKENS", given.total_tokens))
    return replace(
        given, seconds=seconds, seconds_each=min(given.seconds_each, seconds), total_tokens=tokens, tokens=min(given.tokens, tokens)
    )


def _number(env: Mapping[str, str], name: str, default: float) -> float:
    try:
        value = float(env.get(name) or default)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise UsageError(f"{name} is {env[name]!r}, which is no number above 0")
    return value


def shipped_directory(name: str) -> Path:
    """``playbooks`` or ``prompts``: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_shipped" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise UsageError(f"the {name} directory is not part of this installation", hint="pip install --force-reinstall rca-agent")
