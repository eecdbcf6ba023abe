# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the rooms' own link lines and checks every include against them.

A room is a folder whose CMakeLists.txt calls gb_add_library, gb_add_program or
gb_add_python_module; what stands behind LINKS, and what
those rooms can see in turn, is all it may include. `DIRECTION` below is the design's part: which rooms a link line
may name at all. Run by itself it prints `file:line: message` for every violation and ends non-zero.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOP_LEVEL_FOLDERS = {"app", "widgets", "backend", "rpc", "resources", "translations", "tests"}

# Which rooms the design lets a room name, directly or through others (prefixes; first match wins).
DIRECTION: list[tuple[str, list[str]]] = [
    ("backend/base", []),
    ("backend/domain", ["backend/base"]),
    ("backend/transfer", ["backend/base"]),
    ("backend/hub", ["backend/transfer", "backend/base"]),
    ("backend/tasks", ["backend/domain", "backend/base"]),
    ("backend/settings", ["backend/tasks", "backend/domain", "backend/base"]),
    ("backend/store", ["backend/settings", "backend/tasks", "backend/domain", "backend/base"]),
    ("backend/experiments", ["backend/store",
                             "backend/settings", "backend/tasks", "backend/domain", "backend/base"]),
    ("backend/secrets", ["backend/settings", "backend/tasks", "backend/domain", "backend/base"]),
    ("backend/models", ["backend/hub", "backend/transfer", "backend/store", "backend/settings", "backend/tasks",
                        "backend/domain", "backend/base"]),
    ("backend/sandbox", ["backend/sandbox", "backend/store", "backend/settings", "backend/tasks", "backend/domain",
                         "backend/base", "rpc/protocol", "rpc/launch"]),
    ("backend/interfaces", ["backend/sandbox", "backend/store", "backend/settings", "backend/tasks",
                            "backend/domain", "backend/base", "rpc/protocol", "rpc/launch"]),
    ("backend/workspaces", ["backend/sandbox", "backend/store", "backend/settings", "backend/tasks",
                            "backend/domain", "backend/base", "rpc/protocol", "rpc/launch"]),
    ("backend/agents", ["backend/agents", "backend/interfaces", "backend/workspaces", "backend/sandbox",
                        "backend/store", "backend/settings", "backend/tasks", "backend/domain", "backend/base",
                        "rpc/protocol", "rpc/launch"]),
    ("backend/notebooks", ["backend/interfaces", "backend/workspaces", "backend/sandbox", "backend/store",
                           "backend/settings", "backend/tasks", "backend/domain", "backend/base", "rpc/protocol",
                           "rpc/launch"]),
    ("backend/doctor", ["backend/transfer", "backend/settings", "backend/tasks", "backend/domain", "backend/base"]),
    ("backend/api", ["backend/tasks", "backend/domain", "backend/base", "rpc/protocol"]),
    ("backend/service", ["backend", "rpc/protocol", "rpc/exposure", "rpc/launch"]),
    ("rpc/protocol", ["backend/base"]),
    ("rpc/gateway", ["rpc", "backend/transfer", "backend/hub", "backend/base"]),
    ("rpc/host", ["rpc", "backend/transfer", "backend/hub", "backend/base"]),
    ("rpc", ["rpc", "backend/base"]),
    ("widgets/controls", ["backend/api", "backend/tasks", "backend/domain", "backend/base", "rpc/protocol"]),
    ("widgets/itemmodels", ["widgets/controls", "backend/api", "backend/tasks", "backend/domain", "backend/base",
                            "rpc/protocol"]),
    ("widgets/viewers", ["widgets/controls", "widgets/itemmodels", "backend/api", "backend/tasks", "backend/domain",
                         "backend/base", "rpc/protocol"]),
    ("widgets/forms", ["widgets/controls", "widgets/itemmodels", "widgets/viewers", "backend/api", "backend/tasks",
                       "backend/domain", "backend/base", "rpc/protocol"]),
    ("widgets/pages", ["widgets/controls", "widgets/itemmodels", "widgets/viewers", "widgets/forms", "backend/api",
                       "backend/tasks", "backend/domain", "backend/base", "rpc/protocol"]),
    ("widgets/shell", ["widgets", "backend/api", "backend/tasks", "backend/domain", "backend/base", "rpc/protocol"]),
    ("app/gui", ["widgets", "backend/api", "backend/tasks", "backend/domain", "backend/base", "rpc/protocol"]),
    ("app/cli", ["backend/api", "backend/tasks", "backend/domain", "backend/base", "backend/doctor",
                 "backend/settings", "backend/experiments", "backend/transfer", "rpc/protocol", "rpc/exposure",
                 "rpc/mcpproxy"]),
    ("app/daemon", ["backend", "rpc/protocol", "rpc/exposure", "rpc/launch"]),
    ("tests", [""]),
]

