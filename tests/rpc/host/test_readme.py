# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of rpc/server/README.md, executed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_process import ROOT, HostProcess

PAGE = (ROOT / "rpc/server/README.md").read_text()
SOURCE = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
EXAMPLES = re.findall(r"```example\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    process = HostProcess(tmp_path_factory.mktemp("readme"), SOURCE)
    yield process
    process.close()


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(host: HostProcess, example: str) -> None:
    asked, answer = example.split("\n< ", 1)
    lines = asked.splitlines()
    method, path = lines[0][2:].split()
    headers, body = host.headers(), None
    for line in lines[1:]:
        if line.startswith("{"):
            body = line.encode()
        else:
            key, value = line.split(": ", 1)
            headers[key] = value
    status, expected = answer.split(" ", 1)
    got, text, _ = host.request(method, path, body, headers)
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    assert got == int(status) and re.fullmatch(pattern, text.decode().strip(), re.DOTALL), text.decode()
