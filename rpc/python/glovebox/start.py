# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Finding the daemon, and starting it when there is none."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import time
from pathlib import Path
from typing import Dict, Optional

from .errors import Disconnected

# The daemon must not depend on who started it; the C++ side has the same list.
_DAEMON_VARIABLES = frozenset(
    "HOME USER LOGNAME LANG TZ TMPDIR XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR "
    "DBUS_SESSION_BUS_ADDRESS GLOVEBOX_HOME GLOVEBOX_BIN GLOVEBOX_SHARE GLOVEBOX_IDLE_EXIT_MS "
    "ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS".split()
)
_CLIENT_VARIABLES = re.compile(
    "PATH|HOME|DISPLAY|WAYLAND_DISPLAY|LD_LIBRARY_PATH|DBUS_SESSION_BUS_ADDRESS|HUGGING_FACE_HUB_TOKEN|"
    "SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY|(HF|XDG|PIP|UV)_.*|"
    "CUDA_VISIBLE_DEVICES|npm_config_registry|NPM_CONFIG_(REGISTRY|USERCONFIG)|CONDARC|CONDA_CHANNEL(S|_ALIAS)|"
    "VIRTUAL_ENV|CONDA_PREFIX"
)
_OPEN_FOR_S = 15.0
_START_AGAIN_AFTER_S = 3.0


def data_folder() -> Path:
    """GLOVEBOX_HOME, else $XDG_DATA_HOME/glovebox, else ~/.local/share/glovebox."""
    own = os.environ.get("GLOVEBOX_HOME", "")
    if own:
        return Path(os.path.abspath(own))
    xdg = os.environ.get("XDG_DATA_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "glovebox"
    return Path.home() / ".local/share/glovebox"


def socket_path(folder: Path) -> Path:
    digest = hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:16]
    return Path(f"/tmp/glovebox-{os.geteuid()}") / digest / "daemon.sock"


def daemon_program() -> Path:
    """gloveboxd: in GLOVEBOX_BIN, on PATH, in the installation or the build folder this package belongs to."""
    package = Path(__file__).absolute().parent
    candidates = [package.parents[2] / "bin/gloveboxd", package.resolve().parents[2] / ".build/dev/bin/gloveboxd"]
    found = shutil.which("gloveboxd")
    if found:
        candidates.insert(0, Path(found))
    own = os.environ.get("GLOVEBOX_BIN", "")
    if own:
        candidates.insert(0, Path(own) / "gloveboxd")
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
    raise Disconnected("api.no_program", "gloveboxd was not found; set GLOVEBOX_BIN to the folder it is in")


def _clean_environment() -> Dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _DAEMON_VARIABLES or name.startswith("LC_")
    }
    kept["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return kept


def client_environment() -> Dict[str, str]:
    """What of ours travels with daemon.hello; the C++ side has the same list."""
    return {name: value for name, value in os.environ.items() if _CLIENT_VARIABLES.fullmatch(name)}


def start_daemon(folder: Path) -> None:
    """Detached. It running does not mean that it won: the lock in the data folder decides."""
    # The shell in between ends at once, so that the daemon is nobody's child here.
    subprocess.run(
        ["/bin/sh", "-c", '"$0" --data-folder "$1" &', str(daemon_program()), str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=_clean_environment(),
        start_new_session=True,
        check=True,
    )


def _is_ours(path: Path) -> bool:
    for part in (path.parent.parent, path.parent):
        try:
            info = os.lstat(part)
        except OSError:
            return False
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid() or info.st_mode & 0o077:
            return False
    return True


def _connect_once(path: Path) -> Optional[socket.socket]:
    if not _is_ours(path):
        return None
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        one.connect(str(path))
        credentials = one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        one.close()
        return None
    if struct.unpack("3i", credentials)[1] != os.geteuid():
        one.close()
        raise Disconnected("api.foreign_peer", f"{path} is served by another user")
    return one


def connect_socket(folder: Path, start: bool) -> socket.socket:
    path = socket_path(folder)
    until = time.monotonic() + _OPEN_FOR_S
    started: Optional[float] = None
    pause = 0.005
    while True:
        one = _connect_once(path)
        if one is not None:
            return one
        now = time.monotonic()
        if not start:
            raise Disconnected("api.no_daemon", "the daemon is not running")
        if now > until:
            raise Disconnected("api.no_daemon", f"the daemon did not start; see {folder / 'daemon.log'}")
        if started is None or now - started > _START_AGAIN_AFTER_S:
            start_daemon(folder)
            started = now
        time.sleep(pause)
        pause = min(pause * 2, 0.25)
