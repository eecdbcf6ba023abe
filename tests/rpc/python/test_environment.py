# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Sandboxes as scripts see them, against a real daemon and real sandboxes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import glovebox
import pytest
from glovebox.config import Mount
from glovebox.environment import (
    CommandFailed,
    ExecutionMode,
    ModelConfig,
    RepoConfig,
    Sandbox,
    SandboxConfig,
    ScopedSandbox,
)
from glovebox.workspace import Library, Skill
from sandboxes import end_all

ROOT = Path(__file__).resolve().parents[3]
HELLO = ROOT / "resources/examples/hello/interface.py"
FULL = SandboxConfig(
    python_packages=["numpy", "einops>=0.7"], system_packages=["git"], python_version="3.12", gpu="A100", gpu_count=2,
    docker_in_docker=True, execution_mode=ExecutionMode.NOTEBOOK, debug=True, timeout=7200, secrets=["HF_TOKEN"],
    env={"A": "1"}, encrypted_ports=[8000], jupyter_port=8801, rpc_port=8802, debug_port=8803, rpc_timeout=60,
    wait_timeout=20, notebook_packages=["jupyter_server"],
    models=[ModelConfig("google/gemma-2-9b"), ModelConfig("a/b", "adapter", is_peft=True, base_model="c/d"),
            ModelConfig("e/f", "hush", hidden=True, path="/models/here")],
    repos=[RepoConfig("https://github.com/org/repo"), RepoConfig("org/other", install="pip install -e .")],
    local_files=[("/etc/hostname", "/workspace/host"), Mount("/etc/issue", "/workspace/issue")],
    local_dirs=[Mount("/srv", "/workspace/srv", "writable")],
    name="full", provider="modal", interpreter=None, cpu=1.5, memory=1 << 30, disk="10 GiB", idle_timeout=600,
    spend_cap=12.5, network=["data.example.org"], tags={"paper": "1"}, unknown={"of_tomorrow": {"x": 1}},
)  # fmt: skip


@pytest.fixture
def client(client: glovebox.Client) -> Iterator[glovebox.Client]:
    yield client
    end_all(client)


@pytest.fixture
def plain() -> SandboxConfig:
    return SandboxConfig(interpreter=sys.executable)


@pytest.mark.parametrize("config", [SandboxConfig(), SandboxConfig(execution_mode=None), FULL])
def test_a_config_and_its_spec_are_one(config: SandboxConfig) -> None:
    assert SandboxConfig.from_spec(config.to_spec()) == config
    assert SandboxConfig.from_spec({}) == SandboxConfig()


def test_the_daemon_knows_the_same_fields_and_defaults(client: glovebox.Client, plain: SandboxConfig) -> None:
    plain.env, plain.tags, plain.memory, plain.network = {"WORD": "a b"}, {"for": "test"}, 4 << 30, "off"
    plain.local_files = [(str(HELLO), "/workspace/hello.py"), Mount(str(HELLO), "/workspace/live.py")]
    plain.unknown = {"of_tomorrow": [1]}
    plain.jupyter_port, plain.idle_timeout, plain.timeout = 9001, 600, 3600
    with Sandbox(plain, client).start("same") as sandbox:
        stored = client.sandboxes.get(sandbox.sandbox_id)["spec"]
        assert stored == {**plain.to_spec(), "name": "same"}
        assert SandboxConfig.from_spec(stored).to_spec() == stored
        assert Sandbox.from_id("same", client=client).config.env == {"WORD": "a b"}


