# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""One method per method of the API, under the same name and with the same parameters (a test compares them with
`daemon.methods`); what goes beyond that is marked @_beyond."""

from __future__ import annotations

import json
import os
import uuid
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar

from .errors import Disconnected, GloveboxError
from .wire import Json, Notification

if TYPE_CHECKING:
    from .client import Answer, Client

_PIECE = 1 << 20
_F = TypeVar("_F", bound=Callable[..., Any])


def _beyond(function: _F) -> _F:
    function.beyond_the_api = True  # type: ignore[attr-defined]
    return function


def _given(params: Json) -> Json:
    return {name: value for name, value in params.items() if value is not None}


class _Group:
    def __init__(self, client: Client) -> None:
        self._client = client

    def _get(self, method: str, **params: Any) -> Json:
        return self._client.request(method, _given(params))[0]

    def _change(self, method: str, **params: Any) -> Json:
        return self._client.request(method, _given(params), mutates=True)[0]


class Daemon(_Group):
    def hello(
        self,
        protocol: int,
        client: Mapping[str, Any],
        build: Optional[str] = None,
        environment: Optional[Mapping[str, Any]] = None,
    ) -> Json:
        """Said by every connection by itself; a second one changes the name records show."""
        return self._get(
            "daemon.hello", protocol=protocol, client=client, build=build, environment=environment
        )

    def status(self) -> Json:
        return self._get("daemon.status")

    def methods(self) -> List[Json]:
        methods: List[Json] = self._get("daemon.methods")["methods"]
        return methods

    def stop(self, force: Optional[bool] = None) -> None:
        self._change("daemon.stop", force=force)

    def logs(self, offset: Optional[int] = None, limit: Optional[int] = None) -> Json:
        return self._get("daemon.logs", offset=offset, limit=limit)


class State(_Group):
    def subscribe(self, topics: Sequence[str]) -> Json:
        """The topics as they are now: {topic: {"version", "items"}}."""
        snapshot: Json = self._get("state.subscribe", topics=list(topics))["topics"]
        return snapshot

    @_beyond
    def watch(self, topics: Sequence[str]) -> Iterator[Tuple[str, Json]]:
        """(topic, {id: item}) for each topic as it is, then again whenever it has changed."""
        connection = self._client.open_connection()
        try:
            answer, _ = connection.request("state.subscribe", {"topics": list(topics)})
            items = {name: topic["items"] for name, topic in answer["topics"].items()}
            for name, present in items.items():
                yield name, dict(present)
            while True:
                notification = connection.next_notification()
                if notification.method != "state.delta":
                    continue
                topic = items[notification.params["topic"]]
                topic.update(notification.params["set"])
                for one in notification.params["removed"]:
                    topic.pop(one, None)
                yield notification.params["topic"], dict(topic)
        finally:
            self._client.drop_connection(connection)


class Events(_Group):
    def append(self, stream: str, events: Sequence[Mapping[str, Any]]) -> Tuple[int, int]:
        """First and last sequence number; the events ({"type", "data"}) are durable then."""
        answer = self._change("events.append", stream=stream, events=list(events))
        return answer["first"], answer["last"]

    def read(self, stream: str, since: int, limit: Optional[int] = None) -> Json:
        return self._get("events.read", stream=stream, since=since, limit=limit)

    def subscribe(self, stream: str, since: int) -> Json:
        """Rarely what you want: `follow` gives the events. Here they are dropped."""
        return self._get("events.subscribe", stream=stream, since=since)

    def unsubscribe(self, stream: str) -> None:
        self._get("events.unsubscribe", stream=stream)

    @_beyond
    def follow(self, stream: str = "daemon", since: int = 1) -> Iterator[Json]:
        """Events from `since` on (-1: only new ones), then live ones, each once, also over the daemon's restarts.

        Nothing is read ahead: who takes the events slowly gets them slowly."""
        while True:
            connection = self._client.open_connection()
            try:
                answer, _ = connection.request("events.subscribe", {"stream": stream, "since": since})
                since = answer["next"]
                while True:
                    notification = connection.next_notification()
                    if notification.method != "events.batch":
                        continue
                    for event in notification.params["events"]:
                        since = event["seq"] + 1
                        yield event
            except Disconnected:
                continue
            finally:
                self._client.drop_connection(connection)


class Jobs(_Group):
    def list(self) -> List[Json]:
        jobs: List[Json] = self._get("jobs.list")["jobs"]
        return jobs

    def get(self, job: str) -> Json:
        return self._get("jobs.get", job=job)

    def cancel(self, job: str) -> None:
        self._change("jobs.cancel", job=job)

    @_beyond
    def wait(self, job: str) -> Json:
        """The job once it has ended, with its `result` or `error`."""
        for _, items in self._client.state.watch(["jobs"]):
            if items.get(job, {}).get("state") not in ("queued", "running"):
                break
        return self.get(job)


class Interfaces(_Group):
    def register(self, control: str) -> Json:
        return self._change("interfaces.register", control=control)

    def list(self) -> List[Json]:
        interfaces: List[Json] = self._get("interfaces.list")["interfaces"]
        return interfaces

    def schema(self, interface: str) -> Json:
        return self._get("interfaces.schema", interface=interface)

    def expose(
        self,
        interface: str,
        form: str,
        name: Optional[str] = None,
        functions: Optional[Sequence[str]] = None,
        caller: Optional[str] = None,
        max_calls: Optional[int] = None,
        calls_per_minute: Optional[int] = None,
        preview: Optional[bool] = None,
    ) -> Json:
        """As "library", "mcp", "prompt" or "skill": text and files, with a token of its own in the private ones.

        With `preview` it is only to be looked at: no token is made."""
        given = {"interface": interface, "form": form, "name": name, "caller": caller, "max_calls": max_calls,
                 "functions": None if functions is None else list(functions), "calls_per_minute": calls_per_minute,
                 "preview": preview}
        return self._get("interfaces.expose", **given)

    def reload(self, interface: str) -> Json:
        return self._change("interfaces.reload", interface=interface)

    def source(self, interface: str) -> Json:
        return self._get("interfaces.source", interface=interface)

    def check(self, text: str) -> Json:
        """What would go wrong in an interface file; nothing of it is run."""
        return self._get("interfaces.check", text=text)

    def save(self, interface: str, text: str, etag: str) -> Json:
        """Replaces the text that `source` gave with this etag, and loads the file."""
        return self._change("interfaces.save", interface=interface, text=text, etag=etag)

    def stop(self, interface: str) -> None:
        self._change("interfaces.stop", interface=interface)


class Calls(_Group):
    def run(
        self,
        interface: str,
        fn: str,
        args: Optional[Sequence[Any]] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        timeout_ms: Optional[int] = None,
        pin: Optional[bool] = None,
        *,
        on_event: Optional[Callable[[Json], None]] = None,
    ) -> Answer:
        """Calls a function; `on_event` hears of its progress and output. A failed call is no exception: see
        `record["state"]` and `record["error"]`."""
        from .client import Answer

        arguments = json.dumps({"args": list(args or []), "kwargs": dict(kwargs or {})}).encode()
        params = {"interface": interface, "fn": fn, "timeout_ms": timeout_ms, "pin": pin}

        def heard(notification: Notification) -> None:
            if on_event is not None and notification.method == "calls.event":
                on_event(notification.params)

        return Answer(*self._client.request("calls.run", _given(params), True, arguments, heard))

    def cancel(self, call: str, force: Optional[bool] = None) -> bool:
        return bool(self._change("calls.cancel", call=call, force=force)["found"])

    def list(
        self,
        filter: Optional[str] = None,
        before: Optional[str] = None,
        limit: Optional[int] = None,
        interface: Optional[str] = None,
        run: Optional[str] = None,
    ) -> Json:
        return self._get(
            "calls.list", filter=filter, before=before, limit=limit, interface=interface, run=run
        )

    def get(self, call: str) -> Answer:
        from .client import Answer

        return Answer(*self._client.request("calls.get", {"call": call}))

    def annotate(self, call: str, pin: Optional[bool] = None, comment: Optional[str] = None) -> None:
        self._change("calls.annotate", call=call, pin=pin, comment=comment)

    def tensor(
        self,
        interface: str,
        handle: str,
        what: str,
        call: Optional[str] = None,
        slice: Optional[str] = None,
        tile: Optional[Mapping[str, Any]] = None,
    ) -> Tuple[Json, bytes]:
        params = {"call": call, "interface": interface, "handle": handle, "what": what, "slice": slice, "tile": tile}
        return self._client.request("calls.tensor", _given(params))


class Models(_Group):
    def get(
        self,
        model: str,
        include: Optional[Sequence[str]] = None,
        exclude: Optional[Sequence[str]] = None,
        priority: Optional[int] = None,
    ) -> Json:
        """The download, as the topic `models` shows it."""
        return self._change("models.get", model=model, include=include, exclude=exclude, priority=priority)

    def ls(self) -> Json:
        return self._get("models.ls")

    def show(self, model: str) -> Json:
        return self._get("models.show", model=model)

    def verify(self, model: str, repair: Optional[bool] = None) -> str:
        """The id of the job; `jobs.wait` gives its outcome."""
        job: str = self._get("models.verify", model=model, repair=repair)["job"]
        return job

    def rm(self, model: str, all: Optional[bool] = None, loose: Optional[bool] = None,
           force: Optional[bool] = None) -> Json:
        return self._change("models.rm", model=model, all=all, loose=loose, force=force)

    def pause(self, download: Optional[str] = None) -> None:
        self._change("models.pause", download=download)

    def resume(self, download: Optional[str] = None) -> None:
        self._change("models.resume", download=download)

    def forget(self, download: str) -> None:
        self._change("models.forget", download=download)

    def prioritise(self, download: str, priority: int) -> None:
        self._change("models.prioritise", download=download, priority=priority)


class Runs(_Group):
    def list(self, limit: Optional[int] = None) -> List[Json]:
        runs: List[Json] = self._get("runs.list", limit=limit)["runs"]
        return runs

    def get(self, run: str) -> Json:
        return self._get("runs.get", run=run)


class Experiments(_Group):
    def list(self) -> List[Json]:
        experiments: List[Json] = self._get("experiments.list")["experiments"]
        return experiments

    def open(self, path: str) -> Json:
        return self._change("experiments.open", path=path)

    def new(self, path: str, example: Optional[str] = None) -> Json:
        return self._change("experiments.new", path=path, example=example)

    def read(self, experiment: str, name: Optional[str] = None) -> Json:
        """{"path", "text", "etag"} of experiment.toml or another text file in the experiment's folder."""
        return self._get("experiments.read", experiment=experiment, name=name)

    def write(self, experiment: str, text: str, etag: str, name: Optional[str] = None) -> Json:
        """Refused with `experiments.changed` when the file is no longer what `etag` was read of."""
        return self._change("experiments.write", experiment=experiment, name=name, text=text, etag=etag)


