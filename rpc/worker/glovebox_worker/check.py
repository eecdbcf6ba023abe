# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Looks an interface file over without running it: ``python3 check.py FILE [--json]``.

Prints findings, each with line, column, function, code, severity, message and a way to mend it. The exit status
is 1 when one of them is an error, 2 when the file cannot be read.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from typing import Any, Dict, Iterator, List, Optional, Union

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]

_INJECTED = {"expose", "get_model_path", "list_configured_models", "progress", "log", "cancelled"}
_OPTIONS = {"name", "concurrency", "read_only", "timeout", "tensors", "show"}
_TENSORS = {"Tensor", "ndarray", "DataFrame", "Series"}
_LOADERS = {"from_pretrained", "SentenceTransformer", "pipeline", "load_model", "load_dataset", "LLM"}
_PLAIN_CALLS = {"list", "dict", "set", "tuple", "str", "int", "float", "bool", "frozenset"}


class Checker:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._exposed: Dict[str, int] = {}
        self._file_tensors = _file_tensors(tree)
        self.findings: List[Dict[str, Any]] = []

    def run(self) -> None:
        for node in ast.walk(self._tree):
            for child in ast.iter_child_nodes(node):
                child._parent = node  # type: ignore[attr-defined]
        for node in ast.walk(self._tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                mark = next((d for d in node.decorator_list if _is_expose(d)), None)
                if mark is not None:
                    self._decorated(node, mark)
        self._top_level()
        self.findings.sort(key=lambda finding: (finding["line"], finding["col"]))

    def _add(
        self, node: Any, function: Optional[str], code: str, message: str, fix: str, severity: str = "warning"
    ) -> None:
        self.findings.append(
            {
                "line": getattr(node, "lineno", 1),
                "col": getattr(node, "col_offset", 0) + 1,
                "function": function,
                "code": code,
                "severity": severity,
                "message": message,
                "fix": fix,
            }  # fmt: skip
        )

    # --- what carries @expose -----------------------------------------------------------------------------------

    def _decorated(self, node: Any, mark: ast.expr) -> None:
        if isinstance(node, ast.ClassDef):
            message = f"@expose works on functions, not on the class {node.name}"
            self._add(node, node.name, "expose_on_class", message, "expose functions that use it", "error")
            return
        name = self._options(node, mark)
        parent = getattr(node, "_parent", None)
        if isinstance(parent, ast.ClassDef):
            message = f"{node.name}() is a method, so it would be called without an object"
            self._add(node, node.name, "expose_on_method", message, "move it to the top of the file", "error")
        elif any(isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)) for outer in _outer(node)):
            message = f"{node.name}() is inside another function: it is exposed only if that one runs while loading"
            self._add(node, node.name, "expose_nested", message, "move it to the top of the file")
        if name in self._exposed:
            message = f"{name!r} is exposed twice, first at line {self._exposed[name]}; the last one counts"
            self._add(node, node.name, "name_clash", message, "rename one, or @expose(name=...)", "error")
        self._exposed[name] = node.lineno
        self._signature(node)
        self._result(node, mark)
        self._body(node)

    def _options(self, node: Function, mark: ast.expr) -> str:
        name = node.name
        for keyword in mark.keywords if isinstance(mark, ast.Call) else []:
            if keyword.arg is not None and keyword.arg not in _OPTIONS:
                message = f"@expose has no option {keyword.arg!r}"
                self._add(mark, node.name, "unknown_option", message, "use " + ", ".join(sorted(_OPTIONS)), "error")
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                name = str(keyword.value.value)
        if not name.isidentifier() or name.startswith("__"):
            self._add(mark, node.name, "bad_name", f"{name!r} cannot be the name of a function", "rename it", "error")
        return name

    def _signature(self, node: Function) -> None:
        arguments = node.args
        named = [*getattr(arguments, "posonlyargs", []), *arguments.args, *arguments.kwonlyargs]
        for argument in [*named, *filter(None, (arguments.vararg, arguments.kwarg))]:
            if argument.annotation is None:
                message = f"argument {argument.arg!r} has no type hint, so nothing checks what comes"
                self._add(argument, node.name, "missing_hint", message, f"write {argument.arg}: str, say")
        if node.returns is None:
            self._add(node, node.name, "missing_hint", "the result has no type hint", "write -> dict, say")
        if ast.get_docstring(node) is None:
            message = "without a docstring nobody is told what it does"
            self._add(node, node.name, "missing_doc", message, "say in a line what it does", "info")
        for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
            if not _is_plain(default):
                message = f"the default {_source(default)} is not JSON, so clients only see its text"
                self._add(default, node.name, "default_not_json", message, "use None and choose inside the function")

    def _result(self, node: Function, mark: ast.expr) -> None:
        tensors = self._file_tensors
        for keyword in mark.keywords if isinstance(mark, ast.Call) else []:
            if keyword.arg == "tensors" and isinstance(keyword.value, ast.Constant):
                tensors = keyword.value.value
        for part in ast.walk(node.returns) if node.returns is not None else ():
            name = _last_name(part)
            if name in _TENSORS and tensors != "binary":
                message = f"a {name} is not JSON"
                fix = 'return .tolist(), or write @expose(tensors="binary")'
                self._add(part, node.name, "tensor_result", message, fix, "error")
                return

    def _body(self, node: Function) -> None:
        for part in ast.walk(node):
            if isinstance(part, (ast.Yield, ast.YieldFrom)) and isinstance(node, ast.AsyncFunctionDef):
                if node.returns is not None and _last_name(_head(node.returns)) in ("dict", "list", "str", "int"):
                    message = "an async generator, but its type hint names one value"
                    self._add(node, node.name, "generator_hint", message, "write -> AsyncIterator[...]")
                    return
            if not isinstance(part, ast.Call):
                continue
            called = _last_name(part.func)
            if called == "input" and isinstance(part.func, ast.Name):
                message = "input() cannot work: nobody can type into an interface"
                self._add(part, node.name, "input", message, "take an argument instead", "error")
            elif called in ("exit", "_exit", "quit") and _is_exit(part.func):
                message = f"{_source(part.func)}() does not end the interface, it ends the call with an error"
                self._add(part, node.name, "exit", message, "raise an exception, or return")
            elif called in _LOADERS:
                message = f"{_source(part.func)}() loads a model on every call"
                self._add(part, node.name, "loads_in_function", message, "load it once at the top of the file")

    # --- the rest of the file -------------------------------------------------------------------------------------

    def _top_level(self) -> None:
        for node in self._tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in _INJECTED:
                self._shadow(node, node.name)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._later_definition(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name) and target.id in _INJECTED:
                        self._shadow(node, target.id)
        for part in _loading_calls(self._tree):
            if _last_name(part.func) == "input" and isinstance(part.func, ast.Name):
                message = "input() cannot work: nobody can type into an interface"
                self._add(part, None, "input", message, "read an environment variable instead", "error")
        if not self._exposed and not self._calls_expose():
            message = "nothing is exposed, so there is nothing to call"
            self._add(self._tree, None, "nothing_exposed", message, "write @expose above a function", "error")

    def _calls_expose(self) -> bool:
        return any(isinstance(node, ast.Call) and _is_expose(node.func) for node in ast.walk(self._tree))

    def _shadow(self, node: Any, name: str) -> None:
        message = f"{name} is given to the file; this definition hides it"
        self._add(node, None, "name_clash", message, "rename it, or remove it", "error")

    def _later_definition(self, node: Function) -> None:
        line = self._exposed.get(node.name)
        if line is not None and line < node.lineno and not any(_is_expose(d) for d in node.decorator_list):
            message = f"{node.name}() is defined again; the exposed one is that of line {line}"
            self._add(node, node.name, "name_clash", message, "rename one of them")