def test_a_sandbox_is_worked_in(client: glovebox.Client, plain: SandboxConfig, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/one.txt").write_text("copied")
    (tmp_path / ".env").write_text("# mine\nexport MY_TOKEN='quoted value'\nOTHER=not asked for\n")
    monkeypatch.chdir(tmp_path)
    plain.local_dirs = [("./data", "/workspace/data")]
    plain.secrets = ["MY_TOKEN"]
    sandbox = Sandbox(plain, client)
    with pytest.raises(glovebox.GloveboxError, match="start"):
        sandbox.exec("true")
    sandbox.start()
    with pytest.raises(glovebox.GloveboxError, match="already"):
        sandbox.start()
    assert sandbox.exec("cat data/one.txt; echo $((6 * 7))") == "copied42\n"
    assert sandbox.exec("printf %s \"$MY_TOKEN$OTHER\"") == "quoted value"
    assert sandbox.exec_python("import sys\nprint(6 * 7, len(sys.stdin.read()))" + "#" * 3_000_000) == "42 0\n"
    with pytest.raises(CommandFailed, match="(?s)ended with code 3.*wrong thing") as failed:
        sandbox.exec("echo some; echo wrong thing >&2; exit 3")
    assert (failed.value.exit_code, failed.value.stdout) == (3, "some\n")
    with pytest.raises(CommandFailed, match="ran out of time"):
        sandbox.exec("sleep 60", timeout=0.2)
    sandbox.ensure_dir("/workspace/deep/er")
    sandbox.write_file("/workspace/deep/er/x", "ä" * 1_000_000)
    assert sandbox.read_file("/workspace/deep/er/x") == "ä" * 1_000_000
    same = Sandbox.from_id(sandbox.sandbox_id, client=client)
    assert same.exec("ls deep") == "er\n"
    sandbox.terminate()
    sandbox.terminate()
    with pytest.raises(glovebox.GloveboxError):
        same.exec("true")


def test_what_is_wrong_is_said_field_by_field(client: glovebox.Client) -> None:
    with pytest.raises(glovebox.GloveboxError, match="(?s)rpc_port.*jupyter_port|jupyter_port.*rpc_port") as wrong:
        Sandbox(SandboxConfig(rpc_port=-1, jupyter_port=99999), client).start()
    assert wrong.value.code == "spec.invalid"
    assert client.sandboxes.list() == []


def test_what_breaks_on_the_way_is_said_with_the_log(client: glovebox.Client, plain: SandboxConfig) -> None:
    plain.repos = [RepoConfig("https://127.0.0.1:9/org/none")]
    with pytest.raises(glovebox.GloveboxError, match="(?s)none.*127.0.0.1") as failed:
        Sandbox(plain, client).start()
    assert len(str(failed.value).splitlines()) > 1


def test_a_scoped_sandbox_serves_in_four_ways(client: glovebox.Client, plain: SandboxConfig, tmp_path: Path) -> None:
    scoped = ScopedSandbox(plain, client)
    scoped.start()
    with pytest.raises(glovebox.GloveboxError, match="serve"):
        scoped.call("greet", "Ada")
    library = scoped.serve(HELLO, expose_as="library", name="model_tools")
    assert isinstance(library, Library)
    assert scoped.call("greet", "Ada", shout=True) == "HELLO, ADA!"
    with pytest.raises(glovebox.GloveboxError, match="divi"):
        scoped.call("divide", 1, 0)
    folder = library.install(tmp_path)
    library.install(tmp_path)  # again, over itself
    assert [file.name for file in folder.iterdir() if file.stat().st_mode & 0o077 == 0] == ["model_tools.host.json"]
    script = "import model_tools; print(model_tools.greet('Bob'))"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=tmp_path, text=True) == "Hello, Bob!\n"
    assert "model_tools" in library.get_prompt_docs()
    mcp: Any = scoped.serve(HELLO, "mcp", "model_tools")
    assert [entry["type"] for entry in mcp.values()] == ["http"]
    assert "greet(name: str" in str(scoped.serve(HELLO, "prompt"))
    skill = scoped.serve(HELLO, "skill", "my_tools")
    assert isinstance(skill, Skill) and skill.name == "my-tools" and "my_tools" in skill.description
    place = skill.install(tmp_path)
    assert (place / "SKILL.md").read_text() == skill.to_skill_md()
    assert (place / "scripts/my_tools.host.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError):
        scoped.serve(HELLO, "carrier pigeon")
    scoped.terminate()


def test_a_skill_is_read_whatever_its_documentation_says(client: glovebox.Client, plain: SandboxConfig,
                                                         tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text(
        '"""Draws --- for you: lines.\n---\nname: x\n"""\n@expose\ndef f() -> int:\n    """---"""\n    return 1\n')
    with ScopedSandbox(plain, client).start() as scoped:
        skill = scoped.serve(tmp_path / "lines.py", "skill", "lines")
    assert isinstance(skill, Skill) and skill.name == "lines" and "Draws --- for you: lines." in skill.description


def test_what_somebody_else_removed_is_terminated(client: glovebox.Client, plain: SandboxConfig) -> None:
    with Sandbox(plain, client).start() as sandbox:
        client.jobs.wait(client.sandboxes.stop(sandbox.sandbox_id))
        client.sandboxes.rm(sandbox.sandbox_id)
    with pytest.raises(glovebox.GloveboxError, match="start"):
        sandbox.exec("true")


def test_serving_waits_for_the_file(client: glovebox.Client, plain: SandboxConfig, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(1.5)\n@expose\ndef f() -> int:\n    return 42\n")
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\nraise RuntimeError('no such weights')\n")
    with ScopedSandbox(plain, client).start() as scoped:
        scoped.serve(slow)
        assert scoped.call("f") == 42
        with pytest.raises(glovebox.GloveboxError, match="(?s)no such weights.*line 2") as failed:
            scoped.serve(broken)
        assert failed.value.code == "load_failed"
        with pytest.raises(glovebox.GloveboxError, match="none.py") as failed:
            scoped.serve(tmp_path / "none.py")
        assert failed.value.code == "load_failed"
        scoped.config.wait_timeout = 0
        slow.write_text("import time\ntime.sleep(3600)\n")
        with pytest.raises(glovebox.GloveboxError, match="wait_timeout"):
            scoped.serve(slow)


def test_libraries_from_files(tmp_path: Path) -> None:
    (tmp_path / "pack/sub").mkdir(parents=True)
    with pytest.raises(ValueError, match="__init__"):
        Library.from_directory(tmp_path / "pack")
    (tmp_path / "pack/__init__.py").write_text('"""Helpers."""\n')
    (tmp_path / "pack/sub/mod.py").write_text("X = 42\n")
    Library.from_directory(tmp_path / "pack").install(tmp_path / "out")
    one = Library.from_file(tmp_path / "pack/sub/mod.py", name="renamed")
    one.install(tmp_path / "out")
    code = "import pack.sub.mod, renamed; print(pack.sub.mod.X + renamed.X)"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path / "out", text=True) == "84\n"
    with pytest.raises(ValueError, match="outside"):
        Library("evil", {"../evil.py": ""}).install(tmp_path / "out")
    assert not os.path.exists(tmp_path / "evil.py")


def test_handles_say_where_things_lie() -> None:
    sandbox = Sandbox(FULL)
    assert [handle.volume_path for handle in sandbox.model_handles] == [
        "/models/google--gemma-2-9b", "/models/a--b", ""]
    assert sandbox.model_handles[1].base_model_path == "/models/c--d"
    assert [handle.local_path for handle in sandbox.repo_handles] == ["/workspace/repo", "/workspace/other"]
