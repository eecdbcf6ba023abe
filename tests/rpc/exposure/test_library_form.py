# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What a generated library consists of: a constant part, and definitions in which nothing of a schema is code."""

from __future__ import annotations

import ast
import dis
import inspect
import keyword
import random
import types
import unicodedata
from typing import Any, Dict, Iterator, List

import pytest
from exposetool import RUNTIME, expose, function, optional, parameter, run_tool, schema, split
from hostileschema import HOSTILE, hostile_function, hostile_text


def literals_only(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Dict):
        return all(key is not None and literals_only(key) for key in [*node.keys, *node.values])
    if isinstance(node, ast.List):
        return all(map(literals_only, node.elts))
    return isinstance(node, ast.Constant)


TYPES = {"None", "bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple", "Any",
         "AsyncIterator", "Callable", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator", "List", "Literal",
         "Mapping", "Optional", "Sequence", "Set", "Tuple", "Union"}


def types_only(node: Any) -> bool:
    if node is None or isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id in TYPES
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and types_only(node.left) and types_only(node.right)
    if isinstance(node, ast.Subscript):
        return types_only(node.value) and types_only(node.slice)
    return isinstance(node, ast.Tuple) and all(map(types_only, node.elts))


def check_definition(node: ast.AST, wanted: str, generator: bool) -> None:
    assert isinstance(node, ast.FunctionDef), ast.dump(node)
    assert node.decorator_list == [] and types_only(node.returns)
    arguments = node.args
    everyone = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    everyone += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    names = [a.arg for a in everyone]
    assert len(set(names)) == len(names) and "_gb_call" not in names and "_gb_stream" not in names
    assert all(types_only(a.annotation) for a in everyone)
    assert all(literals_only(d) for d in [*arguments.defaults, *[d for d in arguments.kw_defaults if d]])
    body = list(node.body)
    if isinstance(body[0], ast.Expr):
        documentation = body.pop(0)
        assert isinstance(documentation.value, ast.Constant) and isinstance(documentation.value.value, str)
    assert len(body) == 1 and isinstance(body[0], ast.Return)
    call = body[0].value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.keywords == []
    assert call.func.id == ("_gb_stream" if generator else "_gb_call")
    name, placed, named = call.args
    assert isinstance(name, ast.Constant) and name.value == wanted
    assert isinstance(placed, ast.Tuple) and isinstance(named, ast.Dict)
    for item in placed.elts:
        item = item.value if isinstance(item, ast.Starred) else item
        assert isinstance(item, ast.Name) and item.id in names
    for key, value in zip(named.keys, named.values):
        assert key is None or (isinstance(key, ast.Constant) and isinstance(key.value, str))
        assert isinstance(value, ast.Name) and value.id in names