# Rooms that also run where there is no Qt, or inside a sandbox.
WITHOUT_QT = ("backend/base", "backend/domain", "backend/transfer", "backend/hub", "rpc")
WITHOUT_WIDGETS = ("backend", "rpc", "app/cli", "app/daemon")

# Qt headers that need Gui or Widgets, which a link line of Core alone would not always refuse.
WIDGET_HEADERS = re.compile(
    r"^(QtWidgets|QtGui)/|^Q(Widget|Application|GuiApplication|MainWindow|Dialog|Label|PushButton|Painter|Pixmap|"
    r"Icon|Action|Menu|Layout|[HV]BoxLayout|TreeView|TableView|Style|Palette|Font|Color)\w*$")
QT_HEADER = re.compile(r"^(Qt[A-Z]\w*/)?Q[A-Z]\w*$|^qt?[a-z]+\.h$")

CALL = re.compile(r"gb_add_(library|program|test|python_module)\s*\(([^)]*)\)", re.S)
KEYWORDS = {"LINKS", "QT", "EXTERNAL", "RESOURCES", "STATIC", "STATIC_LINK", "SERIAL", "NO_ASAN", "AS_USER",
            "TIMEOUT", "DEPENDS"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')


@dataclass
class Room:
    path: str
    kind: str
    links: list[str] = field(default_factory=list)
    qt: list[str] = field(default_factory=list)
    line: int = 1


def allowed_by_design(room: str) -> list[str]:
    for prefix, names in DIRECTION:
        if room == prefix or room.startswith(prefix + "/"):
            return names
    return []


def under(path: str, prefix: str) -> bool:
    return prefix == "" or path == prefix or path.startswith(prefix + "/")


def parse_rooms(root: Path) -> list[Room]:
    rooms = []
    for file in sorted(root.glob("**/CMakeLists.txt")):
        folder = file.parent.relative_to(root).as_posix()
        if folder.startswith(".") or folder == ".":
            continue
        text = re.sub(r"#.*", "", file.read_text())
        for call in CALL.finditer(text):
            words = call.group(2).split()
            current, links, qt = "", [], []
            for word in words:
                if word in KEYWORDS:
                    current = word
                elif current == "LINKS":
                    links.append(word)
                elif current == "QT":
                    qt.append(word)
            line = text[: call.start()].count("\n") + 1
            rooms.append(Room(folder, call.group(1), links, qt, line))
    return rooms


def visible(start: Room, by_path: dict[str, Room]) -> set[str]:
    seen: set[str] = set()
    waiting = list(start.links)
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if path in by_path:
            waiting += by_path[path].links
    return seen


def find_cycles(libraries: dict[str, Room]) -> list[str]:
    problems = []
    done: set[str] = set()

    def walk(path: str, trail: list[str]) -> None:
        if path in trail:
            cycle = trail[trail.index(path):] + [path]
            problems.append(f"{path}/CMakeLists.txt:1: rooms in a circle: {' -> '.join(cycle)}")
            return
        if path in done or path not in libraries:
            return
        for link in libraries[path].links:
            walk(link, trail + [path])
        done.add(path)

    for path in libraries:
        walk(path, [])
    return problems


def check_links(rooms: list[Room], libraries: dict[str, Room]) -> list[str]:
    problems = []
    for room in rooms:
        where = f"{room.path}/CMakeLists.txt:{room.line}"
        names = allowed_by_design(room.path)
        for link in room.links:
            if link not in libraries:
                problems.append(f"{where}: links {link}, which is not a room")
            elif not any(under(link, name) for name in names):
                problems.append(f"{where}: {room.path} may not link {link}")
            elif under(room.path, "widgets/pages") and under(link, "widgets/pages"):
                problems.append(f"{where}: a page may not link another page ({link})")
        if room.qt and any(under(room.path, prefix) for prefix in WITHOUT_QT):
            problems.append(f"{where}: {room.path} is a room without Qt")
        if any(under(room.path, prefix) for prefix in WITHOUT_WIDGETS):
            for module in room.qt:
                if module not in {"Core", "Network", "Test"}:
                    problems.append(f"{where}: {room.path} may not link Qt {module}")
    return problems


def room_of(include: str, libraries: dict[str, Room]) -> str:
    folder = include
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if folder in libraries:
            return folder
    return ""


def check_file(file: Path, root: Path, sees: set[str], room: str, libraries: dict[str, Room]) -> list[str]:
    problems = []
    name = file.relative_to(root).as_posix()
    text = file.read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{name}:{number}"
        angled, quoted = match.group(2), match.group(3)
        include = angled or quoted
        first = include.split("/")[0]
        if quoted and ".." in quoted.split("/"):
            problems.append(f"{where}: name other rooms from the root, in angle brackets: {include}")
        elif first in TOP_LEVEL_FOLDERS and "/" in include:
            target = room_of(include, libraries)
            if quoted:
                problems.append(f"{where}: other rooms stand in angle brackets: {include}")
            elif target == room:
                problems.append(f"{where}: the own room stands in quotes: {include}")
            elif target not in sees:
                problems.append(f"{where}: {room} may not see {target or include}: it is not behind its LINKS")
        elif QT_HEADER.match(include):
            if any(under(room, prefix) for prefix in WITHOUT_QT):
                problems.append(f"{where}: {room} is a room without Qt: {include}")
            elif WIDGET_HEADERS.match(include) and any(under(room, prefix) for prefix in WITHOUT_WIDGETS):
                problems.append(f"{where}: no widgets or pictures below the window: {include}")
    return problems


def check_tree(root: Path) -> list[str]:
    rooms = parse_rooms(root)
    libraries = {room.path: room for room in rooms if room.kind == "library"}
    problems = check_links(rooms, libraries) + find_cycles(libraries)

    for entry in sorted(root.iterdir()):
        if entry.is_dir() and not entry.name.startswith(".") and entry.name not in TOP_LEVEL_FOLDERS:
            problems.append(f"{entry.name}:1: this folder has no place at the top level")

    by_folder: dict[str, list[Room]] = {}
    for room in rooms:
        by_folder.setdefault(room.path, []).append(room)
    for folder, here in by_folder.items():
        if under(folder, "tests"):
            continue
        sees = set().union(*(visible(room, libraries) for room in here))
        for pattern in ("*.h", "*.cpp", "*.c"):
            for file in sorted((root / folder).glob(pattern)):
                problems += check_file(file, root, sees, folder, libraries)
    homeless = [file for area in ("app", "widgets", "backend", "rpc") for file in (root / area).glob("**/*.cpp")
                if file.parent.relative_to(root).as_posix() not in by_folder]
    problems += [f"{file.relative_to(root)}:1: this file belongs to no room" for file in homeless]
    for main in (root / "app").glob("*/main.cpp"):
        length = len(main.read_text().splitlines())
        if length > 80:
            problems.append(f"{main.relative_to(root)}:81: main.cpp composes; {length} lines are more than 80")
    return problems


if __name__ == "__main__":
    found = check_tree(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(found))
    sys.exit(1 if found else 0)
