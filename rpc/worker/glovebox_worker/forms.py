# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations read into forms: a small tree that the schema and the checks are both made from."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import sys
import typing
import uuid
from types import SimpleNamespace
from typing import Any, Dict, List, Tuple

_SCALARS = {
    str: "str", int: "int", float: "float", bool: "bool", type(None): "none", None: "none",
    pathlib.Path: "path", pathlib.PurePath: "path", datetime.datetime: "datetime", datetime.date: "date",
    datetime.time: "time", uuid.UUID: "uuid", decimal.Decimal: "decimal",
}  # fmt: skip
_ABC = collections.abc
_LISTS = (list, _ABC.Sequence, _ABC.MutableSequence, _ABC.Iterable, _ABC.Collection)
_ITERATORS = (_ABC.Iterator, _ABC.Generator, _ABC.AsyncIterator, _ABC.AsyncGenerator, _ABC.AsyncIterable)
_SETS = (set, frozenset, _ABC.Set, _ABC.MutableSet)
_DICTS = (dict, _ABC.Mapping, _ABC.MutableMapping, collections.OrderedDict, collections.defaultdict)
_ANY = (Any, object, inspect.Parameter.empty)


class Form:
    """``kind`` decides what ``args`` (forms inside), ``fields`` (named ones) and ``data`` mean."""

    __slots__ = ("kind", "args", "fields", "data", "notes", "text")

    def __init__(self, kind: str, args: Tuple["Form", ...] = (), data: Any = None, text: str = "") -> None:
        self.kind = kind
        self.args = args
        self.data = data
        self.fields: Dict[str, Tuple[Form, bool]] = {}  # name → form, required
        self.notes: Dict[str, Any] = {}
        self.text = text or kind


class FormError(Exception):
    """An annotation that cannot be read; the message says why."""


def resolve(annotation: Any, names: Dict[str, Any]) -> Any:
    """An annotation with its strings looked up, as the file itself would."""
    module = sys.modules.get("typing_extensions", typing)
    carrier = SimpleNamespace(__annotations__={"it": annotation})
    options = {"include_extras": True} if module is not typing or sys.version_info >= (3, 9) else {}
    try:
        return module.get_type_hints(carrier, names, names, **options)["it"]
    except Exception as error:
        raise FormError(f"{type(error).__name__}: {error}") from None


