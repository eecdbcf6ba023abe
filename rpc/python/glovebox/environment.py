# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Sandboxes for scripts: described by a config, started, worked in, terminated.

    from glovebox.environment import ModelConfig, Sandbox, SandboxConfig

    with Sandbox(SandboxConfig(python_packages=["numpy"])).start() as sandbox:
        print(sandbox.exec_python("import numpy; print(numpy.__version__)"))

A sandbox is the daemon's: the window and the command line show it, and it lives on when the script ends without
terminating it (`Sandbox.from_id` finds it again).
"""

from __future__ import annotations

import json
import os
import shutil
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterable, List, Optional, Sequence, Type, TypeVar, Union

from .client import Client, connect
from .config import ExecutionMode, ModelConfig, Mount, RepoConfig, SandboxConfig
from .errors import GloveboxError
from .workspace import Library, Skill

__all__ = ["CommandFailed", "ExecutionMode", "ModelConfig", "ModelHandle", "Mount", "RepoConfig", "RepoHandle",
           "Sandbox", "SandboxConfig", "ScopedSandbox"]

_PIECE = 1 << 20
_LOG_BYTES = 8192
_LOOK_S = 0.05
_LOG_LINES = 20
_Self = TypeVar("_Self", bound="Sandbox")


class CommandFailed(GloveboxError):
    """A command ended with another code than 0; what it wrote is in `stdout` and `stderr`."""

    def __init__(self, command: str, code: int, stdout: str, stderr: str, timed_out: bool) -> None:
        how = "ran out of time" if timed_out else f"ended with code {code}"
        said = stderr.strip() or stdout.strip()
        super().__init__("command.failed", f"{command[:200]!r} {how}" + (f":\n{said[-4000:]}" if said else ""))
        self.exit_code = code
        self.stdout = stdout
        self.stderr = stderr
        self.timed_out = timed_out


@dataclass(frozen=True)
class ModelHandle:
    """Where a model of the sandbox lies in it. Of a hidden one nothing is said."""

    name: str
    volume_path: str
    var_name: str
    hidden: bool
    is_peft: bool
    base_model: Optional[str]
    base_model_path: Optional[str]
    load_as_peft: bool


@dataclass(frozen=True)
class RepoHandle:
    url: str
    local_path: str
    dockerfile: Optional[str]
    install: Union[str, bool, None]


class Sandbox:
    """An isolated environment with models, packages and files, in which any command can be run."""

    _scoped = False

    def __init__(self, config: Optional[SandboxConfig] = None, client: Optional[Client] = None) -> None:
        self.config = config if config is not None else SandboxConfig()
        self._given_client = client
        self._id: Optional[str] = None

    @classmethod
    def from_id(
        cls: Type[_Self], sandbox_id: str, config: Optional[SandboxConfig] = None, client: Optional[Client] = None
    ) -> _Self:
        """One that runs already; by its id, or by its name where only one has it."""
        client = client if client is not None else _shared()
        found = client.sandboxes.get(sandbox_id)
        sandbox = cls(config if config is not None else SandboxConfig.from_spec(found["spec"]), client)
        sandbox._id = found["id"]
        return sandbox

    def start(self: _Self, name: str = "") -> _Self:
        """Builds what it needs and waits until it is ready. Relative paths are seen from the current folder."""
        if self._id is not None:
            raise GloveboxError("sandbox.started", f"this sandbox was started already, as {self._id}")
        spec = self.config.to_spec(Path.cwd())
        spec["scoped"] = self._scoped
        spec["name"] = name or self.config.name or ("scoped" if self._scoped else "sandbox")
        if self.config.interpreter:
            spec["interpreter"] = shutil.which(self.config.interpreter) or self.config.interpreter
        try:
            started = self._client.sandboxes.start(spec, secrets=_from_dotenv(self.config.secrets))
        except GloveboxError as error:
            raise _field_by_field(error) from None
        try:
            ready = self._client.sandboxes.ready(started)
        except GloveboxError as error:
            raise self._with_log(error, started["sandbox"]) from None
        except BaseException:  # Ctrl+C while it is built
            self._client.jobs.cancel(started["job"])
            raise
        self._id = started["sandbox"]
        for warning in ready.get("warnings", []):
            warnings.warn(_text_of(warning), stacklevel=2)
        return self

    def terminate(self) -> None:
        """Ends it and everything in it; one that has ended already is no error."""
        if self._id is None:
            return
        try:
            job = self._client.jobs.wait(self._client.sandboxes.stop(self._id))
        except GloveboxError as error:
            if error.code != "sandbox.unknown":
                raise
            job = {}  # removed by somebody else
        if "error" in job:
            raise GloveboxError(job["error"]["code"], job["error"]["message"], job["error"].get("data"))
        self._id = None

    def __enter__(self: _Self) -> _Self:
        return self if self._id is not None else self.start()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.terminate()

    def exec(self, cmd: str, timeout: Optional[float] = None) -> str:
        """Runs a shell command to its end; its standard output, or CommandFailed."""
        return self._run(cmd, timeout, script=cmd)

    def exec_python(self, code: str, timeout: Optional[float] = None) -> str:
        """Runs code in a fresh process of the sandbox's Python; what it prints."""
        return self._run("python3", timeout, argv=["python3", "-"], stdin=code.encode())

    def write_file(self, path: str, text: Union[str, bytes]) -> None:
        self._client.sandboxes.write(self.sandbox_id, path, text.encode() if isinstance(text, str) else text)

    def read_file(self, path: str) -> str:
        whole = b""
        while True:
            answer, piece = self._client.sandboxes.read(self.sandbox_id, path, offset=len(whole), limit=_PIECE)
            whole += piece
            if not piece or len(whole) >= answer["size"]:
                return whole.decode()

    def ensure_dir(self, path: str) -> None:
        self._client.sandboxes.mkdir(self.sandbox_id, path)

    @property
    def sandbox_id(self) -> str:
        if self._id is None:
            raise GloveboxError("sandbox.not_started", "the sandbox does not run: call start() first")
        return self._id

    @property
    def model_handles(self) -> List[ModelHandle]:
        return [ModelHandle(model.name, "" if model.hidden else _model_path(model.name), model.var_name, model.hidden,
                            model.is_peft, model.base_model,
                            _model_path(model.base_model) if model.base_model and not model.hidden else None,
                            model.load_as_peft)
                for model in self.config.models]

    @property
    def repo_handles(self) -> List[RepoHandle]:
        return [RepoHandle(repo.url, "/workspace/" + repo.url.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git"),
                           repo.dockerfile, repo.install)
                for repo in self.config.repos]

    @property
    def _client(self) -> Client:
        return self._given_client if self._given_client is not None else _shared()

    def _run(
        self, shown: str, timeout: Optional[float], stdin: bytes = b"", argv: Optional[Sequence[str]] = None,
        script: Optional[str] = None,
    ) -> str:  # fmt: skip
        sandboxes, sandbox = self._client.sandboxes, self.sandbox_id
        patience = None if timeout is None else int(timeout * 1000)
        started = sandboxes.exec(sandbox, argv=argv, script=script, timeout_ms=patience, stdin=bool(stdin) or None)
        command = started["command"]
        try:
            for at in range(0, len(stdin), _PIECE):
                piece = stdin[at : at + _PIECE]
                sandboxes.stdin(sandbox, command, eof=at + _PIECE >= len(stdin), data=piece)
            ended, stdout, stderr = sandboxes.finish(sandbox, command)
        except KeyboardInterrupt:
            sandboxes.signal(sandbox, command, 2)
            raise
        out, err = stdout.decode(errors="replace"), stderr.decode(errors="replace")
        if ended["code"] != 0:
            raise CommandFailed(shown, ended["code"], out, err, ended.get("timed_out", False))
        return out

    def _with_log(self, error: GloveboxError, sandbox: str) -> GloveboxError:
        try:
            size = self._client.sandboxes.log(sandbox, offset=0, limit=1)["size"]
            text = self._client.sandboxes.log(sandbox, offset=max(0, size - _LOG_BYTES))["text"]
        except GloveboxError:
            return error  # nothing was logged
        last = "\n".join(text.splitlines()[-_LOG_LINES:])
        return GloveboxError(error.code, f"{error.message}\n{last}", error.data) if last else error


