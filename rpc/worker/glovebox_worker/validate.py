# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Checks made from forms: each takes a JSON value and returns what the function gets, or raises BadValue.

Whole numbers for a float are the only values that are changed; everything else fits or is refused.
"""

from __future__ import annotations

import datetime
import decimal
import pathlib
import re
import uuid
from typing import Any, Callable, Dict, List, Optional

from .binding import BadValue
from .forms import Form, enum_choices

Check = Optional[Callable[[Any], Any]]


def make_check(form: Form) -> Check:
    """None where anything is let through."""
    return _Maker().make(form)


class _Maker:
    def __init__(self) -> None:
        self._made: Dict[int, Any] = {}  # of forms that may contain themselves

    def make(self, form: Form) -> Check:
        builder = getattr(self, "_" + form.kind, None)
        check: Check
        if builder is not None:
            check = builder(form)
        elif form.kind in _PARSED:
            check = _parsed(form)
        else:
            check = _SIMPLE.get(form.kind)
        return _limited(form, check) if form.notes else check

    def _alias(self, form: Form) -> Check:
        return self._later(form, lambda: self.make(form.args[0]))

    def _later(self, form: Form, build: Callable[[], Check]) -> Check:
        if id(form) in self._made:
            return lambda value: self._made[id(form)](value)
        self._made[id(form)] = _anything
        self._made[id(form)] = build() or _anything
        return self._made[id(form)]

    def _list(self, form: Form) -> Check:
        item = self.make(form.args[0])
        expected, inner = form.text, form.args[0]

        def check(value: Any) -> Any:
            if type(value) is not list:
                raise BadValue(expected, value)
            if item is None:
                return value
            if inner.kind in _EXACT and not inner.notes and set(map(type, value)) <= {_EXACT[inner.kind]}:
                return value
            return _each(item, value)

        return check

    def _tuple_of(self, form: Form) -> Check:
        inner = self._list(form)
        return lambda value: tuple(inner(value))  # type: ignore[misc]

    def _set(self, form: Form) -> Check:
        inner, made = self._list(form), form.data

        def check(value: Any) -> Any:
            items = inner(value)  # type: ignore[misc]
            try:
                return made(items)
            except TypeError:
                raise BadValue("a list of values that a set can hold", value) from None

        return check

    def _tuple(self, form: Form) -> Check:
        checks = [self.make(arg) for arg in form.args]

        def check(value: Any) -> Any:
            if type(value) is not list or len(value) != len(checks):
                raise BadValue(f"a list of {len(checks)}", value)
            return tuple(_at(item, v, f"[{i}]") for i, (item, v) in enumerate(zip(checks, value)))

        return check

    def _dict(self, form: Form) -> Check:
        key_form, item = form.args[0], self.make(form.args[1])
        key = _key_check(key_form, self)

        def check(value: Any) -> Any:
            if type(value) is not dict:
                raise BadValue(form.text, value)
            if key is None and item is None:
                return value
            return {_at(key, k, f"[{k!r}]"): _at(item, v, f"[{k!r}]") for k, v in value.items()}

        return check

    def _union(self, form: Form) -> Check:
        checks = [self.make(arg) for arg in form.args]
        exact = {_EXACT[arg.kind] for arg in form.args if arg.kind in _EXACT and not arg.notes}
        if None in checks:
            return None

        def check(value: Any) -> Any:
            if type(value) in exact:
                return value
            deepest = None
            for one in checks:
                try:
                    return one(value)  # type: ignore[misc]
                except BadValue as bad:
                    if bad.path and (deepest is None or len(bad.path) > len(deepest.path)):
                        deepest = bad
            raise deepest or BadValue(form.text, value)

        return check

    def _literal(self, form: Form) -> Check:
        allowed = {(type(value), value): value for value in form.data}
        allowed.update({(type(v.value), v.value): v for v in form.data if hasattr(v, "value")})

        def check(value: Any) -> Any:
            try:
                return allowed[(type(value), value)]
            except (KeyError, TypeError):
                raise BadValue(form.text, value) from None

        return check

    def _enum(self, form: Form) -> Check:
        members = {(type(choice), choice): member for choice, member in zip(enum_choices(form.data), form.data)}
        names = form.data.__members__

        def check(value: Any) -> Any:
            try:
                found = members.get((type(value), value))
            except TypeError:
                raise BadValue(form.text, value) from None
            if found is None and type(value) is str:
                found = names.get(value)
            if found is None:
                raise BadValue(form.text, value)
            return found

        return check

    def _fields(self, form: Form) -> Callable[[Any], Dict[str, Any]]:
        checks = {name: self.make(inner) for name, (inner, _) in form.fields.items()}
        required = [name for name, (_, needed) in form.fields.items() if needed]

        def check(value: Any) -> Dict[str, Any]:
            if type(value) is not dict:
                raise BadValue(form.text, value)
            for name in value:
                if name not in checks:
                    raise BadValue("no such key", value[name]).inside(f".{name[:60]}")
            for name in required:
                if name not in value:
                    raise BadValue(f"{form.text} with the key {name!r}", value)
            return {name: _at(checks[name], item, f".{name}") for name, item in value.items()}

        return check

    def _typed_dict(self, form: Form) -> Check:
        return self._later(form, lambda: self._fields(form))

    def _dataclass(self, form: Form) -> Check:
        def build() -> Check:
            fields = self._fields(form)
            return lambda value: _built(lambda: form.data(**fields(value)), form, value)

        return self._later(form, build)

    def _named_tuple(self, form: Form) -> Check:
        names = list(form.fields)

        def build() -> Check:
            fields = self._fields(form)

            def check(value: Any) -> Any:
                if type(value) is list and len(value) <= len(names):
                    value = dict(zip(names, value))
                return _built(lambda: form.data(**fields(value)), form, value)

            return check

        return self._later(form, build)

    def _pydantic(self, form: Form) -> Check:
        def check(value: Any) -> Any:
            try:
                return form.data.model_validate(value)
            except ValueError as error:
                raise _pydantic_error(form, value, error) from None

        return check


def _pydantic_error(form: Form, value: Any, error: Any) -> BadValue:
    try:
        first = error.errors()[0]
        bad = BadValue(form.text, first.get("input", value), first["msg"])
        bad.path = [f".{part}" if isinstance(part, str) else f"[{part}]" for part in first["loc"]]
        return bad
    except Exception:  # a validator of the author's own may raise a bare ValueError
        return BadValue(form.text, value, str(error)[:500])


def _anything(value: Any) -> Any:
    return value


def _at(check: Check, value: Any, part: str) -> Any:
    if check is None:
        return value
    try:
        return check(value)
    except BadValue as bad:
        raise bad.inside(part) from None


def _each(check: Callable[[Any], Any], values: List[Any]) -> List[Any]:
    out: List[Any] = []
    try:
        for value in values:
            out.append(check(value))
    except BadValue as bad:
        raise bad.inside(f"[{len(out)}]") from None
    return out


def _built(build: Callable[[], Any], form: Form, value: Any) -> Any:
    try:
        return build()
    except (ValueError, TypeError, AssertionError) as error:
        raise BadValue(form.text, value, str(error)[:500]) from None


def _key_check(form: Form, maker: _Maker) -> Check:
    """JSON's keys are strings; those of a dict[int, …] come as digits."""
    if form.kind in ("str", "any"):
        return None
    inner = maker.make(form)
    if form.kind not in ("int", "float", "union", "literal", "enum"):
        return inner

    def check(key: str) -> Any:
        try:
            return inner(key)  # type: ignore[misc]
        except BadValue:
            number = _number(key)
            if number is None:
                raise
            return inner(number)  # type: ignore[misc]

    return check