class Reader:
    """Reads the annotations of one file. What it does not know becomes "any", with a complaint."""

    def __init__(self, names: Dict[str, Any]) -> None:
        self._names = names
        self._classes: Dict[Any, Form] = {}
        self.complaints: List[str] = []

    def read(self, annotation: Any) -> Form:
        if isinstance(annotation, str) or annotation is not None:
            annotation = resolve(annotation, self._names)
        return self._read(annotation)

    def _read(self, annotation: Any) -> Form:
        if annotation in _ANY if _hashable(annotation) else False:
            return Form("any")
        if _hashable(annotation) and annotation in _SCALARS:
            kind = _SCALARS[annotation]
            return Form(kind, text="null" if kind == "none" else kind)
        if hasattr(annotation, "__metadata__"):
            return self._annotated(annotation)
        if isinstance(annotation, (typing.ForwardRef, str)):
            return self._forward(annotation)
        if isinstance(annotation, typing.TypeVar):
            return self._read(annotation.__bound__) if annotation.__bound__ else Form("any")
        if hasattr(annotation, "__value__") and hasattr(annotation, "__type_params__"):  # type X = ...
            return self._once(annotation, annotation.__value__)
        if hasattr(annotation, "__supertype__"):  # NewType
            return self._read(annotation.__supertype__)
        origin = typing.get_origin(annotation) or getattr(annotation, "__origin__", None)
        if origin is not None:
            return self._generic(annotation, origin, getattr(annotation, "__args__", ()))
        if isinstance(annotation, type):
            return self._class(annotation)
        return self._unknown(annotation)

    def _once(self, key: Any, target: Any) -> Form:
        """For what may contain itself: the form exists before what is inside it is read."""
        form = self._classes.get(key)
        if form is None:
            form = self._classes[key] = Form("alias", text=str(getattr(key, "__name__", key)), data=key)
            form.args = (self._read(target),)
        return form

    def _forward(self, annotation: Any) -> Form:
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        if text in self._classes:
            return self._classes[text]
        if text not in self._names:
            return self._read(resolve(text, self._names))
        return self._once(text, self._names[text])

    def _annotated(self, annotation: Any) -> Form:
        inner = self._read(annotation.__origin__)
        form = Form(inner.kind, inner.args, inner.data, inner.text)
        form.fields = inner.fields
        form.notes = {**inner.notes, **_notes(annotation.__metadata__)}
        return form

    def _generic(self, annotation: Any, origin: Any, args: Tuple[Any, ...]) -> Form:
        name = getattr(origin, "_name", None) or getattr(origin, "__name__", "")
        if origin is typing.Union or name == "UnionType":
            return _union(tuple(self._read(arg) for arg in args))
        if name == "Literal" or origin is getattr(typing, "Literal", None):
            return Form("literal", data=args, text=" or ".join(_shown(value) for value in args))
        if name in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
            return self._read(args[0])
        if origin is tuple:
            return self._tuple(args)
        real = tuple(arg for arg in args if not isinstance(arg, typing.TypeVar))
        if origin in _LISTS or origin in _ITERATORS:
            item = self._read(real[0]) if real else Form("any")
            return Form("list", (item,), text=f"a list of {item.text}" if real else "a list")
        if origin in _SETS:
            item = self._read(real[0]) if real else Form("any")
            return Form("set", (item,), data=frozenset if origin in (frozenset, _ABC.Set) else set, text="a list")
        if origin in _DICTS:
            key, value = (self._read(real[0]), self._read(real[1])) if len(real) == 2 else (Form("str"), Form("any"))
            return Form("dict", (key, value), text="an object")
        if isinstance(origin, type):
            return self._class(origin)
        return self._unknown(annotation)

    def _tuple(self, args: Tuple[Any, ...]) -> Form:
        if len(args) == 2 and args[1] is Ellipsis:
            return Form("tuple_of", (self._read(args[0]),), text="a list")
        if args == ((),):  # Tuple[()] before 3.11
            args = ()
        return Form("tuple", tuple(self._read(arg) for arg in args), text=f"a list of {len(args)}")

    def _class(self, cls: type) -> Form:
        if cls in self._classes:
            return self._classes[cls]
        if issubclass(cls, enum.Enum):
            return Form("enum", data=cls, text="one of " + ", ".join(_shown(v) for v in enum_choices(cls)))
        if cls in _LISTS or cls in _ITERATORS:
            return Form("list", (Form("any"),), text="a list")
        if cls in _SETS:
            return Form("set", (Form("any"),), data=cls if cls in (set, frozenset) else set, text="a list")
        if cls is tuple:
            return Form("tuple_of", (Form("any"),), text="a list")
        if cls in _DICTS:
            return Form("dict", (Form("str"), Form("any")), text="an object")
        if issubclass(cls, dict) and hasattr(cls, "__total__"):
            return self._typed_dict(cls)
        if dataclasses.is_dataclass(cls):
            return self._dataclass(cls)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return self._named_tuple(cls)
        if callable(getattr(cls, "model_validate", None)) and callable(getattr(cls, "model_json_schema", None)):
            return Form("pydantic", data=cls, text=cls.__name__)
        return self._unknown(cls)

    def _structure(self, kind: str, cls: type) -> Form:
        form = self._classes[cls] = Form(kind, data=cls, text=f"an object ({cls.__name__})")
        return form

    def _field(self, cls: type, annotation: Any) -> Tuple[Any, Form]:
        names = {**self._names, **vars(sys.modules.get(cls.__module__, SimpleNamespace()))}
        try:
            resolved = resolve(annotation, names)
        except FormError as error:
            self.complaints.append(f"{cls.__name__}: {error}")
            return None, Form("any")
        return resolved, self._read(resolved)

    def _typed_dict(self, cls: Any) -> Form:
        form = self._structure("typed_dict", cls)
        required = getattr(cls, "__required_keys__", None)
        for base in reversed(cls.__mro__):
            for name, annotation in vars(base).get("__annotations__", {}).items():
                resolved, inner = self._field(cls, annotation)
                marker = getattr(typing.get_origin(resolved), "_name", "")
                needed = name in required if required is not None else cls.__total__
                form.fields[name] = (inner, marker == "Required" or (needed and marker != "NotRequired"))
        if not form.fields:
            for name, annotation in _annotations(cls).items():
                form.fields[name] = (self._field(cls, annotation)[1], required is None or name in required)
        return form

    def _dataclass(self, cls: Any) -> Form:
        form = self._structure("dataclass", cls)
        missing = dataclasses.MISSING
        for field in dataclasses.fields(cls):
            if field.init:
                needed = field.default is missing and field.default_factory is missing
                form.fields[field.name] = (self._field(cls, field.type)[1], needed)
        return form

    def _named_tuple(self, cls: Any) -> Form:
        form = self._structure("named_tuple", cls)
        annotations = _annotations(cls)
        for name in cls._fields:
            inner = self._field(cls, annotations[name])[1] if name in annotations else Form("any")
            form.fields[name] = (inner, name not in cls._field_defaults)
        return form

    def _unknown(self, annotation: Any) -> Form:
        text = getattr(annotation, "__name__", None) or str(annotation)
        self.complaints.append(f"{text} has no JSON form, so any value is let through")
        return Form("any", data=annotation, text=text)