class ScopedSandbox(Sandbox):
    """One that serves the functions of an interface file, and gives an agent nothing else. It has no network."""

    _scoped = True

    def __init__(self, config: Optional[SandboxConfig] = None, client: Optional[Client] = None) -> None:
        super().__init__(config, client)
        self._interface: Optional[str] = None

    def serve(
        self, code_file: Union[str, Path], expose_as: str = "library", name: str = "interface"
    ) -> Union[Library, Skill, str, Dict[str, Any]]:
        """Loads the file inside, for as long as the config's `wait_timeout` allows.

        What comes back is for an agent: with "library" a `Library` to import, with "mcp" the configuration of an MCP
        client, with "prompt" a text, with "skill" a `Skill`."""
        if expose_as not in ("library", "mcp", "prompt", "skill"):
            raise ValueError(f"expose_as is 'library', 'mcp', 'prompt' or 'skill', not {expose_as!r}")
        served = self._client.sandboxes.serve(self.sandbox_id, str(Path(code_file).resolve()), name, wait=False)
        self._interface = served["id"]
        self._loaded(served["id"])
        made = self._client.interfaces.expose(served["id"], expose_as, name=name)
        if expose_as == "prompt":
            text: str = made["text"]
            return text
        if expose_as == "mcp":
            servers: Dict[str, Any] = json.loads(made["text"])["mcpServers"]
            return servers
        files = {file["path"]: file["text"] for file in made["files"]}
        private = frozenset(file["path"] for file in made["files"] if file["private"])
        if expose_as == "library":
            return Library(name, files, made["text"], private)
        folder = next(iter(files)).split("/")[0]
        inside = {path.split("/", 1)[1]: text for path, text in files.items()}
        head = dict(line.split(": ", 1) for line in made["text"].split("\n---\n", 1)[0].splitlines()[1:])
        return Skill(folder, json.loads(head["description"]), inside.pop("SKILL.md"), inside,
                     frozenset(path.split("/", 1)[1] for path in private))

    def _loaded(self, interface: str) -> None:
        until = time.monotonic() + self.config.wait_timeout
        while True:
            items = {each["id"]: each for each in self._client.interfaces.list()}
            item = items.get(interface, {"state": "gone"})
            if item["state"] == "ready":
                return
            if "error" in item:
                error = item["error"]
                raise GloveboxError(error["kind"], f"{error['message']}\n{error.get('traceback', '')}".strip(), error)
            if item["state"] == "gone":
                raise GloveboxError("interface.gone", "the interface ended while it was loaded")
            if time.monotonic() > until:
                patience = f"wait_timeout of {self.config.wait_timeout} s"
                raise GloveboxError("interface.slow", f"the file still loads after the config's {patience}")
            time.sleep(_LOOK_S)

    def call(self, fn: str, *args: Any, **kwargs: Any) -> Any:
        """Calls one of the served functions, as the agent would."""
        if self._interface is None:
            raise GloveboxError("sandbox.not_serving", "nothing is served in this sandbox: call serve() first")
        answer = self._client.calls.run(self._interface, fn, args=list(args), kwargs=kwargs)
        error = answer.record.get("error")
        if error:
            raise GloveboxError(error["kind"], error["message"], error)
        return answer.value()


_client: Optional[Client] = None


def _shared() -> Client:
    global _client
    if _client is None:
        _client = connect()
    return _client


def _model_path(name: str) -> str:
    return "/models/" + name.replace("/", "--")


def _text_of(warning: Any) -> str:
    return str(warning.get("message", warning)) if isinstance(warning, dict) else str(warning)


def _field_by_field(error: GloveboxError) -> GloveboxError:
    problems = error.data.get("problems")
    if not problems:
        return error
    lines = [f"  {each['field']}: {each['message']}; {each['fix']}" for each in problems]
    return GloveboxError(error.code, "this sandbox cannot be made:\n" + "\n".join(lines), error.data)


def _from_dotenv(names: Iterable[str]) -> Dict[str, str]:
    """Of a .env in the current folder, those that are asked for and not set in the environment."""
    wanted = {name for name in names if name not in os.environ}
    found: Dict[str, str] = {}
    try:
        lines = Path(".env").read_text(encoding="utf-8").splitlines() if wanted else []
    except (OSError, UnicodeDecodeError):
        return found
    for line in lines:
        name, equals, value = line.strip().partition("=")
        name = name.removeprefix("export ").strip()
        if not equals or name not in wanted:
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        found[name] = value
    return found
