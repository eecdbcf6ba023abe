# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""The names an interface file finds without importing anything."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, List, Optional

from .call import DONE, Call, current

Enqueue = Callable[..., None]
_LEVELS = ("debug", "info", "warning", "error")


def variable_names(model_id: str) -> List[str]:
    """``MODEL_<ID>_PATH`` in our spelling and, where it differs, in the original one."""
    strict = re.sub(r"[^A-Z0-9]", "_", model_id.upper())
    original = model_id.upper().replace("/", "_").replace("-", "_")
    return [f"MODEL_{name}_PATH" for name in dict.fromkeys((strict, original))]


class Models:
    """What the keeper says is there. A hidden model is known by its alias, and found by both names."""

    def __init__(self, models: List[Dict[str, Any]]) -> None:
        self._paths: Dict[str, str] = {}
        self._shown: List[str] = []
        for model in models:
            name = model.get("alias") or model["id"]
            self._shown.append(name)
            self._paths[name] = model["path"]
            self._paths[model["id"]] = model["path"]

    def set_variables(self, models: List[Dict[str, Any]]) -> None:
        for model in models:
            name = model.get("alias") or model["id"] if model.get("hidden") else model["id"]
            for variable in variable_names(name):
                os.environ.setdefault(variable, model["path"])

    def path(self, model_id: str) -> str:
        """Where the files of a configured model lie."""
        if not isinstance(model_id, str):
            raise TypeError(f"get_model_path() takes the model's name, not a {type(model_id).__name__}")
        if model_id in self._paths:
            return self._paths[model_id]
        for variable in variable_names(model_id):
            if variable in os.environ:
                return os.environ[variable]
        known = ", ".join(repr(name) for name in self._shown) or "none"
        raise KeyError(f"no model {model_id!r} is configured here (configured: {known})")

    def names(self) -> List[str]:
        """The names of the configured models."""
        return list(self._shown)


def _running() -> Optional[Call]:
    call = current.get()
    return call if call is not None and call.state != DONE else None


def make_helpers(models: Models, enqueue: Enqueue) -> Dict[str, Callable[..., Any]]:
    def get_model_path(model_id: str) -> str:
        """Where the files of a configured model lie."""
        return models.path(model_id)

    def list_configured_models() -> List[str]:
        """The names of the configured models."""
        return models.names()

    def progress(done: float, total: Optional[float] = None, message: str = "") -> None:
        """Tell how far the running call is. Outside a call it does nothing."""
        call = _running()
        if call is not None:
            call.progress = (_number(done), None if total is None else _number(total), str(message))

    def log(*values: Any, level: str = "info", **fields: Any) -> None:
        """A line for the record of the running call, with named values beside it."""
        if level not in _LEVELS:
            raise ValueError("log(): level is one of {}, not {!r}".format(", ".join(_LEVELS), level))
        message = " ".join(str(value) for value in values)
        call = _running()
        if call is None:
            print(message, *("{}={!r}".format(*item) for item in fields.items()))
            return
        plain = {key: _field(value) for key, value in fields.items()}
        enqueue(call, {"t": "log", "id": call.id, "level": level, "message": message, "fields": plain})

    def cancelled() -> bool:
        """Whether the running call should stop. Who asks gets a second to end by itself."""
        call = _running()
        if call is None:
            return False
        call.polled = True
        return call.cancel_requested

    return {
        "get_model_path": get_model_path,
        "list_configured_models": list_configured_models,
        "progress": progress,
        "log": log,
        "cancelled": cancelled,
    }


def _number(value: Any) -> float:
    number = value if type(value) in (int, float) else float(value)
    if number != number or number in (float("inf"), float("-inf")) or abs(number) > 1e300:
        raise ValueError(f"progress() takes finite numbers, not {value!r}")
    return number


def _field(value: Any) -> Any:
    if value is None or type(value) in (bool, str):
        return value
    if type(value) in (int, float) and -1e300 < value < 1e300 and (type(value) is float or abs(value) < 1 << 63):
        return value
    return str(value)
