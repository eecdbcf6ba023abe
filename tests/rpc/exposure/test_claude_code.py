# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""An agent program we did not write calls a function through each form it can read: MCP, prompt and skill.

The program is Claude Code's command line, real; its model is a function here that knows nothing but what the program
shows it. Only with GB_TEST_NPM=1, because npm fetches the program the first time.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from fakemessages import Block, FakeMessages, Model, Request, texts, tool_results
from npmpackages import WANTED, npm_packages

pytestmark = WANTED

INTERFACE = '''
"""Arithmetic to try."""


@expose
def add(a: int, b: int = 2) -> int:
    """Adds.

    Args:
        a: One number.
        b: Another.
    """
    return a + b
'''


@pytest.fixture(scope="module")
def program() -> Path:
    modules = npm_packages("@anthropic-ai/claude-code@2.1.329")
    return modules / "@anthropic-ai" / "claude-code-linux-x64" / "claude"


class Agent:
    """The program in a folder of its own, with a model."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.folder, self._program = folder, program
        folder.mkdir(exist_ok=True)

    def ask(self, prompt: str, model: Model, *options: str) -> Dict[str, Any]:
        api = FakeMessages(model)
        env = {**os.environ, "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "x", "HOME": str(self.folder),
               "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
               "DISABLE_ERROR_REPORTING": "1", "ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_MAX_RETRIES": "1"}
        done = subprocess.run([self._program, "-p", prompt, "--output-format", "json", *options], cwd=self.folder,
                              env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        api.close()
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads(done.stdout)
        return answer[-1] if isinstance(answer, list) else answer


@pytest.fixture
def agent(program: Path, home: Any, tmp_path: Path) -> Iterator[Agent]:
    file = tmp_path / "sums.py"
    file.write_text(INTERFACE)
    home.serve(file)
    made = Agent(program, tmp_path / "agent")
    yield made


def recorded(home: Any, form: str) -> List[Any]:
    calls = home.json("calls", "ls", "fn:add")["calls"]
    return [(call["caller"], call["state"], call["preview"]) for call in calls if form in call["caller"]["name"]]


def last_word(request: Request) -> List[Block]:
    return [{"text": "It said: " + tool_results(request)[-1]}]


def fenced(text: str, language: str) -> List[str]:
    return re.findall(r"^```" + language + r"\n(.*?)\n```$", text, re.S | re.M)


def test_over_mcp(agent: Agent, home: Any) -> None:
    home.cli("expose", "sums", "--as", "mcp", "--out", str(agent.folder))

    def model(request: Request) -> List[Block]:
        if tool_results(request):
            return last_word(request)
        [tool] = [tool for tool in request["tools"] if tool["name"].endswith("__add")]
        assert tool["input_schema"]["properties"]["a"]["type"] == "integer"
        return [{"tool": tool["name"], "input": {"a": 40}}]

    answer = agent.ask("Add 2 to 40.", model, "--mcp-config", "sums.mcp.json", "--strict-mcp-config",
                       "--allowedTools", "mcp__sums__add")
    assert "42" in answer["result"]
    [(caller, state, preview)] = recorded(home, "mcp")
    assert caller["kind"] == "agent" and state == "ok" and preview == "42"


def test_over_mcp_by_a_command(agent: Agent, home: Any) -> None:
    home.cli("expose", "sums", "--as", "mcp", "--out", str(agent.folder))
    file = agent.folder / "sums.mcp-stdio.json"
    file.write_text(file.read_text().replace('"glovebox"', json.dumps(str(home.bin / "glovebox"))))

    def model(request: Request) -> List[Block]:
        return last_word(request) if tool_results(request) else [{"tool": "mcp__sums__add", "input": {"a": 39}}]

    answer = agent.ask("Add 2 to 39.", model, "--mcp-config", file.name, "--strict-mcp-config", "--allowedTools",
                       "mcp__sums__add")
    assert "41" in answer["result"] and recorded(home, "mcp")


def test_by_the_prompt_alone(agent: Agent, home: Any) -> None:
    home.cli("expose", "sums", "--as", "prompt", "--out", str(agent.folder))
    prompt = (agent.folder / "sums.md").read_text()
    secret = (agent.folder / "sums.header").read_text().split()[-1]
    assert (agent.folder / "sums.header").stat().st_mode & 0o777 == 0o600

    def model(request: Request) -> List[Block]:
        if tool_results(request):
            return last_word(request)
        [command] = [block for text in texts(request) for block in fenced(text, "sh") if "curl" in block]
        return [{"tool": "Bash", "input": {"command": command.replace('"a":1', '"a":38'), "description": "Add"}}]

    answer = agent.ask(prompt + "\n\nAdd 2 to 38.", model, "--allowedTools", "Bash")
    assert '"result":40' in answer["result"].replace(" ", "")
    assert recorded(home, "prompt") and secret not in prompt


def test_by_the_skill(agent: Agent, home: Any) -> None:
    home.cli("expose", "sums", "--as", "skill", "--out", str(agent.folder / ".claude" / "skills"))

    def model(request: Request) -> List[Block]:
        results = tool_results(request)
        if not results:
            assert any("Calls the functions of the interface sums" in text for text in texts(request))
            return [{"tool": "Skill", "input": {"skill": "sums"}}]
        if len(results) > 1:
            return last_word(request)
        [skill] = [text for text in texts(request) if text.startswith("Base directory for this skill: ")]
        place = skill.splitlines()[0].split(": ", 1)[1]
        start, *_ = fenced(skill, "python")
        [call] = [block for block in fenced(skill, "python") if block.startswith("result = ")]
        start = start.replace("<this skill's folder>", place)
        script = f"{start}\n{call.replace('a=1', 'a=37')}\nprint(result)"
        return [{"tool": "Bash", "input": {"command": f"python3 - <<'EOF'\n{script}\nEOF", "description": "Add"}}]

    answer = agent.ask("Add 2 to 37.", model, "--allowedTools", "Skill", "Bash")
    assert "It said: 39" in answer["result"] and recorded(home, "skill")
