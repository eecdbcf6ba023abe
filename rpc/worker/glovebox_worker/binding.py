# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the JSON arguments of a call where the function's signature wants them."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import CallError

Check = Optional[Callable[[Any], Any]]
Bound = Tuple[List[Any], Dict[str, Any]]

_P = inspect.Parameter


class BadValue(Exception):
    """A value that does not fit. ``path`` grows from the inside out while the checks unwind."""

    def __init__(self, expected: str, value: Any, note: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.value = value
        self.note = note
        self.path: List[str] = []

    def inside(self, part: str) -> "BadValue":
        self.path.insert(0, part)
        return self


def describe_value(value: Any) -> str:
    """What came, in JSON's words and short."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        shown = value if len(value) <= 60 else value[:57] + "..."
        return f'the string "{shown}"'
    if isinstance(value, (int, float)):
        text = repr(value) if not isinstance(value, int) or value.bit_length() < 200 else "a very large number"
        return f"the number {text}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    return "a " + type(value).__name__


class Binder:
    """Made once per function; called for each call with the parsed JSON arguments."""

    def __init__(self, function: str, signature: inspect.Signature, checks: Dict[str, Check]) -> None:
        self._function = function
        self._parameters = list(signature.parameters.values())
        self._checks = checks
        self._positional = [p for p in self._parameters if p.kind in (_P.POSITIONAL_ONLY, _P.POSITIONAL_OR_KEYWORD)]
        self._named = {
            p.name: checks.get(p.name)
            for p in self._parameters
            if p.kind in (_P.POSITIONAL_OR_KEYWORD, _P.KEYWORD_ONLY)
        }
        self._required = [p.name for p in self._parameters if _is_required(p)]
        self._var_positional = next((p.name for p in self._parameters if p.kind is _P.VAR_POSITIONAL), None)
        self._var_keyword = next((p.name for p in self._parameters if p.kind is _P.VAR_KEYWORD), None)
        self._simple = len(self._named) == len(self._parameters)
        # Most calls give exactly the required arguments, by position or all by name.
        plain = all(p.kind is _P.POSITIONAL_OR_KEYWORD for p in self._parameters)
        self._by_position = [(p.name, checks.get(p.name)) for p in self._parameters if plain]

    def __call__(self, args: List[Any], kwargs: Dict[str, Any]) -> Bound:
        if not kwargs and args and len(args) == len(self._by_position):
            return self._all_by_position(args)
        if not self._simple:
            kwargs = self._spread(args, kwargs)
        elif len(args) > len(self._positional):
            self._fail(self._too_many(args))
        out = []
        taken = len(args)
        for index, value in enumerate(args):
            name = self._positional[index].name if index < len(self._positional) else self._var_positional
            out.append(self._checked(name, value))  # type: ignore[arg-type]
        named = {}
        for name, value in kwargs.items():
            named[name] = self._checked(name, value) if name in self._named else self._extra(name, value)
        if taken:
            for parameter in self._positional[:taken]:
                if parameter.name in kwargs and parameter.kind is _P.POSITIONAL_OR_KEYWORD:
                    self._fail(f"argument {parameter.name!r} was given twice", parameter.name)
        if self._required:
            given = {parameter.name for parameter in self._positional[:taken]} if taken else ()
            missing = [name for name in self._required if name not in named and name not in given]
            if missing:
                self._fail("missing {}: {}".format(_plural("argument", missing), _names(missing)), missing[0])
        return out, named

    def _all_by_position(self, args: List[Any]) -> Bound:
        for index, (name, check) in enumerate(self._by_position):
            if check is not None:
                try:
                    args[index] = check(args[index])
                except BadValue as bad:
                    self._refuse(name, bad)
        return args, {}

    def _spread(self, args: List[Any], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        """Clients that only know names may give positional-only arguments and ``*args`` by name as well."""
        kwargs = dict(kwargs)
        rest = None
        if self._var_positional is not None and len(args) <= len(self._positional):
            rest = kwargs.pop(self._var_positional, None)
            if rest is not None and not isinstance(rest, list):
                self._fail(
                    f"argument {self._var_positional!r}: expected a list, got {describe_value(rest)}",
                    self._var_positional,
                )
        if self._var_positional is None and len(args) > len(self._positional):
            self._fail(self._too_many(args))
        for index in range(len(args), len(self._positional)):
            parameter = self._positional[index]
            if parameter.kind is not _P.POSITIONAL_ONLY and not rest:
                break
            if parameter.name in kwargs:
                args.append(kwargs.pop(parameter.name))
            elif parameter.default is _P.empty:
                break
            elif rest or self._later_given(index, kwargs):
                args.append(_Default(parameter.default))
        if rest:
            if len(args) < len(self._positional):
                name = self._positional[len(args)].name
                self._fail(f"missing argument: {name!r}", name)
            args.extend(rest)
        return kwargs

    def _later_given(self, index: int, kwargs: Dict[str, Any]) -> bool:
        later = self._positional[index + 1 :]
        return any(p.kind is _P.POSITIONAL_ONLY and p.name in kwargs for p in later)

    def _checked(self, name: str, value: Any) -> Any:
        if type(value) is _Default:
            return value.value
        check = self._checks.get(name)
        if check is None:
            return value
        try:
            return check(value)
        except BadValue as bad:
            self._refuse(name, bad)

    def _extra(self, name: str, value: Any) -> Any:
        if self._var_keyword is None:
            known = [p.name for p in self._parameters if p.kind is not _P.VAR_KEYWORD]
            known_text = f"it takes {_names(known)}" if known else "it takes no arguments"
            self._fail(f"unknown argument {name[:100]!r}: {known_text}", name[:100])
        return self._checked(self._var_keyword, value)  # type: ignore[arg-type]

    def _refuse(self, name: str, bad: BadValue) -> None:
        where = name + "".join(bad.path)
        note = f" ({bad.note})" if bad.note else ""
        message = f"argument {where!r}: expected {bad.expected}, got {describe_value(bad.value)}{note}"
        raise CallError("bad_arguments", f"{self._function}(): {message}", name, where)

    def _too_many(self, args: List[Any]) -> str:
        word = "argument" if len(self._positional) == 1 else "arguments"
        return f"takes at most {len(self._positional)} positional {word}, got {len(args)}"

    def _fail(self, message: str, argument: Optional[str] = None) -> None:
        raise CallError("bad_arguments", f"{self._function}(): {message}", argument, argument)


class _Default:
    """A default that has to be passed by position because a later argument is given; it is not checked."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is _P.empty and parameter.kind not in (_P.VAR_POSITIONAL, _P.VAR_KEYWORD)


def _names(names: List[str]) -> str:
    return ", ".join(repr(name) for name in names[:20])


def _plural(word: str, items: List[str]) -> str:
    return word if len(items) == 1 else word + "s"
