# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a sandbox should be: the view that scripts have of what the form edits and experiment.toml holds.

Every field of a spec has its place here, so that `SandboxConfig.from_spec(config.to_spec())` is the same config. The
daemon says what is wrong in one; nothing is checked twice.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

NOTEBOOK_PACKAGES = (
    "jupyter_server", "ipykernel", "jupyter", "jupyter_client", "nbformat", "tornado", "fastmcp", "Pillow",
    "requests", "torch", "transformers", "accelerate", "pandas", "matplotlib", "numpy", "seaborn", "datasets",
)  # fmt: skip


class ExecutionMode(str, enum.Enum):
    """How an agent works in a full sandbox. A scoped one has none."""

    CLI = "cli"
    NOTEBOOK = "notebook"


@dataclass
class ModelConfig:
    name: str
    var_name: str = "model"
    hidden: bool = False
    is_peft: bool = False
    base_model: Optional[str] = None
    load_as_peft: bool = False
    path: Optional[str] = None  # a folder on this machine instead of a download

    def to_spec(self, base: Optional[Path] = None) -> Dict[str, Any]:
        spec = _set_fields(self)
        if self.path and base is not None:
            spec["path"] = _absolute(self.path, base)
        return spec


@dataclass
class RepoConfig:
    url: str  # whole, or "org/repo"
    dockerfile: Optional[str] = None
    install: Union[str, bool, None] = None  # a command run in the clone

    def to_spec(self) -> Dict[str, Any]:
        return {name: value for name, value in _set_fields(self).items() if value is not False}


@dataclass
class Mount:
    """A file or folder that is not copied: the sandbox sees this machine's own."""

    local: str
    inside: str
    mode: str = "read-only"  # or "writable"


Place = Union[Tuple[str, str], Mount]


@dataclass
class SandboxConfig:
    python_packages: List[str] = field(default_factory=list)
    system_packages: List[str] = field(default_factory=list)
    python_version: str = "3.11"
    gpu: Optional[str] = None
    gpu_count: int = 1
    docker_in_docker: bool = False
    execution_mode: Optional[ExecutionMode] = ExecutionMode.CLI
    debug: bool = False
    timeout: Optional[int] = None  # seconds; None: no end on this machine, an hour where time costs money
    secrets: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    encrypted_ports: List[int] = field(default_factory=list)
    jupyter_port: Optional[int] = None  # None: assigned
    rpc_port: Optional[int] = None
    debug_port: Optional[int] = None
    rpc_timeout: int = 600
    wait_timeout: int = 300
    notebook_packages: List[str] = field(default_factory=lambda: list(NOTEBOOK_PACKAGES))
    models: List[ModelConfig] = field(default_factory=list)
    repos: List[RepoConfig] = field(default_factory=list)
    local_files: List[Place] = field(default_factory=list)
    local_dirs: List[Place] = field(default_factory=list)
    # Beyond the documents.
    name: Optional[str] = None
    provider: str = "local"
    scoped: bool = False
    interpreter: Optional[str] = None  # "use my Python": one of this machine instead of an image
    cpu: Optional[float] = None
    memory: Union[int, str, None] = None  # bytes, or "8 GiB"
    disk: Union[int, str, None] = None
    idle_timeout: Optional[int] = None
    spend_cap: Optional[float] = None
    network: Union[str, List[str], None] = None  # "off", "on", or the hosts it may reach
    tags: Dict[str, str] = field(default_factory=dict)
    unknown: Dict[str, Any] = field(default_factory=dict)  # fields of a newer version; they survive

    def to_spec(self, base: Optional[Path] = None) -> Dict[str, Any]:
        """As the daemon takes it. With `base`, paths on this machine are made absolute from there."""
        spec = {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.name != "unknown"}
        spec["execution_mode"] = "none" if self.execution_mode is None else ExecutionMode(self.execution_mode).value
        spec["models"] = [model.to_spec(base) for model in self.models]
        spec["repos"] = [repo.to_spec() for repo in self.repos]
        for name in ("local_files", "local_dirs"):
            spec[name] = [_place_spec(place, base) for place in spec[name]]
        return {**spec, **self.unknown}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> SandboxConfig:
        known = {each.name for each in dataclasses.fields(cls)} - {"unknown"}
        # What is not set has its default, which for most is the null that the daemon writes for it.
        given = {name: value for name, value in spec.items() if name in known and value is not None}
        config = cls(**given, unknown={name: value for name, value in spec.items() if name not in known})
        mode = given.get("execution_mode", "cli")
        config.execution_mode = None if mode == "none" else ExecutionMode(mode)
        config.models = [ModelConfig(**model) for model in given.get("models", [])]
        config.repos = [RepoConfig(**repo) for repo in given.get("repos", [])]
        config.local_files = [_place(place) for place in given.get("local_files", [])]
        config.local_dirs = [_place(place) for place in given.get("local_dirs", [])]
        return config


def _set_fields(value: Any) -> Dict[str, Any]:
    """Those without a default, and those that differ from it."""
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)
            if getattr(value, each.name) != each.default}


def _absolute(path: str, base: Path) -> str:
    return str((base / Path(path).expanduser()).resolve())


def _place(place: Any) -> Place:
    return Mount(**place) if isinstance(place, Mapping) else (place[0], place[1])


def _place_spec(place: Place, base: Optional[Path]) -> Any:
    local, inside = (place.local, place.inside) if isinstance(place, Mount) else (str(place[0]), str(place[1]))
    if base is not None:
        local = _absolute(local, base)
    return {"local": local, "inside": inside, "mode": place.mode} if isinstance(place, Mount) else [local, inside]
