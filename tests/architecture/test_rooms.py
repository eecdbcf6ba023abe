# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its rooms, and the checker that says so can fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from rooms import check_tree

ROOT = Path(__file__).resolve().parents[2]


def test_the_tree_keeps_its_rooms() -> None:
    problems = check_tree(ROOT)
    assert not problems, "\n" + "\n".join(problems)


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    write(tmp_path, "backend/base/CMakeLists.txt", "gb_add_library()\n")
    write(tmp_path, "backend/base/a.h", "#include <string>\n")
    write(tmp_path, "backend/tasks/CMakeLists.txt", "gb_add_library(LINKS backend/base QT Core)\n")
    write(tmp_path, "backend/tasks/job.h", "#include <QObject>\n#include <backend/base/a.h>\n")
    write(tmp_path, "widgets/pages/home/CMakeLists.txt", "gb_add_library(LINKS backend/tasks QT Widgets)\n")
    write(tmp_path, "widgets/pages/home/homepage.h", '#include <QWidget>\n#include <backend/base/a.h>\n')
    write(tmp_path, "widgets/pages/models/CMakeLists.txt", "gb_add_library(LINKS backend/tasks QT Widgets)\n")
    write(tmp_path, "widgets/pages/models/modelspage.h", "#include <QWidget>\n")
    return tmp_path


def test_a_clean_small_tree_passes(small_tree: Path) -> None:
    assert check_tree(small_tree) == []


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("backend/base/b.cpp", "\n#include <backend/tasks/job.h>\n", "backend/base/b.cpp:2: backend/base may not see"),
    ("backend/base/b.cpp", "#include <QString>\n", "backend/base/b.cpp:1: backend/base is a room without Qt"),
    ("backend/tasks/b.cpp", "#include <QWidget>\n", "backend/tasks/b.cpp:1: no widgets"),
    ("backend/tasks/b.cpp", '#include "../base/a.h"\n', "backend/tasks/b.cpp:1: name other rooms from the root"),
    ("backend/tasks/b.cpp", '#include "backend/base/a.h"\n', "backend/tasks/b.cpp:1: other rooms stand in angle"),
    ("widgets/pages/home/b.cpp", "#include <widgets/pages/models/modelspage.h>\n",
     "widgets/pages/home/b.cpp:1: widgets/pages/home may not see widgets/pages/models"),
    ("widgets/pages/home/CMakeLists.txt", "gb_add_library(LINKS widgets/pages/models QT Widgets)\n",
     "widgets/pages/home/CMakeLists.txt:1: widgets/pages/home may not link"),
    ("backend/base/CMakeLists.txt", "gb_add_library(LINKS backend/tasks)\n", "rooms in a circle"),
    ("backend/base/CMakeLists.txt", "gb_add_library(QT Core)\n", "backend/base is a room without Qt"),
    ("backend/tasks/CMakeLists.txt", "gb_add_library(LINKS backend/base QT Core Widgets)\n",
     "may not link Qt Widgets"),
    ("backend/tasks/CMakeLists.txt", "gb_add_library(LINKS backend/nowhere)\n", "which is not a room"),
    ("backend/lost/b.cpp", "\n", "backend/lost/b.cpp:1: this file belongs to no room"),
    ("utils/b.h", "\n", "utils:1: this folder has no place at the top level"),
    ("app/cli/main.cpp", "\n" * 90, "app/cli/main.cpp:81"),
])
def test_each_break_is_found_with_file_and_line(small_tree: Path, name: str, text: str, expected: str) -> None:
    write(small_tree, name, text)
    problems = check_tree(small_tree)
    assert any(expected in problem for problem in problems), problems
