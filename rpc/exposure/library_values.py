# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# The run-time part of a library that Glovebox made from an interface file. It is the same in every library, byte for
# byte; below it stand only definitions that hand their arguments to _gb_call or _gb_stream. The functions themselves
# run on the host. Where the host is, and the token that opens it, stand in the file NAME.host.json beside this one.
from __future__ import annotations


def _gb_values(module_name, links):
    """Arguments and results as the host speaks of them. `links` gets "exchange" once there is a connection."""
    # An exposed function may be called `len` or `open`, so nothing in here looks a name up in the module.
    from builtins import (
        ArithmeticError, AssertionError, AttributeError, ConnectionError, Exception, IndexError, KeyError,
        LookupError, MemoryError, NotImplementedError, RecursionError, RuntimeError, TimeoutError, TypeError,
        UnicodeError, ValueError, ZeroDivisionError, __import__, bool, bytearray, bytes, dict, float,
        getattr, hasattr, int, isinstance, len, list, map, max, memoryview, min, open, range, set, str, tuple,
        type, zip)
    import os
    import sys

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
        status, content = links["exchange"]("GET", path, b"", "application/octet-stream", settings.timeout)
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

    def floats(value):
        import array
        import base64
        numbers = array.array("d", base64.b64decode(value["v"]))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers.tolist()

    def revive(value):
        """json's object_hook: record forms become what they stand for."""
        if "$gb" in value:
            kind = value["$gb"]
            if kind == "nan" or kind == "inf" or kind == "-inf":
                return float(kind)
            if kind == "int":
                return long_integer(str(value["v"]))
            if kind in ("tensor", "image", "table", "floats"):
                return {"tensor": tensor, "image": image, "table": table, "floats": floats}[kind](value)
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

    return (late, load, settings, body_of, answer_of, error_of, RemoteError, CallTimeout, CallCancelled,
            HostUnreachable, Array, Image)
