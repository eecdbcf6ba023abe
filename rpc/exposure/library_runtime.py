# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# The run-time part of a library that Glovebox made from an interface file. It is the same in every library, byte for
# byte; below it stand only definitions that hand their arguments to _gb_call or _gb_stream. The functions themselves
# run on the host. Where the host is, and the token that opens it, stand in the file NAME.host.json beside this one.
from __future__ import annotations


def _gb_runtime(module_file, module_name):
    # An exposed function may be called `len` or `open`, so nothing in here looks a name up in the module.
    from builtins import (
        ArithmeticError, AssertionError, AttributeError, BaseException, BlockingIOError, ConnectionError, Exception,
        FileNotFoundError, IndexError, KeyboardInterrupt, KeyError, LookupError, MemoryError, NotImplementedError,
        OSError, RecursionError, RuntimeError, TimeoutError, TypeError, UnicodeError, ValueError, ZeroDivisionError,
        __import__, bool, bytearray, bytes, dict, float, getattr, hasattr, int, isinstance, len, list, map, max,
        memoryview, min, open, range, set, str, tuple, type, zip)
    import os
    import sys
    import threading
    import time
    monotonic = time.monotonic
    address_file = os.path.join(os.path.dirname(os.path.abspath(module_file)),
                                module_name.rpartition(".")[2] + ".host.json")

    class RemoteError(Exception):
        """A call failed. `kind` says how, `type` and `message` what was raised on the host, `remote_traceback` where.

        A ValueError raised by the function can also be caught as ValueError, and so on for the common types.
        """

        __qualname__ = "RemoteError"

        def __init__(self, error):
            if not isinstance(error, dict):
                error = {"message": str(error)}
            self.error = error
            self.kind = str(error.get("kind") or "function_error")
            self.type = str(error.get("type") or "")
            self.message = str(error.get("message") or "")
            self.remote_traceback = str(error.get("traceback") or "")
            Exception.__init__(self, self.message)

        def __str__(self):
            text = self.message
            if self.type and self.kind == "function_error":
                text = self.type + (": " + text if text else "")
            if self.remote_traceback:
                text += "\n\nOn the host:\n" + self.remote_traceback.rstrip()
            return text

        def __reduce__(self):
            return RemoteError, (self.error,)

    class CallTimeout(RemoteError, TimeoutError):
        """No answer, or no next item, within `settings.timeout` seconds; the host was told to stop the call."""

        __qualname__ = "CallTimeout"

        def __reduce__(self):
            return CallTimeout, (self.error,)

    class CallCancelled(RemoteError):
        """Somebody cancelled the call."""

        __qualname__ = "CallCancelled"

        def __reduce__(self):
            return CallCancelled, (self.error,)

    class HostUnreachable(RemoteError, ConnectionError):
        """The host is not there, or went away during a call (then nobody knows whether the call ran to its end)."""

        __qualname__ = "HostUnreachable"

        def __reduce__(self):
            return HostUnreachable, (self.error,)

    class Settings:
        """timeout: seconds a call may take, None for no limit. connect_timeout: seconds to wait for the host.
        arrays: how tensors arrive: "auto" (torch if it is imported, else numpy if it is installed, else Array),
        "torch", "numpy" or "plain" (Array)."""

        __qualname__ = "Settings"

        def __init__(self):
            self.timeout = 600.0
            self.connect_timeout = 10.0
            self.arrays = "auto"

        def __repr__(self):
            return (f"Settings(timeout={self.timeout!r}, connect_timeout={self.connect_timeout!r}, "
                    f"arrays={self.arrays!r})")

    settings = Settings()
    # What is slow to import, imported by the first call.
    late = {}

    def load():
        import json
        import socket
        late["socket"] = socket
        late["loads"] = json.loads
        late["encode"] = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"),
                                          default=unknown).encode
        return late

    # ---- arguments -------------------------------------------------------------------------------------------------

    class Plainer(Exception):
        pass

    def unknown(value):
        raise Plainer()

    def escaped(key):
        if key[:1] == "$" and key.lstrip("$") == "gb":
            return "$" + key
        return key

    def plain(value, depth):
        """A value the encoder does not write as the host wants it: step by step, in the record form."""
        if depth > 60:
            raise ValueError("an argument is nested too deeply, or contains itself")
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if isinstance(value, float):
            if value - value == 0.0:
                return float(value)
            return {"$gb": "nan" if value != value else "inf" if value > 0 else "-inf"}
        if hasattr(value, "value") and hasattr(kind, "__members__"):  # an Enum
            return plain(value.value, depth + 1)
        if isinstance(value, int):
            number = int(value)
            return number if -0x8000000000000000 <= number <= 0xFFFFFFFFFFFFFFFF else {"$gb": "int", "v": str(number)}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, dict):
            return {escaped(key if isinstance(key, str) else str(key)): plain(item, depth + 1)
                    for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item, depth + 1) for item in value]
        names = getattr(kind, "__dataclass_fields__", None)
        if names is not None:
            return {escaped(name): plain(getattr(value, name), depth + 1) for name in names}
        if hasattr(value, "tolist"):  # arrays and their scalars
            return plain(value.tolist(), depth + 1)
        if hasattr(value, "__fspath__"):
            return str(os.fspath(value))
        if kind.__name__ in ("set", "frozenset", "range", "deque"):
            return [plain(item, depth + 1) for item in value]
        raise TypeError(f"a value of type {kind.__name__} cannot be an argument of a remote function")

    def has_long_integer(values, depth):
        """Whether an integer of more than 64 bits is among the values or in them."""
        kinds = set(map(type, values))
        if kinds == {int}:
            return min(values) < -0x8000000000000000 or max(values) > 0xFFFFFFFFFFFFFFFF
        if depth > 60 or not kinds & {int, list, tuple, dict}:
            return False
        for value in values:
            kind = type(value)
            if kind is int:
                if not -0x8000000000000000 <= value <= 0xFFFFFFFFFFFFFFFF:
                    return True
            elif kind is dict:
                if has_long_integer(value.values(), depth + 1):
                    return True
            elif (kind is list or kind is tuple) and has_long_integer(value, depth + 1):
                return True
        return False

    def settle(function, args, kwargs):
        """Leave out what the caller left out: `...` stands for a default that only the host knows."""
        for index in range(len(args)):
            if args[index] is ...:
                for later in args[index + 1:]:
                    if later is not ... and not isinstance(later, (str, int, float, bool, list, dict, type(None))):
                        raise TypeError(f"{function}(): an argument before this one was left out")
                args = args[:index]
                break
        for value in kwargs.values():
            if value is ...:
                return args, {key: value for key, value in kwargs.items() if value is not ...}
        return args, kwargs

    def body_of(function, args, kwargs, call_id, timeout):
        tools = late or load()
        args, kwargs = settle(function, args, kwargs)
        whole = {"fn": function, "id": call_id, "args": args, "kwargs": kwargs}
        if timeout is not None:
            whole["timeout_ms"] = max(1, int(timeout * 1000))
        try:
            text = tools["encode"](whole)
            if '"$' in text or has_long_integer(args, 0) or has_long_integer(kwargs.values(), 0):
                raise Plainer()
        except (Plainer, ValueError, RecursionError):
            whole["args"] = plain(list(args), 0)
            whole["kwargs"] = plain(kwargs, 0)
            text = tools["encode"](whole)
        try:
            return text.encode("utf-8")
        except UnicodeError:
            raise ValueError("an argument contains half of a surrogate pair, which is no Unicode text")

    # ---- results ---------------------------------------------------------------------------------------------------

    # dtype: bytes of one value, format for struct (none: needs numpy or torch), names in numpy and torch
    dtypes = {
        "f64": (8, "d", "float64", "float64"), "f32": (4, "f", "float32", "float32"),
        "f16": (2, "e", "float16", "float16"), "bf16": (2, "bf16", None, "bfloat16"),
        "i64": (8, "q", "int64", "int64"), "i32": (4, "i", "int32", "int32"), "i16": (2, "h", "int16", "int16"),
        "i8": (1, "b", "int8", "int8"), "u64": (8, "Q", "uint64", "uint64"), "u32": (4, "I", "uint32", "uint32"),
        "u16": (2, "H", "uint16", "uint16"), "u8": (1, "B", "uint8", "uint8"), "bool": (1, "?", "bool", "bool"),
        "c64": (8, None, "complex64", "complex64"), "c128": (16, None, "complex128", "complex128"),
        "f8_e4m3": (1, None, None, "float8_e4m3fn"), "f8_e5m2": (1, None, None, "float8_e5m2"),
    }

    class Array:
        """A tensor where neither torch nor numpy is: `shape`, `dtype`, the raw little-endian `data`, `tolist()`."""

        __qualname__ = "Array"

        def __init__(self, data, dtype, shape):
            self.data = data
            self.dtype = dtype
            self.shape = tuple(shape)

        def __repr__(self):
            return f"Array(shape={self.shape!r}, dtype={self.dtype!r})"

        def __len__(self):
            if not self.shape:
                raise TypeError("a tensor of no dimensions has no length")
            return self.shape[0]

        def _flat(self):
            import struct
            size, letter = dtypes[self.dtype][:2]
            if letter == "bf16":  # the upper half of a float32
                wide = bytearray(2 * len(self.data))
                wide[2::4] = self.data[0::2]
                wide[3::4] = self.data[1::2]
                return list(struct.unpack(f"<{len(self.data) // 2}f", wide))
            if self.dtype in ("c64", "c128"):
                parts = struct.unpack(f"<{2 * len(self.data) // size}{'f' if size == 8 else 'd'}", self.data)
                return [real + 1j * imaginary for real, imaginary in zip(parts[0::2], parts[1::2])]
            if letter is None:
                raise TypeError(f"values of {self.dtype} need torch")
            return list(struct.unpack(f"<{len(self.data) // size}{letter}", self.data))

        def tolist(self):
            values = self._flat()
            if not self.shape:
                return values[0]
            for length in self.shape[:0:-1]:
                count = 1 if not length else len(values) // length
                values = [values[i * length:(i + 1) * length] for i in range(count)] if length else []
            return values

        def __getitem__(self, index):
            if not self.shape:
                raise TypeError("a tensor of no dimensions has no items")
            if not isinstance(index, int):
                return self.tolist()[index]
            if index < 0:
                index += self.shape[0]
            if not 0 <= index < self.shape[0]:
                raise IndexError("index out of range")
            step = len(self.data) // self.shape[0]
            part = Array(self.data[index * step:(index + 1) * step], self.dtype, self.shape[1:])
            return part if part.shape else part.tolist()

        def __reduce__(self):
            return Array, (bytes(self.data), self.dtype, self.shape)

    class Image:
        """An image as it came: `format` and `data` (the bytes of the file)."""

        __qualname__ = "Image"

        def __init__(self, data, format):
            self.data = data
            self.format = format

        def __repr__(self):
            return f"Image(format={self.format!r}, bytes={len(self.data)})"

        def _repr_png_(self):
            return self.data if self.format == "png" else None

        def _repr_jpeg_(self):
            return self.data if self.format in ("jpeg", "jpg") else None

        def save(self, path):
            with open(path, "wb") as file:
                file.write(self.data)

    def imported(name, look):
        if name in sys.modules or not look:
            return sys.modules.get(name)
        try:
            return __import__(name)
        except Exception:
            return None

    def array_of(data, dtype, shape):
        size, _, numpy_name, torch_name = dtypes[dtype]
        count = 1
        for length in shape:
            count *= length
        if len(data) != count * size:
            raise RemoteError(f"the host sent {len(data)} bytes for a {dtype} tensor of shape {shape!r}")
        wanted = settings.arrays
        torch = imported("torch", wanted == "torch") if wanted in ("auto", "torch") else None
        if torch is not None and hasattr(torch, torch_name):
            kind = getattr(torch, torch_name)
            return (torch.frombuffer(bytearray(data), dtype=kind) if data else torch.empty(0, dtype=kind)).reshape(
                shape)
        numpy = imported("numpy", True) if wanted in ("auto", "numpy") else None
        if numpy is not None and numpy_name is not None:
            return numpy.frombuffer(bytearray(data), dtype=numpy_name).reshape(shape)
        if numpy is not None and dtype == "bf16":  # numpy has no such type; float32 holds every value of it
            wide = numpy.frombuffer(data, dtype="uint16").astype("uint32") << 16
            return wide.view("float32").reshape(shape)
        return Array(bytes(data), dtype, shape)

    def fetch(path):
        status, content = exchange("GET", path, b"", "application/octet-stream", settings.timeout)
        if status == 200:
            return content
        raise error_of(answer_of(content).get("error"), status)

    def tensor(value):
        content = fetch("/v1/tensors/" + str(value["handle"]))
        length = int.from_bytes(content[:8], "little")
        head = late["loads"](bytes(content[8:8 + length]))
        for name in head:
            if name != "__metadata__":
                start, end = head[name]["data_offsets"]
                data = memoryview(content)[8 + length + start:8 + length + end]
                return array_of(data, str(value["dtype"]), [int(n) for n in value["shape"]])
        raise RemoteError("the host sent an empty tensor file")

    def image(value):
        import base64
        if "handle" in value:
            content = fetch("/v1/tensors/" + str(value["handle"]))
        else:
            content = base64.b64decode(value["data"])
        return Image(bytes(content), str(value.get("format") or "png"))

    def table(value):
        names = [column["name"] if isinstance(column, dict) else column for column in value["columns"]]
        pandas = imported("pandas", False)
        if pandas is not None:
            return pandas.DataFrame(value["rows"], columns=names)
        return [dict(zip(names, row)) for row in value["rows"]]

    def revive(value):
        """json's object_hook: record forms become what they stand for."""
        if "$gb" in value:
            kind = value["$gb"]
            if kind == "nan" or kind == "inf" or kind == "-inf":
                return float(kind)
            if kind == "int":
                return long_integer(str(value["v"]))
            if kind in ("tensor", "image", "table"):
                return {"tensor": tensor, "image": image, "table": table}[kind](value)
            return value
        for key in value:
            if key[:2] == "$$" and key.lstrip("$") == "gb":
                return {(k[1:] if k[:2] == "$$" and k.lstrip("$") == "gb" else k): v for k, v in value.items()}
        return value

    def long_integer(digits):
        try:
            return int(digits)
        except ValueError:  # more digits than this Python converts at once
            sign, digits = (-1, digits[1:]) if digits[:1] == "-" else (1, digits)
            number = 0
            for start in range(0, len(digits), 1000):
                piece = digits[start:start + 1000]
                number = number * 10 ** len(piece) + int(piece)
            return sign * number

    def answer_of(content):
        tools = late or load()
        try:
            text = bytes(content).decode("utf-8")
            answer = tools["loads"](text, object_hook=revive) if '"$' in text else tools["loads"](text)
        except (ValueError, RecursionError) as problem:
            raise RemoteError(f"the host's answer cannot be read: {problem}")
        if not isinstance(answer, dict):
            raise RemoteError("the host's answer is not an object")
        return answer

    common_errors = {}
    for base in (ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError, MemoryError,
                 NotImplementedError, RuntimeError, TypeError, ValueError, ZeroDivisionError):
        common_errors[base.__name__] = base
    twins = {}

    def error_of(error, status=200):
        if not isinstance(error, dict):
            error = {"message": str(error) if error else f"the host answered with status {status}"}
        kind = error.get("kind")
        if kind == "timeout":
            return CallTimeout(error)
        if kind == "cancelled":
            return CallCancelled(error)
        name = "TypeError" if kind == "bad_arguments" else str(error.get("type") or "").rpartition(".")[2]
        if name not in common_errors:
            return RemoteError(error)
        if name not in twins:
            twins[name] = type(name, (RemoteError, common_errors[name]), {"__module__": module_name})
        return twins[name](error)

    # ---- connection ------------------------------------------------------------------------------------------------

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
            self.call_head = self.head("POST", "/v1/calls", "application/vnd.glovebox+json")

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
