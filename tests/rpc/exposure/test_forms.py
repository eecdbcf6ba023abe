# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Prompt, skill and MCP texts from schemas, also hostile ones."""

from __future__ import annotations

import json
import random
import re
import shlex
from typing import Any, Dict, List

from exposetool import expose, function, optional, parameter, schema
from hostileschema import hostile_function, hostile_text


def skill_of(made: Dict[str, Any]) -> Dict[str, str]:
    return {file["path"]: file["text"] for file in made["files"]}


def hostile_schemas() -> List[Dict[str, Any]]:
    rng = random.Random(5)
    return [schema(*[hostile_function(rng) for _ in range(20)], name=hostile_text(rng), doc=hostile_text(rng))
            for _ in range(30)]


def test_hostile_skills_keep_the_rules() -> None:
    for made in expose(hostile_schemas(), "skill"):
        files = skill_of(made)
        [path] = [path for path in files if path.endswith("SKILL.md")]
        name = path.split("/")[0]
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= 64
        assert all(part not in ("", ".", "..") for file in files for part in file.split("/"))
        front = files[path].split("\n")
        assert front[0] == front[3] == "---" and front[1] == "name: " + name
        description = json.loads(front[2][len("description: "):])
        assert 0 < len(description) <= 1024 and not set(description) & set("<>\n\r\x00\u202e")


def test_prompts_show_nothing_invisible() -> None:
    for made in expose(hostile_schemas(), "prompt"):
        assert not set(made["text"]) & set("\r\x00\x1b\u202e\u2066\ufeff")


def test_the_command_in_a_prompt_is_one_command() -> None:
    """Whatever a schema names, the shell sees one curl with one body, and never the token."""
    hostile = [schema({**hostile_function(random.Random(seed)), "name": name}, name=name) for seed, name in enumerate(
        ["f", "a'; touch /tmp/x; '", "b$(id)`id`", "c\n```\nrm -rf /", 'd"e\\', "$'\\x27'"])]
    for given, made in zip(hostile, expose(hostile, "prompt", "http://127.0.0.1:1", "secret-token")):
        text = made["text"]
        assert "secret-token" not in text
        block = re.findall(r"^(`{3,})sh\n(.*?)\n\1$", text, re.S | re.M)[-1][1]
        words = shlex.split(block)
        assert words[:2] == ["curl", "-sS"] and words[-2] == "-d" and len(words) == 9
        assert json.loads(words[-1])["fn"] == given["functions"][0]["name"]


def test_fences_hold() -> None:
    [made] = expose([schema({**function("f", doc="x"), "signature": "(a='```')"})], "prompt")
    assert "````python\nf(a='```')\n````" in made["text"]


def test_a_large_interface_moves_its_reference_out_of_the_body() -> None:
    many = [function(f"function_{i}", parameter("text", annotation="str"), optional("n", i, annotation="int"),
                     doc=f"Does thing number {i}.\n\nAt some length, and with several words.") for i in range(120)]
    [made] = expose([schema(*many)], "skill")
    files = skill_of(made)
    assert "Does thing number 7." in files["model-tools/reference.md"]
    assert len(files["model-tools/SKILL.md"].splitlines()) < 500 and made["tokens"] < 5000
    assert "reference.md" in files["model-tools/SKILL.md"]


def test_tokens_are_estimated_within_reason() -> None:
    """A thousand short words are a thousand tokens to every tokenizer in use."""
    [made] = expose([schema(function("f", doc="word " * 1000))], "prompt")
    [without] = expose([schema(function("f"))], "prompt")
    assert 900 <= made["tokens"] - without["tokens"] <= 1100


def test_access_files_are_private_and_absent_without_a_token() -> None:
    for form in ("library", "mcp", "prompt", "skill"):
        [made] = expose([schema(function("f"))], form, "http://127.0.0.1:1", "secret-token")
        for file in made["files"]:
            assert file["private"] == ("secret-token" in file["text"])
        assert any(file["private"] for file in made["files"])
        [bare] = expose([schema(function("f"))], form, "http://127.0.0.1:1")
        assert not any(file["path"].endswith((".host.json", ".header")) for file in bare["files"])