def _file_tensors(tree: ast.Module) -> Any:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(_last_name(target) == "__glovebox__" for target in node.targets):
            try:
                return ast.literal_eval(node.value).get("tensors")
            except (ValueError, AttributeError):
                return None
    return None


def _is_expose(node: ast.expr) -> bool:
    return isinstance(node.func if isinstance(node, ast.Call) else node, ast.Name) and (
        _last_name(node.func if isinstance(node, ast.Call) else node) == "expose"
    )


def _last_name(node: Any) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # a string annotation
        return node.value.rsplit(".", 1)[-1]
    return ""


def _head(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _outer(node: Any) -> Iterator[Any]:
    node = getattr(node, "_parent", None)
    while node is not None:
        yield node
        node = getattr(node, "_parent", None)


def _loading_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls that run while the file is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _loading_calls(child)


def _is_exit(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or _last_name(getattr(node, "value", None)) in ("sys", "os")


def _is_plain(node: ast.expr) -> bool:
    """A literal, or a name: what a name stands for is known only when the file runs."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return True
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (bytes, complex)) and node.value is not Ellipsis
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_plain(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        keys_fine = all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys)
        return keys_fine and all(_is_plain(value) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return _is_plain(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and _is_plain(node.right)
    return isinstance(node, ast.Call) and _last_name(node.func) in _PLAIN_CALLS and not node.args


def _source(node: ast.AST) -> str:
    text = ast.unparse(node) if hasattr(ast, "unparse") else _last_name(node) or type(node).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def check_source(source: bytes, path: str) -> List[Dict[str, Any]]:
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError) as error:
        return [
            {
                "line": getattr(error, "lineno", None) or 1,
                "col": getattr(error, "offset", None) or 1,
                "function": None,
                "code": "syntax",
                "severity": "error",
                "message": getattr(error, "msg", None) or str(error),
                "fix": "mend the line",
            }  # fmt: skip
        ]
    checker = Checker(tree)
    checker.run()
    return checker.findings


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(prog="check.py", description="Looks an interface file over without running it.")
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args(arguments)
    try:
        with open(options.file, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write(f"{options.file}: {error.strerror}\n")
        return 2
    findings = check_source(source, options.file)
    if options.json:
        print(json.dumps({"file": options.file, "findings": findings}, ensure_ascii=False))
    else:
        for f in findings:
            print(f"{options.file}:{f['line']}:{f['col']}: {f['severity']}: {f['message']} ({f['fix']})")
    return 1 if any(f["severity"] == "error" for f in findings) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
