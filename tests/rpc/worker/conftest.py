# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Iterator, List

import pytest
from worker_process import WorkerProcess


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., WorkerProcess]]:
    """``serve(source, **init)`` starts a worker that ends with the test."""
    workers: List[WorkerProcess] = []

    def start(source: str, **options: Any) -> WorkerProcess:
        workers.append(WorkerProcess(tmp_path, source, **options))
        return workers[-1]

    yield start
    for worker in workers:
        worker.close()
