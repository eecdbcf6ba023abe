# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# The second half of the run-time part: the connection to the host, and calls.


def _gb_runtime(module_file, module_name):
    from builtins import (
        AttributeError, BaseException, BlockingIOError, Exception, FileNotFoundError, IndexError,
        KeyboardInterrupt, KeyError, OSError, TypeError, ValueError, bytearray, bytes, hasattr, int, isinstance,
        len, max, memoryview, min, open, range, str)
    import os
    import threading
    import time
    monotonic = time.monotonic
    address_file = os.path.join(os.path.dirname(os.path.abspath(module_file)),
                                module_name.rpartition(".")[2] + ".host.json")
    links = {}
    (late, load, settings, body_of, answer_of, error_of, RemoteError, CallTimeout, CallCancelled, HostUnreachable,
     Array, Image) = _gb_values(module_name, links)

    class Gone(Exception):
        """The connection ended where an answer should have been."""

    class Connection:
        """One keep-alive HTTP/1.1 connection; used by one thread at a time."""

        def __init__(self, address, timeout):
            socket = (late or load())["socket"]
            self.buffer = b""
            self.address = address
            self.idle = None  # for requests without a deadline: seconds of silence that are too long
            if address.path:
                self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self.socket.settimeout(timeout)
                try:
                    self.socket.connect(address.path)
                except Exception:
                    self.socket.close()
                    raise
            else:
                self.socket = socket.create_connection((address.host, address.port), timeout)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if address.secure:
                    import ssl
                    self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=address.host)
            # For requests of the usual form: one formatting, one system call.
            self.call_head = self.head("POST", "/v1/calls",
                                       "application/vnd.glovebox+json, application/vnd.glovebox.floats+json")

        def head(self, method, path, accept):
            return (f"{method} {path} HTTP/1.1\r\nHost: {self.address.label}\r\n"
                    f"Authorization: Bearer {self.address.token}\r\nAccept: {accept}\r\n"
                    "Content-Type: application/json\r\nContent-Length: ").encode("ascii")

        def stale(self):
            """An idle connection on which something arrives has been closed by the host."""
            socket = late["socket"]
            if hasattr(self.socket, "pending"):
                return False
            try:
                self.socket.settimeout(0)
                self.socket.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                return False
            except OSError:
                pass
            return True

        def close(self):
            try:
                self.socket.close()
            except OSError:
                pass

        def send(self, head, body, deadline):
            self.wait_until(deadline)
            self.socket.sendall(b"%s%d\r\n\r\n%s" % (head, len(body), body))

        def wait_until(self, deadline):
            if deadline is None:
                self.socket.settimeout(self.idle)
                return
            left = deadline - monotonic()
            if left <= 0:
                raise late["socket"].timeout()
            self.socket.settimeout(left)

        def more(self, deadline):
            self.wait_until(deadline)
            data = self.socket.recv(262144)
            if not data:
                raise Gone()
            return data

        def read_head(self, deadline):
            data = self.buffer or self.more(deadline)
            end = data.find(b"\r\n\r\n")
            while end < 0:
                if len(data) > 65536:
                    raise RemoteError("what answers there is not a Glovebox host")
                data += self.more(deadline)
                end = data.find(b"\r\n\r\n")
            self.buffer = data[end + 4:]
            head = data[:end].lower()
            if head[:7] != b"http/1.":
                raise RemoteError("what answers there is not a Glovebox host")
            self.keep = b"\r\nconnection: close" not in head
            self.chunked = b"\r\ntransfer-encoding: chunked" in head
            at = head.find(b"\r\ncontent-length:")
            self.length = -1 if at < 0 else int(head[at + 17:].split(b"\r\n", 1)[0])
            return int(head[9:12])

        def read_exactly(self, length, deadline):
            data = self.buffer
            if len(data) >= length:
                self.buffer = data[length:]
                return data[:length]
            whole = bytearray(length)
            whole[:len(data)] = data
            view = memoryview(whole)
            at = len(data)
            self.buffer = b""
            while at < length:
                self.wait_until(deadline)
                count = self.socket.recv_into(view[at:])
                if not count:
                    raise Gone()
                at += count
            return whole

        def read_line(self, deadline):
            while True:
                line, found, rest = self.buffer.partition(b"\n")
                if found:
                    self.buffer = rest
                    return line.rstrip(b"\r")
                if len(line) > 65536:
                    raise RemoteError("what answers there is not a Glovebox host")
                self.buffer += self.more(deadline)

        def chunks(self, deadline):
            while True:
                size = int(self.read_line(deadline).split(b";", 1)[0], 16)
                if not size:
                    while self.read_line(deadline):
                        pass
                    return
                yield self.read_exactly(size, deadline)
                self.read_line(deadline)

        def pieces(self, deadline):
            """The body as it comes."""
            if self.chunked:
                for piece in self.chunks(deadline):
                    yield piece
            elif self.length >= 0:
                yield self.read_exactly(self.length, deadline)
            else:
                self.keep = False
                while True:
                    if self.buffer:
                        piece, self.buffer = self.buffer, b""
                        yield piece
                    try:
                        self.buffer = self.more(deadline)
                    except Gone:
                        return

        def read_body(self, deadline):
            if self.length >= 0 and not self.chunked:
                return self.read_exactly(self.length, deadline)
            return b"".join([bytes(piece) for piece in self.pieces(deadline)])

    class Address:
        """Where the host is. Read again when nobody answers there: a restarted host has another port and token."""

        def __init__(self):
            tools = late or load()
            try:
                with open(address_file, encoding="utf-8") as file:
                    given = tools["loads"](file.read())
                self.token = str(given["token"])
                url = str(given.get("url") or "")
                self.path = str(given.get("socket") or "")
                if self.path and url and not os.path.exists(self.path):
                    self.path = ""
                self.secure = url.startswith("https://")
                self.label = url.partition("://")[2].partition("/")[0] or "localhost"
                host, _, port = self.label.rpartition(":")
                self.host = (host or self.label).strip("[]")
                self.port = int(port) if host else 443 if self.secure else 80
                (self.token + self.label).encode("ascii")
                if not self.path and not url.startswith(("http://", "https://")):
                    raise ValueError("it names neither a URL nor a socket")
                if "\n" in self.token + self.label or "\r" in self.token + self.label:
                    raise ValueError("it contains line breaks")
            except FileNotFoundError:
                raise HostUnreachable(f"there is no {address_file}: this library has not been connected to a host")
            except (KeyError, TypeError, ValueError, AttributeError) as problem:
                raise HostUnreachable(f"{address_file} cannot be used: {problem}")

    pool = []
    # The first half of every call's id; the second half counts.
    ids = {}

    def forget():
        """After fork: the parent goes on using its connections, and its ids."""
        del pool[:]
        ids.clear()
        ids["lock"] = threading.Lock()
        ids["count"] = 0

    forget()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)

    def new_id():
        with ids["lock"]:
            if "first" not in ids:
                text = os.urandom(8).hex()
                ids["first"] = f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{os.urandom(2).hex()[:3]}-"
            ids["count"] += 1
            return f"{ids['first']}{ids['count']:012x}"

    def connect(timeout):
        """A connection that was just idle, else a new one; while the host restarts, a little patience."""
        while pool:
            try:
                connection = pool.pop()
            except IndexError:
                break
            if not connection.stale():
                return connection
            connection.close()
        patience = monotonic() + min(settings.connect_timeout, 3600.0 if timeout is None else timeout)
        pause = 0.02
        while True:
            address = Address()
            try:
                return Connection(address, max(0.001, patience - monotonic()))
            except OSError as problem:
                if monotonic() + pause >= patience:
                    raise HostUnreachable(f"no host answers at {address.path or address.label}: {problem}")
            time.sleep(pause)
            pause = min(0.5, pause * 2)

    def release(connection):
        if connection.keep and not connection.buffer and len(pool) < 16:
            pool.append(connection)
        else:
            connection.close()

    def exchange(method, path, body, accept, timeout):
        """One request and its whole answer. A refused token is looked up again once: the host may be a new one."""
        deadline = None if timeout is None else monotonic() + timeout
        for attempt in range(2):
            connection = connect(timeout)
            try:
                head = connection.call_head if path == "/v1/calls" else connection.head(method, path, accept)
                connection.send(head, body, deadline)
                status = connection.read_head(deadline)
                content = connection.read_body(deadline)
            except BaseException:
                connection.close()
                raise
            if status == 401 and not attempt:
                connection.close()
                for other in pool[:]:
                    other.close()
                del pool[:]
                continue
            release(connection)
            return status, content

    links["exchange"] = exchange

    def stop(call_id):
        """Tell the host to cancel, briefly and without complaint: something worse is already on its way up."""
        try:
            exchange("POST", "/v1/calls/" + call_id + "/cancel", b"{}", "application/json", 2.0)
        except Exception:
            pass

    def late_answer(function, timeout):
        return CallTimeout({"kind": "timeout", "message": f"{function}() gave no answer within {timeout:g} s"})

    def lost(function):
        return HostUnreachable(f"the host went away during {function}(); whether it ran to its end is unknown")

    def call(function, args, kwargs):
        call_id = new_id()
        timeout = settings.timeout
        body = body_of(function, args, kwargs, call_id, timeout)
        try:
            status, content = exchange("POST", "/v1/calls", body, "", timeout)
        except late["socket"].timeout:
            stop(call_id)
            raise late_answer(function, timeout) from None
        except KeyboardInterrupt:
            stop(call_id)
            raise
        except (Gone, OSError) as problem:
            if isinstance(problem, RemoteError):
                raise
            raise lost(function) from None
        answer = answer_of(content)
        if answer.get("ok") is True:
            return answer.get("result")
        raise error_of(answer.get("error"), status) from None

    def events(connection):
        """Server-sent events: (name, data) as they come."""
        name, data, rest = "message", [], b""
        for piece in connection.pieces(None):
            lines = (rest + bytes(piece)).split(b"\n")
            rest = lines.pop()
            for line in lines:
                line = line.rstrip(b"\r")
                if not line:
                    if data:
                        yield name, b"\n".join(data)
                    name, data = "message", []
                    continue
                field, _, value = line.partition(b":")
                value = value[1:] if value[:1] == b" " else value
                if field == b"event":
                    name = value.decode("ascii", "replace")
                elif field == b"data":
                    data.append(value)

    def stream(function, args, kwargs):
        """A generator function of the host: its items as they are made. Leaving the loop early cancels it."""
        call_id = new_id()
        timeout = settings.timeout
        body = body_of(function, args, kwargs, call_id, None)
        return items_of(function, body, timeout)

    def items_of(function, body, timeout):
        connection = None
        try:
            for attempt in range(2):
                connection = connect(timeout)
                connection.idle = timeout
                connection.send(connection.head("POST", "/v1/calls",
                                                "text/event-stream, application/vnd.glovebox+json"), body, None)
                status = connection.read_head(None)
                if status != 401 or attempt:
                    break
                connection.close()
            if status != 200:
                raise error_of(answer_of(connection.read_body(None)).get("error"), status)
            for name, data in events(connection):
                if name == "item":
                    item = answer_of(data)
                    yield item.get("item", item.get("value"))
                elif name == "result" or name == "done":
                    answer = answer_of(data)
                    if answer.get("ok") is True:
                        return answer.get("result")
                    raise error_of(answer.get("error"), status)
            raise lost(function)
        except (Gone, OSError) as problem:
            if isinstance(problem, RemoteError):
                raise
            if isinstance(problem, late["socket"].timeout):
                raise late_answer(function, timeout) from None
            raise lost(function) from None
        finally:
            if connection is not None:
                connection.close()

    return call, stream, RemoteError, CallTimeout, CallCancelled, HostUnreachable, Array, Image, settings


(_gb_call, _gb_stream, RemoteError, CallTimeout, CallCancelled, HostUnreachable, Array, Image,
 settings) = _gb_runtime(__file__, __name__)
