# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Describes exposed functions: JSON Schema 2020-12 from their annotations, and the checks beside it."""

from __future__ import annotations

import inspect
import re
from typing import Any, Dict, List, Optional, Set

from . import docstrings, serialise
from .binding import Binder, Check
from .exposing import Exposed, Registry
from .forms import Form, FormError, Reader, enum_choices
from .validate import make_check

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_P = inspect.Parameter
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "none": "null", "path": "string"}
_FORMATS = {"datetime": "date-time", "date": "date", "time": "time", "uuid": "uuid", "decimal": "decimal"}
_TENSOR_NAMES = {"Tensor", "ndarray", "DataFrame", "Image", "Parameter"}


class SchemaWriter:
    """Writes forms as schemas. A form that contains itself goes to ``$defs``."""

    def __init__(self) -> None:
        self.defs: Dict[str, Any] = {}
        self._open: List[Form] = []
        self._referred: Set[int] = set()

    def write(self, form: Form) -> Dict[str, Any]:
        schema = self._structure(form) if form.kind in _STRUCTURES else self._plain(form)
        if not form.notes:
            return schema
        notes = dict(form.notes)
        if form.kind in ("list", "set", "tuple_of"):
            notes = {{"minLength": "minItems", "maxLength": "maxItems"}.get(k, k): v for k, v in notes.items()}
        if "unit" in notes:
            notes["x-unit"] = notes.pop("unit")
        return {**schema, **notes}

    def _plain(self, form: Form) -> Dict[str, Any]:
        kind = form.kind
        if kind in _TYPES:
            return {"type": _TYPES[kind]}
        if kind in _FORMATS:
            return {"type": "string", "format": _FORMATS[kind]}
        if kind in ("list", "tuple_of", "set"):
            schema = {"type": "array", "items": self.write(form.args[0])}
            return {**schema, "uniqueItems": True} if kind == "set" else schema
        if kind == "tuple":
            size = len(form.args)
            return {
                "type": "array", "prefixItems": [self.write(arg) for arg in form.args], "items": False,
                "minItems": size, "maxItems": size,
            }  # fmt: skip
        if kind == "dict":
            inner = self.write(form.args[1])
            return {"type": "object", "additionalProperties": inner or True}
        if kind == "union":
            return {"anyOf": [self.write(arg) for arg in form.args]}
        if kind == "literal":
            return _choices([getattr(value, "value", value) for value in form.data])
        if kind == "enum":
            return _choices(enum_choices(form.data))
        if kind == "pydantic":
            return self._pydantic(form)
        return {}

    def _structure(self, form: Form) -> Dict[str, Any]:
        name = getattr(form.data, "__name__", None) or str(form.data)
        if any(form is outer for outer in self._open):
            self._referred.add(id(form))
            return {"$ref": f"#/$defs/{name}"}
        if id(form) in self._referred:
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(form)
        schema = self.write(form.args[0]) if form.kind == "alias" else self._object(form)
        self._open.pop()
        if id(form) in self._referred:
            self.defs[name] = schema
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def _object(self, form: Form) -> Dict[str, Any]:
        schema: Dict[str, Any] = {"type": "object", "title": form.data.__name__}
        doc = inspect.cleandoc(vars(form.data).get("__doc__") or "")
        if doc and not doc.startswith(form.data.__name__ + "("):
            schema["description"] = doc
        schema["properties"] = {name: self.write(inner) for name, (inner, _) in form.fields.items()}
        schema["required"] = [name for name, (_, needed) in form.fields.items() if needed]
        schema["additionalProperties"] = False
        return schema

    def _pydantic(self, form: Form) -> Dict[str, Any]:
        schema = form.data.model_json_schema()
        self.defs.update(schema.pop("$defs", {}))
        return schema


_STRUCTURES = ("typed_dict", "dataclass", "named_tuple", "alias")


def _choices(values: List[Any]) -> Dict[str, Any]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kinds = {names.get(type(value), "") for value in values}
    schema: Dict[str, Any] = {"enum": values}
    return {"type": kinds.pop(), **schema} if len(kinds) == 1 and "" not in kinds else schema


