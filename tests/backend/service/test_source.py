# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Looking over and saving an interface file through the daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator

import glovebox
import pytest

TEXT = '''
@expose
def add(a: int) -> int:
    """Adds."""
    return a + 1
'''


@pytest.fixture
def client(home: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[glovebox.Client]:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    with glovebox.connect() as made:
        yield made


@pytest.fixture
def file(home: Any, tmp_path: Path) -> Path:
    path = tmp_path / "sums.py"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def called(client: glovebox.Client) -> Any:
    return client.calls.run("sums", "add", kwargs={"a": 1}).value()


def test_a_saved_file_is_served_at_once(home: Any, client: glovebox.Client, file: Path) -> None:
    home.serve(file)
    source = client.interfaces.source("sums")
    assert source["text"] == TEXT and source["path"] == str(file)
    saved = client.interfaces.save("sums", TEXT.replace("+ 1", "+ 2"), source["etag"])
    assert saved["reload"]["how"] and saved["etag"] == client.interfaces.source("sums")["etag"]
    assert called(client) == 3
    assert "+ 2" in file.read_text() and file.stat().st_mode & 0o777 == 0o640


def test_what_somebody_else_wrote_is_not_lost(home: Any, client: glovebox.Client, file: Path) -> None:
    home.serve(file)
    etag = client.interfaces.source("sums")["etag"]
    file.write_text(TEXT + "# mine\n")
    with pytest.raises(glovebox.GloveboxError) as refused:
        client.interfaces.save("sums", "", etag)
    assert refused.value.code == "interfaces.changed" and file.read_text().endswith("# mine\n")


def test_a_file_that_does_not_load_is_saved_and_told(home: Any, client: glovebox.Client, file: Path) -> None:
    home.serve(file)
    broken = TEXT + "\nraise RuntimeError('not today')\n"
    saved = client.interfaces.save("sums", broken, client.interfaces.source("sums")["etag"])
    assert "not today" in saved["error"]["message"] and file.read_text() == broken
    line = broken.split("\n").index("raise RuntimeError('not today')") + 1
    assert [frame["line"] for frame in saved["error"]["data"]["frames"] if frame["file"] == str(file)] == [line]
    client.interfaces.save("sums", TEXT, saved["etag"])
    assert called(client) == 2


def test_a_link_stays_a_link(home: Any, client: glovebox.Client, file: Path) -> None:
    link = file.with_name("linked.py")
    link.symlink_to(file)
    home.serve(link)
    client.interfaces.save("linked", "# new\n" + TEXT, client.interfaces.source("linked")["etag"])
    assert link.is_symlink() and file.read_text().startswith("# new\n")


def test_looking_over_runs_nothing(client: glovebox.Client, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    found = client.interfaces.check(f"open({str(trace)!r}, 'w')\n@expose\ndef f(x): return x\n")["findings"]
    assert any(one["line"] >= 2 for one in found) and not trace.exists()
    [syntax] = client.interfaces.check("x = (\n")["findings"]
    assert syntax["code"] == "syntax" and syntax["severity"] == "error" and syntax["line"] == 1
    assert client.interfaces.check(TEXT)["findings"] == []
