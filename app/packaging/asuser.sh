# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# What depends on who runs it is tested twice when root runs ./test: once as root, once as an ordinary user with
# subordinate ids, who is made for it once.

GB_TEST_USER=glovebox-test

gb_make_user() {
    id "$GB_TEST_USER" >/dev/null 2>&1 \
        || useradd --create-home --shell /bin/bash --user-group "$GB_TEST_USER"
    local file
    for file in /etc/subuid /etc/subgid; do
        grep -q "^$GB_TEST_USER:" "$file" 2>/dev/null && continue
        # After the last range anybody has.
        awk -F: -v user="$GB_TEST_USER" 'BEGIN { next_free = 100000 }
            NF >= 3 && $2 + $3 > next_free && $2 < 1000000000 { next_free = $2 + $3 }
            END { printf "%s:%d:65536\n", user, next_free }' "$file" >"$file.new"
        cat "$file.new" >>"$file"
        rm -f "$file.new"
    done
}

# gb_as_user REPORTS NAME: ctest -L as_user and pytest -m as_user. The checkout may lie where that user cannot go
# (a home of root's, mode 0700): in a mount namespace of our own every such folder on the way is covered by an
# empty one with the checkout bound back to its own path, so that compiled-in paths hold.
gb_as_user() {
    local reports=$1 name=$2
    gb_make_user
    # Listed by root: ctest writes into the build folder even when it only lists.
    local listed; listed=$(ctest --test-dir .build/dev -N -L as_user ${name:+-R "$name"} | awk '/Test +#/ { print $3 }')
    local home; home=$(mktemp -d /tmp/gb-user-XXXXXX)
    chown "$GB_TEST_USER:" "$home"
    mkdir -p "$home/reports"
    chown "$GB_TEST_USER:" "$home/reports"
    GB_TESTS=$listed GB_ROOT=$PWD GB_NAME=$name GB_USER_HOME=$home unshare --mount --propagation private bash -euo pipefail -c '
        hidden=""
        path=$GB_ROOT
        while [ "$path" != / ]; do
            path=$(dirname "$path")
            setpriv --reuid '"$GB_TEST_USER"' --regid '"$GB_TEST_USER"' --init-groups test -x "$path" || hidden=$path
        done
        if [ -n "$hidden" ]; then
            held=$(mktemp -d /tmp/gb-held-XXXXXX)
            mount --bind "$GB_ROOT" "$held"
            mount -t tmpfs -o mode=755 tmpfs "$hidden"
            mkdir -p "$GB_ROOT"
            mount --bind "$held" "$GB_ROOT"
        fi
        # What points into a home that user cannot enter is of no use to it.
        own=$HOME
        for variable in $(compgen -e); do
            case $variable in GB_* | PATH | PWD) continue ;; esac
            case ${!variable} in "$own"/*) unset "$variable" ;; esac
        done
        cd "$GB_ROOT"
        exec setpriv --reuid '"$GB_TEST_USER"' --regid '"$GB_TEST_USER"' --init-groups --inh-caps=-all \
            env -u SUDO_USER HOME="$GB_USER_HOME" USER='"$GB_TEST_USER"' LOGNAME='"$GB_TEST_USER"' \
            TMPDIR=/tmp GLOVEBOX_HOME="$GB_USER_HOME/data" XDG_CONFIG_HOME="$GB_USER_HOME/config" \
            XDG_CACHE_HOME="$GB_USER_HOME/cache" QT_QPA_PLATFORM=offscreen PYTHONDONTWRITEBYTECODE=1 \
            bash app/packaging/asuser-tests.sh "$GB_USER_HOME/reports" "$GB_NAME"
    ' || { tail -n 60 "$home"/reports/*.log 2>/dev/null; local code=1; }
    cp "$home"/reports/*.xml "$reports"/ 2>/dev/null || true
    cp "$home"/reports/*.log "$reports"/ 2>/dev/null || true
    rm -rf "$home" 2>/dev/null || true
    return "${code:-0}"
}
