# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What annotations and docstrings become, and what the checks let through."""

from __future__ import annotations

import pytest
from worker_process import has_module

TYPES = '''
from __future__ import annotations
import dataclasses, enum, datetime
from pathlib import Path
from typing import *

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

@dataclasses.dataclass
class Point:
    """A place."""
    x: float
    y: float = 0.0

class Options(TypedDict, total=False):
    seed: int
    name: str

class Pair(NamedTuple):
    left: int
    right: str = "r"

@dataclasses.dataclass
class Tree:
    value: int
    children: List[Tree] = dataclasses.field(default_factory=list)

UserId = NewType("UserId", int)
Nested = Dict[str, "Nested"]

@expose
def many(a: int, b: Optional[str] = None, c: Union[int, float, str] = 1, d: Literal["x", 2, None] = "x",
         e: Color = Color.RED, f: List[int] = [], g: Dict[str, float] = {}, h: Tuple[int, str] = (1, "a"),
         i: Set[int] = set(), j: Point = Point(1.0), k: Options = {}, l: Pair = Pair(1), m: UserId = UserId(3),
         n: Tuple[int, ...] = (), o: Path = Path("."), p: Dict[int, str] = {}, q: datetime.date = None,
         r: Any = None) -> Dict[str, Any]:
    return {name: repr(value) for name, value in locals().items()}

@expose
def tree(t: Tree) -> Tree:
    return t.children[0].value

@expose
def nested(n: Nested) -> int:
    return len(n)

@expose
def broken(x: Missing, y: int) -> int:
    return y

@expose
def kinds(a, b: int, /, c: int, *rest: int, d: str = "d", **more: float) -> list:
    return [a, b, c, list(rest), d, more]
'''


def test_schema_of_many_types(serve):
    worker = serve(TYPES)
    schema = worker.function("many")["input_schema"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["required"] == ["a"] and schema["additionalProperties"] is False
    got = {name: {k: v for k, v in s.items() if k != "default"} for name, s in schema["properties"].items()}
    point = {
        "type": "object", "title": "Point", "description": "A place.",
        "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["x"], "additionalProperties": False,
    }  # fmt: skip
    options = {"seed": {"type": "integer"}, "name": {"type": "string"}}
    assert got == {
        "a": {"type": "integer"},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "c": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "number"}]},
        "d": {"enum": ["x", 2, None]},
        "e": {"type": "string", "enum": ["red", "blue"]},
        "f": {"type": "array", "items": {"type": "integer"}},
        "g": {"type": "object", "additionalProperties": {"type": "number"}},
        "h": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False,
              "minItems": 2, "maxItems": 2},
        "i": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        "j": point,
        "k": {"type": "object", "title": "Options", "properties": options, "required": [],
              "additionalProperties": False},
        "l": {"type": "object", "title": "Pair", "required": ["left"], "additionalProperties": False,
              "properties": {"left": {"type": "integer"}, "right": {"type": "string"}}},
        "m": {"type": "integer"},
        "n": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "string"},
        "p": {"type": "object", "additionalProperties": {"type": "string"}},
        "q": {"type": "string", "format": "date"},
        "r": {},
    }  # fmt: skip
    by_name = {p["name"]: p for p in worker.function("many")["parameters"]}
    assert (by_name["e"]["default_is_json"], by_name["e"]["default_repr"]) == (False, "<Color.RED: 'red'>")
    assert (by_name["c"]["default_is_json"], by_name["c"]["default"]) == (True, 1)
    assert worker.function("many")["output_schema"] == {"type": "object", "additionalProperties": True}


