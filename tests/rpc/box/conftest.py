# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from box_process import BoxProcess


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoxProcess]:
    """One sandbox for a whole module; tests leave it usable."""
    process = BoxProcess(tmp_path_factory.mktemp("box"))
    yield process
    process.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., BoxProcess]]:
    boxes: list[BoxProcess] = []

    def begin(**config: Any) -> BoxProcess:
        folder = tmp_path / str(len(boxes))
        folder.mkdir()
        boxes.append(BoxProcess(folder, **config))
        return boxes[-1]

    yield begin
    for process in boxes:
        process.close()