class Sandboxes(_Group):
    def capabilities(self) -> List[Json]:
        providers: List[Json] = self._get("sandboxes.capabilities")["providers"]
        return providers

    def plan(self, spec: Mapping[str, Any], experiment: Optional[str] = None) -> Json:
        return self._get("sandboxes.plan", spec=dict(spec or {}), experiment=experiment)

    def start(
        self,
        spec: Mapping[str, Any],
        experiment: Optional[str] = None,
        trust: Optional[bool] = None,
        secrets: Optional[Mapping[str, str]] = None,
    ) -> Json:
        """{"job", "sandbox"}; `ready` waits. Secrets the spec names are taken from this process's environment."""
        spec = dict(spec or {})
        found = {name: os.environ[name] for name in spec.get("secrets") or () if name in os.environ}
        found.update(secrets or {})
        return self._change("sandboxes.start", spec=spec, experiment=experiment, trust=trust, secrets=found or None)

    def list(self) -> List[Json]:
        sandboxes: List[Json] = self._get("sandboxes.list")["sandboxes"]
        return sandboxes

    def get(self, sandbox: str) -> Json:
        return self._get("sandboxes.get", sandbox=sandbox)

    def log(self, sandbox: str, offset: Optional[int] = None, limit: Optional[int] = None) -> Json:
        return self._get("sandboxes.log", sandbox=sandbox, offset=offset, limit=limit)

    def exec(
        self,
        sandbox: str,
        argv: Optional[Sequence[str]] = None,
        script: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        timeout_ms: Optional[int] = None,
        stdin: Optional[bool] = None,
        terminal: Optional[Mapping[str, int]] = None,
        output_limit: Optional[int] = None,
    ) -> Json:
        """{"command", "pid"} at once; `run` waits and gives the output."""
        return self._change("sandboxes.exec", sandbox=sandbox, argv=None if argv is None else list(argv),
                            script=script, env=env, cwd=cwd, timeout_ms=timeout_ms, stdin=stdin, terminal=terminal,
                            output_limit=output_limit)

    def wait(self, sandbox: str, command: str, timeout_ms: Optional[int] = None) -> Json:
        return self._get("sandboxes.wait", sandbox=sandbox, command=command, timeout_ms=timeout_ms)

    def output(
        self, sandbox: str, command: str, stream: str, offset: Optional[int] = None, limit: Optional[int] = None
    ) -> Tuple[Json, bytes]:
        params = {"sandbox": sandbox, "command": command, "stream": stream, "offset": offset, "limit": limit}
        return self._client.request("sandboxes.output", _given(params))

    def commands(self, sandbox: str) -> List[Json]:
        commands: List[Json] = self._get("sandboxes.commands", sandbox=sandbox)["commands"]
        return commands

    def stdin(self, sandbox: str, command: str, eof: Optional[bool] = None, *, data: bytes = b"") -> None:
        params = {"sandbox": sandbox, "command": command, "eof": eof}
        self._client.request("sandboxes.stdin", _given(params), attachment=data)

    def signal(self, sandbox: str, command: str, signal: int) -> None:
        self._change("sandboxes.signal", sandbox=sandbox, command=command, signal=signal)

    def resize(self, sandbox: str, command: str, rows: int, columns: int) -> None:
        self._change("sandboxes.resize", sandbox=sandbox, command=command, rows=rows, columns=columns)

    def put(
        self,
        sandbox: str,
        path: str,
        transfer: str,
        offset: int,
        final: bool,
        mode: Optional[int] = None,
        *,
        data: bytes = b"",
    ) -> None:
        """A piece of a file; `write` sends a whole one."""
        params = {"sandbox": sandbox, "path": path, "transfer": transfer, "offset": offset, "final": final,
                  "mode": mode}
        self._client.request("sandboxes.put", _given(params), attachment=data)

    def read(
        self, sandbox: str, path: str, offset: Optional[int] = None, limit: Optional[int] = None
    ) -> Tuple[Json, bytes]:
        params = {"sandbox": sandbox, "path": path, "offset": offset, "limit": limit}
        return self._client.request("sandboxes.read", _given(params))

    def list_files(self, sandbox: str, path: str, after: Optional[str] = None) -> Json:
        return self._get("sandboxes.list_files", sandbox=sandbox, path=path, after=after)

    def stat(self, sandbox: str, path: str) -> Json:
        return self._get("sandboxes.stat", sandbox=sandbox, path=path)

    def mkdir(self, sandbox: str, path: str) -> None:
        self._change("sandboxes.mkdir", sandbox=sandbox, path=path)

    def meters(self, sandbox: str) -> Json:
        return self._get("sandboxes.meters", sandbox=sandbox)

    def port(
        self, sandbox: str, port: Optional[int] = None, path: Optional[str] = None, tcp: Optional[bool] = None
    ) -> Json:
        return self._change("sandboxes.port", sandbox=sandbox, port=port, path=path, tcp=tcp)

    def ports(self, sandbox: str) -> List[Json]:
        ports: List[Json] = self._get("sandboxes.ports", sandbox=sandbox)["ports"]
        return ports

    def port_close(self, sandbox: str, id: str) -> None:
        self._change("sandboxes.port_close", sandbox=sandbox, id=id)

    def extend(self, sandbox: str, seconds: int) -> Json:
        return self._change("sandboxes.extend", sandbox=sandbox, seconds=seconds)

    def serve(
        self,
        sandbox: str,
        interface: str,
        name: Optional[str] = None,
        watch: Optional[bool] = None,
        wait: Optional[bool] = None,
    ) -> Json:
        given = {"sandbox": sandbox, "interface": interface, "name": name, "watch": watch, "wait": wait}
        return self._change("sandboxes.serve", **given)

    def stop(self, sandbox: str) -> str:
        """The id of the job, which ends when nothing of the sandbox runs."""
        job: str = self._change("sandboxes.stop", sandbox=sandbox)["job"]
        return job

    def rm(self, sandbox: str) -> None:
        self._change("sandboxes.rm", sandbox=sandbox)

    def images(self) -> List[Json]:
        images: List[Json] = self._get("sandboxes.images")["images"]
        return images

    def collect(self) -> Json:
        return self._change("sandboxes.collect")

    @_beyond
    def ready(self, started: Mapping[str, str]) -> Json:
        """Waits for what `start` answered: the sandbox, or the error it failed with."""
        job = self._client.jobs.wait(started["job"])
        if "error" in job:
            error = job["error"]
            raise GloveboxError(error["code"], error["message"], error.get("data"))
        return self.get(started["sandbox"])

    @_beyond
    def run(self, sandbox: str, *argv: str, **more: Any) -> Tuple[int, bytes, bytes]:
        """Runs a command to its end: exit code, standard output, standard error."""
        started = self.exec(sandbox, argv=argv or None, **more)
        ended, stdout, stderr = self.finish(sandbox, started["command"])
        return ended["code"], stdout, stderr

    @_beyond
    def finish(self, sandbox: str, command: str) -> Tuple[Json, bytes, bytes]:
        """Waits for a command: how it ended, standard output, standard error."""
        while not (ended := self.wait(sandbox, command, timeout_ms=60_000))["exited"]:
            pass
        streams = []
        for stream in ("stdout", "stderr"):
            whole = b""
            while len(whole) < ended["sizes"][stream]:
                _, piece = self.output(sandbox, command, stream, offset=len(whole))
                if not piece:
                    break
                whole += piece
            streams.append(whole)
        return ended, streams[0], streams[1]

    @_beyond
    def write(self, sandbox: str, path: str, data: bytes, mode: Optional[int] = None) -> None:
        """A whole file."""
        transfer = str(uuid.uuid4())
        pieces = range(0, max(len(data), 1), _PIECE)
        for offset in pieces:
            self.put(sandbox, path, transfer, offset, offset == pieces[-1], mode, data=data[offset : offset + _PIECE])