def test_recursion_goes_to_defs(serve):
    worker = serve(TYPES)
    schema = worker.function("tree")["input_schema"]
    assert schema["properties"]["t"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert worker.call("tree", {"value": 1, "children": [{"value": 2}]}) == 2
    assert worker.error("tree", {"value": 1, "children": [{"value": "x"}]})["where"] == "t.children[0].value"
    assert worker.call("nested", {"a": {"b": {}}}) == 1
    assert worker.error("nested", {"a": {"b": 1}})["kind"] == "bad_arguments"


def test_a_bad_annotation_is_a_warning(serve):
    worker = serve(TYPES)
    assert [w["code"] for w in worker.function("broken")["warnings"]] == ["bad_annotation"]
    assert worker.call("broken", "anything", 2) == 2
    assert worker.error("broken", "anything", "2")["argument"] == "y"


def test_values_are_built_before_the_function_sees_them(serve):
    worker = serve(TYPES)
    got = worker.call(
        "many", 1, "b", 3, 2, "blue", [1], {"a": 1}, [1, "x"], [1, 1], {"x": 1}, {"seed": 1}, [5, "z"], 4, [1, 2],
        "/tmp",
        {"7": "seven"}, "2031-05-20", {"any": 1},
    )  # fmt: skip
    assert got == {
        "a": "1", "b": "'b'", "c": "3", "d": "2", "e": "<Color.BLUE: 'blue'>", "f": "[1]", "g": "{'a': 1.0}",
        "h": "(1, 'x')", "i": "{1}", "j": "Point(x=1.0, y=0.0)", "k": "{'seed': 1}", "l": "Pair(left=5, right='z')",
        "m": "4", "n": "(1, 2)", "o": "PosixPath('/tmp')", "p": "{7: 'seven'}", "q": "datetime.date(2031, 5, 20)",
        "r": "{'any': 1}",
    }  # fmt: skip


@pytest.mark.parametrize(
    "argument, value, where, expected, came",
    [
        ("a", "1", "a", "int", 'the string "1"'),
        ("a", True, "a", "int", "true"),
        ("a", 1.0, "a", "int", "the number 1.0"),
        ("b", 1, "b", "str or null", "the number 1"),
        ("d", "y", "d", '"x" or 2 or None', 'the string "y"'),
        ("e", "green", "e", 'one of "red", "blue"', 'the string "green"'),
        ("f", [1, "2"], "f[1]", "int", 'the string "2"'),
        ("f", {}, "f", "a list of int", "an object with 0 keys"),
        ("g", {"k": "v"}, "g['k']", "float", 'the string "v"'),
        ("h", [1], "h", "a list of 2", "a list of 1"),
        ("j", {"x": 1, "z": 1}, "j.z", "no such key", "the number 1"),
        ("j", {}, "j", "an object (Point) with the key 'x'", "an object with 0 keys"),
        ("k", {"seed": "s"}, "k.seed", "int", 'the string "s"'),
        ("q", "tomorrow", "q", "a date such as 2031-05-20", 'the string "tomorrow"'),
    ],
)
def test_refusals_say_what_came_and_what_was_expected(serve, argument, value, where, expected, came):
    error = serve(TYPES).error("many", **{"a": 1, argument: value})
    assert (error["kind"], error["argument"], error["where"]) == ("bad_arguments", argument, where)
    assert error["message"] == f"many(): argument {where!r}: expected {expected}, got {came}"


def test_every_kind_of_parameter(serve):
    worker = serve(TYPES)
    assert worker.call("kinds", 1, 2, 3, 4, 5, d="x", z=1) == [1, 2, 3, [4, 5], "x", {"z": 1.0}]
    assert worker.call("kinds", a=1, b=2, c=3) == [1, 2, 3, [], "d", {}]
    assert worker.call("kinds", a=1, b=2, c=3, rest=[7, 8]) == [1, 2, 3, [7, 8], "d", {}]
    assert worker.error("kinds", 1, 2, 3, "4")["argument"] == "rest"
    assert worker.error("kinds", 1, 2, 3, z="4")["argument"] == "more"
    assert worker.error("kinds", 1, 2)["message"] == "kinds(): missing argument: 'c'"
    assert [p["kind"] for p in worker.function("kinds")["parameters"]] == [
        "positional_only",
        "positional_only", "positional_or_keyword", "var_positional", "keyword_only",
        "var_keyword",
    ]  # fmt: skip
    assert worker.error("nested")["message"] == "nested(): missing argument: 'n'"
    assert "unknown argument 'm'" in worker.error("nested", n={}, m=1)["message"]
    assert "takes at most 1 positional argument, got 2" in worker.error("nested", {}, {})["message"]
    assert "given twice" in worker.error("nested", {}, n={})["message"]


DOCS = '''
@expose
def google(a: int, b: int) -> int:
    """Add.

    More text.

    Args:
        a (int): the first
            and more
        b: the second

    Returns:
        the sum
    """
    return a + b

@expose
def numpy(a: int, b: int, c: int) -> int:
    """Add.

    Parameters
    ----------
    a : int
        the first
        and more
    b, c : int
        the others

    Returns
    -------
    int
        the sum
    """
    return a + b

@expose
def rest(a: int, b: int) -> int:
    """Add.

    :param a: the first
        and more
    :param int b: the second
    :returns: the sum
    """
    return a + b
'''


def test_docstring_styles(serve):
    worker = serve(DOCS)

    def said(name):
        return {p["name"]: p["description"] for p in worker.function(name)["parameters"]}

    assert said("google") == {"a": "the first and more", "b": "the second"}
    assert said("numpy") == {"a": "the first and more", "b": "the others", "c": "the others"}
    assert said("rest") == {"a": "the first and more", "b": "the second"}
    assert worker.function("google")["summary"] == "Add."
    assert worker.function("google")["signature"] == "(a: int, b: int) -> int"


def test_annotated_limits(serve):
    worker = serve("""
        from typing import Annotated, Optional

        class Ge:
            def __init__(self, ge): self.ge = ge

        @expose
        def f(a: Annotated[int, "how many", range(1, 11)], b: Annotated[float, Ge(0), {"unit": "ms"}] = 1.0,
              c: Annotated[str, {"min_length": 2, "pattern": "^a"}] = "aa") -> list[int]:
            return [a, b, c]
        """)
    if worker.loaded["t"] == "load_failed":
        pytest.skip("this Python is older than Annotated")
    properties = worker.function("f")["input_schema"]["properties"]
    assert properties["a"] == {"type": "integer", "description": "how many", "minimum": 1, "maximum": 10}
    assert properties["b"] == {"type": "number", "minimum": 0, "x-unit": "ms", "default": 1.0}
    assert properties["c"] == {"type": "string", "minLength": 2, "pattern": "^a", "default": "aa"}
    assert worker.call("f", 3, 2, "ab") == [3, 2.0, "ab"]
    assert worker.error("f", 11)["message"] == "f(): argument 'a': expected int of at most 10, got the number 11"
    assert worker.error("f", 1, -1)["argument"] == "b"
    assert worker.error("f", 1, 1, "ba")["argument"] == "c"


def test_pydantic_only_where_annotated(serve):
    if not has_module("pydantic"):
        pytest.skip("pydantic is not installed here")
    worker = serve("""
        from pydantic import BaseModel

        class Inner(BaseModel):
            n: int

        class Query(BaseModel):
            text: str
            inner: Inner

        @expose
        def f(q: Query) -> int:
            return q.inner.n
        """)
    schema = worker.function("f")["input_schema"]
    assert (
        schema["properties"]["q"]["properties"]["inner"] == {"$ref": "#/$defs/Inner"} and "Inner" in schema["$defs"]
    )
    assert worker.call("f", {"text": "t", "inner": {"n": 4}}) == 4
    assert worker.error("f", {"text": "t", "inner": {"n": "x"}})["where"] == "q.inner.n"


def test_record_form_arguments(serve):
    worker = serve("""
        import math

        @expose
        def f(x: float, n: int = 0, d: dict = {}) -> list:
            return [math.isnan(x), x > 0, str(n), sorted(d)]
        """)
    assert worker.call("f", {"$gb": "nan"}) == [True, False, "0", []]
    assert worker.call("f", {"$gb": "inf"}, {"$gb": "int", "v": "1" + "0" * 30}) == [False, True, "1" + "0" * 30, []]
    assert worker.call("f", 1.0, d={"$$gb": 1, "a": 2, "$x": 3}) == [False, True, "0", ["$gb", "$x", "a"]]
    assert worker.error("f", {"$gb": "pickle", "v": "x"})["kind"] == "bad_arguments"
    raw = worker.start_raw("f", b'{"args":[NaN],"kwargs":{}}')
    assert worker.result(raw)["error"]["kind"] == "bad_arguments"
    escaped = worker.start_raw("f", b'{"args":[{"\\u0024gb":"inf"}],"kwargs":{}}')
    assert worker.result(escaped).value[1] is True
