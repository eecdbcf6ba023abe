# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Results as record form text: the C encoder where a value is plain JSON, a walk where it is not."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import uuid
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set

from .errors import CallError
from .tensors import Captured, TensorStore, describe_shape, kind_of

MAX_DEPTH = 56
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1
_INFINITE = {float("inf"): "inf", float("-inf"): "-inf"}
_SCALARS = frozenset((str, float, bool, type(None)))
_TEXTS = (pathlib.PurePath, uuid.UUID, decimal.Decimal)
_DATES = (datetime.date, datetime.time)
_MAX_WARNINGS = 20


class Encoded(NamedTuple):
    text: bytes
    special: bool  # holds record forms that a plain JSON client cannot read
    tensors: List[Captured]
    warnings: List[str]


def _make_encode() -> Callable[[Any], str]:
    """JSONEncoder.encode builds its C half anew on each call; one that lives costs half as much."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    quote = json.encoder.encode_basestring
    try:
        c_encode = json.encoder.c_make_encoder(None, encoder.default, quote, None, ":", ",", False, False, False)
        if "".join(c_encode({"a": [1, 2.5, None]}, 0)) == '{"a":[1,2.5,null]}':
            return lambda value: "".join(c_encode(value, 0))
    except (TypeError, AttributeError):
        return encoder.encode
    return encoder.encode


_encode = _make_encode()
_fast: Optional[Callable[[Any], Optional[bytes]]] = None


def use_speed(folder: str) -> None:
    """Lets the compiled encoder in ``folder`` write what is plain, where this Python can load it."""
    global _fast
    for suffix in importlib.machinery.EXTENSION_SUFFIXES if folder else ():
        path = os.path.join(folder, "glovebox_speed" + suffix)
        if not os.path.exists(path):
            continue
        try:
            loader = importlib.machinery.ExtensionFileLoader("glovebox_speed", path)
            spec = importlib.util.spec_from_file_location("glovebox_speed", path, loader=loader)
            module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
            loader.exec_module(module)
            if module.encode({"a": [1, 2.5, None]}) == b'{"a":[1,2.5,null]}':
                _fast = module.encode
        except (ImportError, AttributeError):  # another machine's, or a Python without the stable ABI
            return


def has_speed() -> bool:
    return _fast is not None


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether the C encoder writes this value exactly as the record form wants it (NaN aside)."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is int:
        return bool(_LOWEST <= value <= _HIGHEST)
    if depth > MAX_DEPTH:
        return False
    if kind is dict:
        for key in value:
            if type(key) is not str or key[:1] == "$":
                return False
        return _all_plain(value.values(), depth + 1)
    if kind is list or kind is tuple:
        return _all_plain(value, depth + 1)
    return False


def _all_plain(values: Any, depth: int) -> bool:
    kinds = set(map(type, values))
    if kinds <= _SCALARS:
        return True
    if kinds == {int}:
        return bool(min(values) >= _LOWEST and max(values) <= _HIGHEST)
    return all(type(value) in _SCALARS or is_plain(value, depth) for value in values)


def encode(value: Any, root: str = "result", store: Optional[TensorStore] = None, keep: bool = False) -> Encoded:
    """``store`` where tensors are values; ``keep`` lets those on a device stay there."""
    if _fast is not None:
        text = _fast(value)
        if text is not None:
            return Encoded(text, False, [], [])
    elif is_plain(value):
        try:
            return Encoded(_encode(value).encode("utf-8"), False, [], [])
        except ValueError:  # NaN, Infinity, or half of a surrogate pair
            pass
    walk = _Walk(root, store, keep)
    try:
        plain = walk.convert(value, 0)
        return Encoded(_encode(plain).encode("utf-8"), walk.special, walk.tensors, walk.warnings)
    except BaseException:
        for tensor in walk.tensors:
            tensor.close()
        raise


class _Walk:
    """Turns a value into what the C encoder can write, and knows where it is when it cannot."""

    def __init__(self, root: str, store: Optional[TensorStore], keep: bool) -> None:
        self._root = root
        self._store = store
        self._keep = keep
        self._path: List[str] = []
        self._open: Set[int] = set()
        self.special = False
        self.tensors: List[Captured] = []
        self.warnings: List[str] = []

    def convert(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self._int(value)
        if kind is float:
            return self._float(value)
        if depth > MAX_DEPTH:
            self._fail(f"is nested more than {MAX_DEPTH} deep")
        if isinstance(value, enum.Enum):
            return self.convert(value.value, depth)
        if isinstance(value, dict):
            return self._inside(value, lambda: self._dict(value, depth + 1))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            named = dict(zip(value._fields, value))
            return self._inside(value, lambda: self._dict(named, depth + 1))
        if isinstance(value, (list, tuple)):
            return self._inside(value, lambda: self._list(value, depth + 1))
        return self._other(value, depth)

    def _other(self, value: Any, depth: int) -> Any:
        foreign = kind_of(value)
        if foreign == "scalar":
            return self.convert(value.item(), depth)
        if foreign is not None:
            return self._foreign(value, foreign)
        if isinstance(value, (bool, int, float, str)):  # subclasses of the plain types
            base = next(base for base in (bool, int, float, str) if isinstance(value, base))
            return self.convert(base.__new__(base, value) if base is not str else str.__str__(value), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self._inside(value, lambda: self._dict(fields, depth + 1))
        if isinstance(value, _TEXTS):
            return str(value)
        if isinstance(value, _DATES):
            return value.isoformat()
        if isinstance(value, (set, frozenset)):
            return self._inside(value, lambda: self._list(_sorted(value), depth + 1))
        if isinstance(value, (bytes, bytearray, memoryview)):
            self._fail(f"is {len(value)} bytes: return text, for example base64.b64encode(value).decode()")
        dump = getattr(value, "model_dump", None)
        if callable(dump) and not isinstance(value, type):  # pydantic
            return self._inside(value, lambda: self.convert(dump(), depth + 1))
        return self._refuse(value)

    def _refuse(self, value: Any) -> Any:
        if isinstance(value, type):
            self._fail(f"is the class {value.__name__}")
        if hasattr(value, "__next__"):
            self._fail(f"is a {type(value).__name__}: return list(…)")
        if callable(value):
            self._fail(f"is the function {getattr(value, '__name__', type(value).__name__)}: call it")
        self._fail(f"is {_article(type(value).__name__)}, which JSON has no form for: return a dict of its parts")

    def _inside(self, value: Any, convert: Callable[[], Any]) -> Any:
        if id(value) in self._open:
            self._fail("contains itself")
        self._open.add(id(value))
        try:
            return convert()
        finally:
            self._open.discard(id(value))

    def _list(self, values: Any, depth: int) -> List[Any]:
        if set(map(type, values)) == {float}:
            return self._floats(values)
        out = []
        self._path.append("")
        for index, item in enumerate(values):
            self._path[-1] = f"[{index}]"
            out.append(self.convert(item, depth))
        self._path.pop()
        return out

    def _floats(self, values: Any) -> List[Any]:
        """Long rows of numbers with a NaN among them are common; this is their short way."""
        out = [x if x - x == 0.0 else self._float(x) for x in values]
        return out

    def _dict(self, value: Dict[Any, Any], depth: int) -> Dict[str, Any]:
        out: Dict[str, Any] = {}
        self._path.append("")
        for key, item in value.items():
            self._path[-1] = f"[{_key_text(key)}]"
            name = self._key(key)
            if name in out:
                self._fail(f"has two keys that become {name!r}")
            out[name] = self.convert(item, depth)
        self._path.pop()
        return out

    def _key(self, key: Any) -> str:
        if isinstance(key, enum.Enum):
            key = key.value
        if isinstance(key, str):
            name = self._text(str.__str__(key))
            if name.lstrip("$") == "gb" and name.startswith("$"):
                self.special = True
                return "$" + name
            return name
        if isinstance(key, bool) or kind_of(key) not in (None, "scalar") or not hasattr(key, "__index__"):
            self._path.pop()
            self._fail(f"has the key {_key_text(key)}, a {type(key).__name__}: JSON's keys are strings")
        self._warn("has whole numbers as keys; they became strings", parent=True)
        return str(key.__index__())

    def _text(self, value: str) -> str:
        if not value.isascii():
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                self._fail("is text with half of a surrogate pair, which is not Unicode")
        return value

    def _int(self, value: int) -> Any:
        if _LOWEST <= value <= _HIGHEST:
            return value
        if value.bit_length() > 13000:  # about 4000 digits, where Python itself refuses to write them
            self._fail("is a whole number of more than 4000 digits")
        self.special = True
        return {"$gb": "int", "v": str(value)}

    def _float(self, value: float) -> Any:
        if value - value == 0.0:
            return value
        self.special = True
        name = "nan" if value != value else _INFINITE[value]
        self._warn("has NaN or infinite numbers, which plain JSON has no form for")
        return {"$gb": name}

    def _foreign(self, value: Any, kind: str) -> Any:
        if self._store is None:
            hint = {"image": "save it to PNG and return base64 text", "table": 'return .to_dict("records")'}
            way = hint.get(kind, "return .item()" if describe_shape(value) == "[]" else "return .tolist()")
            shape = f" of shape {describe_shape(value)}" if kind in ("tensor", "array", "table") else ""
            self._fail(f"is {_article(type(value).__name__)}{shape}: {way}, or allow tensors")
        try:
            converted = self._store.capture(value, kind, self._keep, self.tensors, self._float)
        except CallError as error:
            self._fail(error.message)
        self.special = True
        return converted

    def _warn(self, text: str, parent: bool = False) -> None:
        where = self._root + "".join(self._path[:-1] if parent else self._path)
        message = f"{where} {text}"
        told = text in "\n".join(self.warnings)
        if not told and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(message)

    def _fail(self, text: str) -> Any:
        where = self._root + "".join(self._path)
        raise CallError("not_serialisable", f"{where} {text}", None, where)


def _article(name: str) -> str:
    return ("an " if name[:1].lower() in "aeiou" or name == "ndarray" else "a ") + name


def _key_text(key: Any) -> str:
    text = json.dumps(key, ensure_ascii=False) if isinstance(key, str) else repr(key)
    return text if len(text) <= 80 else text[:77] + "..."


def _sorted(values: Any) -> List[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)
