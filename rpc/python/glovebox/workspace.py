# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""What an agent is given to work with, as files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, FrozenSet, Union


@dataclass
class Library:
    """A Python module or package, by the relative paths of its files."""

    name: str
    files: Dict[str, str]
    docs: str = ""
    private: FrozenSet[str] = field(default_factory=frozenset)  # those that hold a token

    @classmethod
    def from_file(cls, path: Union[str, Path], name: str = "") -> Library:
        path = Path(path)
        text = path.read_text(encoding="utf-8")
        name = name or path.stem
        return cls(name, {f"{name}.py": text}, text)

    @classmethod
    def from_directory(cls, path: Union[str, Path]) -> Library:
        path = Path(path).resolve()
        if not (path / "__init__.py").is_file():
            raise ValueError(f"{path} is no Python package: it has no __init__.py")
        files = {f"{path.name}/{file.relative_to(path)}": file.read_text(encoding="utf-8")
                 for file in sorted(path.rglob("*.py"))}
        return cls(path.name, files, files[f"{path.name}/__init__.py"])

    def get_prompt_docs(self) -> str:
        return f"## {self.name}\n\n{self.docs.strip()}\n"

    def install(self, folder: Union[str, Path]) -> Path:
        """Writes it where a Python started there can import it."""
        return install(self.files, self.private, Path(folder))


@dataclass
class Skill:
    """A folder with a SKILL.md that agent programs read when a task needs it."""

    name: str
    description: str
    content: str
    files: Dict[str, str] = field(default_factory=dict)  # beside SKILL.md
    private: FrozenSet[str] = field(default_factory=frozenset)

    def to_skill_md(self) -> str:
        return self.content

    def install(self, workspace: Union[str, Path]) -> Path:
        """Writes it to .claude/skills of a workspace, where agents look."""
        folder = Path(workspace) / ".claude/skills" / self.name
        return install({"SKILL.md": self.content, **self.files}, self.private, folder)


def install(files: Dict[str, str], private: FrozenSet[str], folder: Path) -> Path:
    for name, text in files.items():
        target = folder / name
        if folder.resolve() not in target.resolve().parents:
            raise ValueError(f"{name!r} would lie outside {folder}")
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if name in private else 0o644
        target.unlink(missing_ok=True)  # one that others may read does not become private by being written
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as out:
            out.write(text)
    return folder