def _number(text: str) -> Any:
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,17}\.\d{1,17}", text):
        return float(text)
    return None


def _limited(form: Form, check: Check) -> Check:
    """The limits of ``Annotated``, after the value has its type."""
    notes = form.notes
    tests = [(keyword, notes[keyword]) for keyword in _TESTS if keyword in notes]
    if not tests:
        return check

    def limited(value: Any) -> Any:
        made = value if check is None else check(value)
        for keyword, limit in tests:
            if made is not None and not _TESTS[keyword][1](made, limit):
                raise BadValue(f"{form.text} {_TESTS[keyword][0]} {limit}", value)
        return made

    return limited


_TESTS: Dict[str, Any] = {
    "minimum": ("of at least", lambda value, limit: value >= limit),
    "maximum": ("of at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": ("above", lambda value, limit: value > limit),
    "exclusiveMaximum": ("below", lambda value, limit: value < limit),
    "multipleOf": ("in steps of", lambda value, limit: value % limit == 0),
    "minLength": ("with a length of at least", lambda value, limit: len(value) >= limit),
    "maxLength": ("with a length of at most", lambda value, limit: len(value) <= limit),
    "pattern": ("matching", lambda value, limit: re.search(limit, value) is not None),
}


def _str(value: Any) -> Any:
    if type(value) is str:
        return value
    raise BadValue("str", value)


def _int(value: Any) -> Any:
    if type(value) is int:
        return value
    raise BadValue("int", value)


def _float(value: Any) -> Any:
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            pass
    raise BadValue("float", value)


def _bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise BadValue("bool", value)


def _none(value: Any) -> Any:
    if value is None:
        return value
    raise BadValue("null", value)


_SIMPLE: Dict[str, Callable[[Any], Any]] = {"str": _str, "int": _int, "float": _float, "bool": _bool, "none": _none}
_EXACT = {"str": str, "int": int, "float": float, "bool": bool, "none": type(None)}
_PARSED: Dict[str, Any] = {
    "path": (pathlib.Path, "a path"),
    "datetime": (lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")), "a date and time"),
    "date": (datetime.date.fromisoformat, "a date such as 2031-05-20"),
    "time": (datetime.time.fromisoformat, "a time such as 14:30"),
    "uuid": (uuid.UUID, "a UUID"),
    "decimal": (decimal.Decimal, "a number as a string"),
}


def _parsed(form: Form) -> Check:
    parse, expected = _PARSED[form.kind]

    def check(value: Any) -> Any:
        if type(value) is not str:
            raise BadValue(expected, value)
        try:
            return parse(value)
        except (ValueError, ArithmeticError):
            raise BadValue(expected, value) from None

    return check
