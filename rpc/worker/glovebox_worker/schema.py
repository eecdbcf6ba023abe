# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Describes exposed functions: the schema of the worker link."""

from __future__ import annotations

import inspect
from typing import Any, Dict

from . import serialise
from .binding import Binder
from .exposing import Exposed, Registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_P = inspect.Parameter


def describe_function(exposed: Exposed, registry: Registry) -> Dict[str, Any]:
    signature = inspect.signature(exposed.fn)
    exposed.bind = Binder(exposed.name, signature, {})
    doc = inspect.getdoc(exposed.fn) or ""
    return {
        "name": exposed.name,
        "doc": doc,
        "summary": doc.strip().split("\n", 1)[0],
        "signature": str(signature),
        "line": exposed.line,
        "async": exposed.is_async,
        "generator": exposed.is_generator,
        "read_only": exposed.read_only,
        "concurrency": exposed.concurrency,
        "timeout": exposed.timeout,
        "tensors": exposed.tensors,
        "show": exposed.show,
        "parameters": [_parameter(p) for p in signature.parameters.values()],
        "input_schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {p.name: {} for p in signature.parameters.values()},
            "required": [p.name for p in signature.parameters.values() if p.default is _P.empty],
            "additionalProperties": False,
        },
        "output_schema": {},
        "warnings": [],
    }


def _parameter(p: inspect.Parameter) -> Dict[str, Any]:
    has_default = p.default is not _P.empty
    plain = has_default and serialise.is_plain(p.default)
    return {
        "name": p.name,
        "kind": p.kind.name.lower(),
        "annotation": "" if p.annotation is _P.empty else inspect.formatannotation(p.annotation),
        "has_default": has_default,
        "default": p.default if plain else None,
        "default_repr": repr(p.default) if has_default else "",
        "default_is_json": plain,
        "description": "",
    }
