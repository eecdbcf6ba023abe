# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# What ./run, ./test and .ci/run share: finding and installing packages, configuring, building. Sourced, from the
# root of the checkout, by bash with errexit on.

GB_PACKAGES_BUILD=(g++ cmake ninja-build ccache mold pkg-config python3 python3-dev git ca-certificates
    qt6-base-dev nlohmann-json3-dev libexpected-dev libssl-dev libsqlite3-dev libcurl4-openssl-dev libboost-dev
    libsimdjson-dev libtomlplusplus-dev libseccomp-dev libarchive-dev pybind11-dev qtkeychain-qt6-dev)
GB_PACKAGES_RUN=(bubblewrap mmdebstrap uidmap python3-venv)
GB_PACKAGES_GUI=(qt6-svg-dev qt6-tools-dev qt6-tools-dev-tools qt6-l10n-tools linguist-qt6 fonts-dejavu-core
    qt6-wayland)
GB_PACKAGES_TEST=(python3-venv procps aria2 curl dbus-daemon)

# Two checkouts of the same sources share what ccache holds, wherever they lie.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

gb_say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
gb_die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Prints those of its arguments that are not installed.
gb_missing() {
    dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null \
        | awk -v want="$*" '$1 == "ii" { have[$2] = 1 }
            END { n = split(want, w, " "); for (i = 1; i <= n; i++) if (!(w[i] in have)) print w[i] }'
}

# gb_shown LOG COMMAND…: runs a command into its log; where somebody looks on, the latest line stands in the terminal.
gb_shown() {
    local log=$1; shift
    [ -t 2 ] || { "$@" >>"$log" 2>&1; return; }
    "$@" 2>&1 | tee -a "$log" \
        | awk '{ printf "\r\033[K%s", substr($0, 1, 78) > "/dev/stderr"; fflush("/dev/stderr") }
               END { printf "\r\033[K" > "/dev/stderr" }'
    return "${PIPESTATUS[0]}"
}

# gb_install YES PACKAGE…: installs what is missing, or says what to install by hand.
gb_install() {
    local yes=$1; shift
    command -v dpkg-query >/dev/null || { gb_say "This is not a Debian or Ubuntu system: install the equivalents of: $*"; return 0; }
    local missing
    mapfile -t missing < <(gb_missing "$@")
    [ "${#missing[@]}" -eq 0 ] && return 0
    gb_say "Missing packages: ${missing[*]}"
    local as=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as=(sudo)
        else
            gb_die "no rights to install. As root, run:
    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        fi
    fi
    if [ "$yes" != yes ]; then
        if [ -t 0 ]; then
            read -r -p "Install them with apt now? [Y/n] " answer
            case "$answer" in [nN]*) gb_die "nothing was installed" ;; esac
        else
            gb_die "packages are missing; run again with --yes to install them with apt"
        fi
    fi
    local log; log=$(mktemp)
    { gb_shown "$log" "${as[@]}" apt-get update -q && gb_shown "$log" "${as[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${missing[@]}"; } \
        || { tail -n 20 "$log" >&2; rm -f "$log"; gb_die "apt could not install: ${missing[*]}"; }
    rm -f "$log"
}

# gb_build PRESET LOG [cmake -D…]: configures once, builds, shows one line of progress, keeps the log.
gb_build() {
    local preset=$1; shift
    local folder=.build/$preset log=.build/$preset.log
    mkdir -p "$folder"
    if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        gb_die "configuring $preset failed"
    fi
    NINJA_STATUS='[%f/%t] ' gb_shown "$log" cmake --build "$folder" \
        || { grep -E -A6 'error|FAILED' "$log" | head -n 60 >&2; gb_die "building $preset failed; see $log"; }
}

# True when nothing that goes into a build is newer than the stamp.
gb_fresh() {
    [ -e "$1" ] || return 1
    [ -z "$(find CMakeLists.txt CMakePresets.json .cmake app backend rpc widgets resources translations \
        -newer "$1" -not -name '*.pyc' -not -name '__pycache__' -print -quit 2>/dev/null)" ]
}
