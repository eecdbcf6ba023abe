# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# The Python environment of tests and benchmarks, made once from pinned versions (tests/requirements.txt). With
# GB_TEST_PYTHON set to it afterwards. Offline it is used as it stands.

gb_test_python() {
    local folder=$PWD/.build/venv wanted
    GB_TEST_PYTHON=$folder/bin/python
    wanted=$(sha256sum tests/requirements.txt | cut -d' ' -f1)
    if [ "$(cat "$folder/.made-of" 2>/dev/null)" != "$wanted" ]; then
        gb_say "Making the tests' Python environment"
        [ -x "$GB_TEST_PYTHON" ] || /usr/bin/python3 -m venv "$folder"
        "$GB_TEST_PYTHON" -m pip install -q --disable-pip-version-check -r tests/requirements.txt \
            || gb_die "pip could not install tests/requirements.txt"
        printf '%s' "$wanted" >"$folder/.made-of"
    fi
    export GB_TEST_PYTHON
}