class Describer:
    """All functions of one file; warnings go to the registry and, by function, into its description."""

    def __init__(self, registry: Registry, names: Dict[str, Any]) -> None:
        self._registry = registry
        self._reader = Reader(names)

    def describe(self, exposed: Exposed) -> Dict[str, Any]:
        before = len(self._registry.warnings)
        signature = inspect.signature(exposed.fn)
        doc = inspect.getdoc(exposed.fn) or ""
        said = docstrings.argument_descriptions(doc)
        forms = {p.name: self._form(exposed, p.name, p.annotation) for p in signature.parameters.values()}
        checks: Dict[str, Check] = {name: make_check(form) for name, form in forms.items()}
        exposed.bind = Binder(exposed.name, signature, checks)
        parameters = [_parameter(p, forms[p.name], said.get(p.name)) for p in signature.parameters.values()]
        description = {
            "name": exposed.name,
            "doc": doc,
            "summary": docstrings.summary(doc),
            "signature": _signature_text(signature, parameters),
            "line": exposed.line,
            "async": exposed.is_async,
            "generator": exposed.is_generator,
            "read_only": exposed.read_only,
            "concurrency": exposed.concurrency,
            "timeout": exposed.timeout,
            "tensors": exposed.tensors,
            "show": exposed.show,
            "parameters": parameters,
            "input_schema": _input_schema(signature, forms, parameters),
            "output_schema": self._output_schema(exposed, signature),
        }
        description["warnings"] = self._registry.warnings[before:]
        return description

    def _form(self, exposed: Exposed, name: str, annotation: Any) -> Form:
        if annotation is _P.empty:
            self._warn(exposed, "missing_hint", f"argument {name!r} has no type hint, so any value is let through")
            return Form("any")
        return self._read(exposed, f"argument {name!r}", annotation)

    def _read(self, exposed: Exposed, what: str, annotation: Any) -> Form:
        self._reader.complaints = []
        try:
            form = self._reader.read(annotation)
        except FormError as error:
            self._warn(exposed, "bad_annotation", f"the annotation of {what} cannot be read: {error}")
            return Form("any")
        for complaint in self._reader.complaints:
            self._warn(exposed, "unknown_type", f"{what}: {complaint}")
        return form

    def _output_schema(self, exposed: Exposed, signature: inspect.Signature) -> Dict[str, Any]:
        annotation = signature.return_annotation
        if annotation is inspect.Signature.empty:
            self._warn(exposed, "missing_hint", "the result has no type hint")
            return {}
        before = len(self._registry.warnings)
        form = self._read(exposed, "the result", annotation)
        if form.kind == "any" and getattr(form.data, "__name__", "") in _TENSOR_NAMES:
            del self._registry.warnings[before:]
            if exposed.tensors != "binary":
                text = f'the result is a {form.text}: return .tolist(), or write @expose(tensors="binary")'
                self._warn(exposed, "tensor_result", text)
            return {}
        writer = SchemaWriter()
        schema = writer.write(form)
        return {**schema, "$defs": writer.defs} if writer.defs else schema

    def _warn(self, exposed: Exposed, code: str, message: str) -> None:
        self._registry.warn(code, message, exposed.line, exposed.name)


def _parameter(p: inspect.Parameter, form: Form, said: Optional[str]) -> Dict[str, Any]:
    has_default = p.default is not _P.empty
    plain = has_default and _is_json(p.default)
    return {
        "name": p.name,
        "kind": p.kind.name.lower(),
        "annotation": _annotation_text(p.annotation),
        "has_default": has_default,
        "default": p.default if plain else None,
        "default_repr": _repr(p.default) if has_default else "",
        "default_is_json": plain,
        "description": form.notes.get("description") or said or "",
    }


def _is_json(value: Any) -> bool:
    try:
        return serialise.is_plain(value) and len(serialise.encode(value)[0]) < 100_000
    except Exception:
        return False


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    return text if len(text) <= 200 else text[:197] + "..."


def _annotation_text(annotation: Any) -> str:
    if annotation is _P.empty:
        return ""
    if isinstance(annotation, str):
        return annotation
    try:
        text = inspect.formatannotation(annotation)
    except Exception:
        text = str(annotation)
    return re.sub(r"\b(typing|__main__)\.", "", text)


class _Shown:
    """Stands in a signature for a default or an annotation and prints as given."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature_text(signature: inspect.Signature, parameters: List[Dict[str, Any]]) -> str:
    shown = []
    for p, described in zip(signature.parameters.values(), parameters):
        annotation = _Shown(described["annotation"]) if described["annotation"] else _P.empty
        default = _Shown(described["default_repr"]) if described["has_default"] else _P.empty
        shown.append(p.replace(annotation=annotation, default=default))
    result = _annotation_text(signature.return_annotation)
    return str(inspect.Signature(shown, return_annotation=_Shown(result) if result else inspect.Signature.empty))


def _input_schema(
    signature: inspect.Signature, forms: Dict[str, Form], parameters: List[Dict[str, Any]]
) -> Dict[str, Any]:
    writer = SchemaWriter()
    properties: Dict[str, Any] = {}
    required = []
    extra: Any = False
    for p, described in zip(signature.parameters.values(), parameters):
        schema = writer.write(forms[p.name])
        if p.kind is _P.VAR_KEYWORD:
            extra = schema or True
            continue
        if p.kind is _P.VAR_POSITIONAL:
            schema = {"type": "array", "items": schema}
        elif not described["has_default"]:
            required.append(p.name)
        if described["description"]:
            schema = {**schema, "description": described["description"]}
        if described["default_is_json"]:
            schema = {**schema, "default": described["default"]}
        properties[p.name] = schema
    whole = {"$schema": DIALECT, "type": "object", "properties": properties, "required": required}
    whole["additionalProperties"] = extra
    return {**whole, "$defs": writer.defs} if writer.defs else whole