def _annotations(cls: Any) -> Dict[str, Any]:
    return getattr(cls, "__annotations__", None) or {}


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _union(members: Tuple[Form, ...]) -> Form:
    # An int would fit float as well; whoever wrote both wants it to stay what it is.
    ordered = tuple(sorted(members, key=lambda form: form.kind == "float"))
    return Form("union", ordered, text=" or ".join(dict.fromkeys(form.text for form in members)))


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def enum_choices(cls: Any) -> List[Any]:
    """What stands for the members in JSON: their values, or their names where a value is not JSON."""
    values = [member.value for member in cls]
    plain = all(value is None or type(value) in (str, int, float, bool) for value in values)
    return values if plain else [member.name for member in cls]


_LIMITS = {
    "ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf", "min_length": "minLength", "max_length": "maxLength", "pattern": "pattern",
}  # fmt: skip


def _notes(metadata: Any) -> Dict[str, Any]:
    """Descriptions, units and limits, from our own words and from other libraries' look-alikes."""
    notes: Dict[str, Any] = {}
    for item in metadata:
        if isinstance(item, str):
            if item.startswith("unit:"):
                notes["unit"] = item[5:].strip()
            else:
                notes.setdefault("description", item)
        elif isinstance(item, range):
            if len(item) > 0:
                notes.update(minimum=min(item), maximum=max(item))
        elif isinstance(item, dict):
            known = set(_LIMITS.values()) | {"description", "unit"}
            notes.update({_LIMITS.get(k, k): v for k, v in item.items() if _LIMITS.get(k, k) in known})
        else:
            notes.update(_object_notes(item))
    return notes


def _object_notes(item: Any) -> Dict[str, Any]:
    notes: Dict[str, Any] = {}
    for inner in getattr(item, "metadata", None) or ():  # pydantic's Field
        notes.update(_object_notes(inner))
    for name, keyword in _LIMITS.items():
        value = getattr(item, name, None)
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            notes[keyword] = value
    for name in ("description", "documentation"):
        if isinstance(getattr(item, name, None), str):
            notes["description"] = getattr(item, name)
    if isinstance(getattr(item, "unit", None), str):
        notes["unit"] = item.unit
    return notes