def check_library(text: str, functions: List[Dict[str, Any]]) -> List[str]:
    before, after = split(text)
    head = ast.parse(before).body
    assert len(head) == 1 and isinstance(head[0], ast.Expr) and isinstance(head[0].value, ast.Constant)
    body = ast.parse(after).body
    assert len(body) == len(functions)
    names = []
    for node, wanted in zip(body, functions):
        check_definition(node, wanted["name"], wanted["generator"])
        names.append(node.name)  # type: ignore[attr-defined]
    own = {node.id for node in ast.walk(ast.parse(RUNTIME.split("\n\n\n")[-1]))
           if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert len(own) > 5 and not own & set(names) and len(set(names)) == len(names)
    assert not [name for name in names if name.startswith("__") or keyword.iskeyword(name)]
    for part in (before, after):
        odd = {c for c in part if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")}
        assert not odd, odd
    return names


def test_ten_thousand_hostile_signatures_stay_data() -> None:
    rng = random.Random(20261121)
    schemas = []
    for _ in range(200):
        functions, seen = [], set()
        while len(functions) < 50:
            made = hostile_function(rng)
            if made["name"] not in seen or rng.random() < 0.1:
                functions.append(made)
                seen.add(made["name"])
            else:
                made["name"] += str(len(functions))
                functions.append(made)
        schemas.append(schema(*functions, name=hostile_text(rng), doc=hostile_text(rng)))
    made = expose(schemas, "library")
    assert len(made) == 200
    for given, library in zip(schemas, made):
        check_library(library["text"], given["functions"])


def test_the_whitelist_catches_code() -> None:
    """The positive control: what a careless writer would have made is refused."""
    good = 'def f(x: int = 1):\n    return _gb_call("f", (), {"x": x})\n'
    check_library('"""doc"""\n' + RUNTIME + "\n\n" + good, [function("f")])
    for bad in (
        good.replace("= 1", "= print()"),
        good.replace(": int", ": eval('1')"),
        good + "import os\n",
        good.replace("return", "print(); return"),
        good.replace('{"x": x}', '{"x": len}'),
        good.replace("def f", "def settings"),
    ):
        with pytest.raises(AssertionError):
            check_library('"""doc"""\n' + RUNTIME + "\n\n" + bad, [function("f")] * bad.count("def "))


def test_the_constant_part_is_the_source_file() -> None:
    assert run_tool() == RUNTIME


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def test_the_constant_part_looks_nothing_up_where_functions_may_be_called_len() -> None:
    names = set()
    for code in code_objects(compile(RUNTIME, "runtime", "exec")):
        if code.co_name != "<module>":
            names |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    assert {name for name in names if not name.startswith("__")} == {"_gb_values"}


def import_text(text: str, tmp_path: Any, name: str = "model_tools") -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__["__file__"] = str(tmp_path / (name + ".py"))
    exec(compile(text, module.__dict__["__file__"], "exec", dont_inherit=True), module.__dict__)
    return module


def test_documentation_survives_as_it_was(tmp_path: Any) -> None:
    docs = [text for text in HOSTILE if text != "\n"]
    functions = [function(f"f{i}", doc=doc + "x\n  indented " + doc) for i, doc in enumerate(docs)]
    [library] = expose([schema(*functions)], "library")
    module = import_text(library["text"], tmp_path)
    for i, made in enumerate(functions):
        read = inspect.getdoc(getattr(module, f"f{i}")) or ""
        assert read.strip() == inspect.cleandoc(made["doc"]).strip(), docs[i]


def test_signatures_read_well(tmp_path: Any) -> None:
    [library] = expose([schema(
        function("generate", parameter("prompt", annotation="str"), optional("n", 5, annotation="int"),
                 optional("stop", ["\n"], "keyword_only", annotation="list[str] | None"),
                 parameter("dtype", "keyword_only", annotation="torch.dtype", has_default=True,
                           default_repr="torch.float32"), returns="dict", doc="Say it."),
        function("choose", parameter("how", annotation="Literal['fast', \"very good\", 3]"),
                 parameter("odd", annotation="Literal['a\\n']"), parameter("more", annotation="Literal[f()]"),
                 parameter("zero", annotation="Literal[007]"), parameter("open", annotation="Literal['a"),
                 returns="Optional[Dict[str, List[float]]]"),
        function("many", parameter("a", "positional_only"), parameter("rest", "var_positional", annotation="int"),
                 optional("scale", 1.5, "keyword_only"), parameter("more", "var_keyword")),
    )], "library")
    module = import_text(library["text"], tmp_path)
    assert str(inspect.signature(module.generate)) == (
        "(prompt: str, n: int = 5, *, stop: list[str] | None = ['\\n'], dtype: 'torch.dtype' = Ellipsis) -> dict"
        .replace(": str", ": 'str'").replace(": int", ": 'int'").replace(": list[str] | None", ": 'list[str] | None'")
        .replace("'torch.dtype'", '"\'torch.dtype\'"').replace("-> dict", "-> 'dict'")
    )
    annotations = module.choose.__annotations__
    assert annotations["how"] == "Literal['fast', 'very good', 3]"
    assert annotations["return"] == "Optional[Dict[str, List[float]]]"
    assert all(isinstance(ast.literal_eval(annotations[name]), str) for name in ("odd", "more", "zero", "open"))
    assert str(inspect.signature(module.many)) == "(a, /, *rest: 'int', scale=1.5, **more)"
    assert "without it, torch.float32 is used" in module.generate.__doc__


def test_odd_names_get_others_and_call_by_their_own(tmp_path: Any) -> None:
    [library] = expose([schema(*[function(name) for name in (
        "class", "class_", "settings", "len", "os.system", "größe", "_gb_call", "__class__")])], "library")
    names = check_library(library["text"], [function(n) for n in library["functions"]])
    assert names == ["class_2", "class_", "settings_", "len", "os_system", "größe", "_gb_call_", "x__class__"]


def test_letters_taken_as_they_are_survive_pythons_normalisation() -> None:
    letters = [chr(c) for c in range(0x80, 0x10000) if not 0xD800 <= c < 0xE000]
    functions = [function("x", *[parameter(c) for c in letters[i:i + 500]]) for i in range(0, len(letters), 500)]
    [library] = expose([schema(*functions)], "library")
    kept = 0
    for node, made in zip(ast.parse(split(library["text"])[1]).body, functions):
        for argument, wanted in zip(node.args.args, made["parameters"]):  # type: ignore[attr-defined]
            if argument.arg == wanted["name"]:
                assert unicodedata.normalize("NFKC", wanted["name"]) == wanted["name"]
                assert wanted["name"].isidentifier()
                kept += 1
            else:
                assert argument.arg.isascii()
    assert kept > 30000