class Settings(_Group):
    def list(self) -> List[Json]:
        settings: List[Json] = self._get("settings.list")["settings"]
        return settings

    def get(self, key: str) -> Json:
        return self._get("settings.get", key=key)

    def set(self, key: str, value: Any) -> Json:
        """None restores the default."""
        return self._client.request("settings.set", {"key": key, "value": value}, mutates=True)[0]


class Secrets(_Group):
    def list(self) -> Json:
        """Which are set and where they lie; nothing gives a value back."""
        return self._get("secrets.list")

    def set(self, name: str, value: str) -> None:
        self._change("secrets.set", name=name, value=value)

    def clear(self, name: str) -> None:
        self._change("secrets.clear", name=name)


class Presets(_Group):
    """Arguments kept for a function, as files beside the interface's."""

    def list(self, interface: str, fn: str) -> List[Json]:
        presets: List[Json] = self._get("presets.list", interface=interface, fn=fn)["presets"]
        return presets

    def save(
        self, interface: str, fn: str, name: str, arguments: Mapping[str, Any], replace: Optional[bool] = None
    ) -> str:
        path: str = self._change(
            "presets.save", interface=interface, fn=fn, name=name, arguments=arguments, replace=replace
        )["path"]
        return path

    def rename(self, interface: str, fn: str, name: str, to: str) -> None:
        self._change("presets.rename", interface=interface, fn=fn, name=name, to=to)

    def rm(self, interface: str, fn: str, name: str) -> None:
        self._change("presets.rm", interface=interface, fn=fn, name=name)


class Doctor(_Group):
    def run(self) -> str:
        """The id of the job that checks this machine; `jobs.wait` gives its outcome."""
        job: str = self._get("doctor.run")["job"]
        return job


class Diagnostics(_Group):
    def get(self) -> str:
        text: str = self._get("diagnostics.get")["text"]
        return text
