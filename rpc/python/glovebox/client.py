# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import threading
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, List, Optional, Set, Tuple, Type, Union

from . import groups
from .errors import Disconnected
from .start import data_folder
from .wire import Connection, Json, Listener

_ATTEMPTS = 5


class Answer:
    """The record of a call, and its result as the JSON text it came as."""

    def __init__(self, record: Json, text: bytes) -> None:
        self.record = record
        self.text = text.decode()

    def value(self) -> Any:
        """The result; None when it was cut (`record["result_cut"]`) or the call failed."""
        return json.loads(self.text) if self.text else None


class Client:
    """The daemon's methods, grouped as they are named: `client.calls.run(…)` is `calls.run`.

    Every thread has a connection of its own, so a long call in one thread holds up no other. When the daemon goes
    away, a request is sent again to the next one; what changes something goes under the same op, which the daemon
    carries out once.
    """

    def __init__(
        self, folder: Union[str, Path, None] = None, name: str = "python", start: bool = True
    ) -> None:
        self.folder = Path(folder) if folder is not None else data_folder()
        self.name = name
        self._start = start
        self._local = threading.local()
        self._all: Set[Connection] = set()
        self._lock = threading.Lock()
        self.calls = groups.Calls(self)
        self.daemon = groups.Daemon(self)
        self.diagnostics = groups.Diagnostics(self)
        self.doctor = groups.Doctor(self)
        self.events = groups.Events(self)
        self.experiments = groups.Experiments(self)
        self.interfaces = groups.Interfaces(self)
        self.jobs = groups.Jobs(self)
        self.models = groups.Models(self)
        self.presets = groups.Presets(self)
        self.runs = groups.Runs(self)
        self.sandboxes = groups.Sandboxes(self)
        self.settings = groups.Settings(self)
        self.secrets = groups.Secrets(self)
        self.state = groups.State(self)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all threads' connections; a later call opens new ones."""
        with self._lock:
            connections: List[Connection] = list(self._all)
            self._all.clear()
        for connection in connections:
            connection.shut()
            connection.close()

    def open_connection(self) -> Connection:
        """A connection of one's own, for waiting on what the daemon says by itself."""
        for attempt in range(_ATTEMPTS):
            try:
                connection = Connection(self.folder, self.name, self._start)
                break
            except Disconnected as error:
                # A daemon that was just leaving may still have taken the connection.
                if error.code != "api.disconnected" or attempt + 1 == _ATTEMPTS:
                    raise
        with self._lock:
            self._all.add(connection)
        return connection

    def drop_connection(self, connection: Connection) -> None:
        with self._lock:
            self._all.discard(connection)
        connection.close()

    def request(
        self,
        method: str,
        params: Json,
        mutates: bool = False,
        attachment: bytes = b"",
        listener: Optional[Listener] = None,
    ) -> Tuple[Json, bytes]:
        if mutates:
            params = {"op": str(uuid.uuid4()), **params}
        for attempt in range(_ATTEMPTS):
            try:
                return self._connection().request(method, params, attachment, listener or _ignore)
            except Disconnected:
                self._forget()
                if attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def _connection(self) -> Connection:
        connection: Optional[Connection] = getattr(self._local, "connection", None)
        if connection is not None:
            with self._lock:
                if connection in self._all:
                    return connection
        connection = self.open_connection()
        self._local.connection = connection
        return connection

    def _forget(self) -> None:
        connection: Optional[Connection] = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            self.drop_connection(connection)


def _ignore(notification: object) -> None:
    pass


def connect(folder: Union[str, Path, None] = None, name: str = "python", start: bool = True) -> Client:
    """A client of the daemon of a data folder (default: as GLOVEBOX_HOME says), which it starts when needed."""
    client = Client(folder, name, start)
    client.daemon.status()
    return client
