# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# asuser-tests.sh REPORTS NAME: the marked tests, run by the ordinary user that asuser.sh became. The build folder
# is read-only for that user, so results go elsewhere.
set -uo pipefail
reports=$1 name=$2 failed=0
{
    echo '<testsuite name="as_user">'
    for test in $GB_TESTS; do
        if QT_LOGGING_RULES='qt.qpa.*=false' timeout 300 ".build/dev/tests/$test" >"$reports/user-$test.log" 2>&1; then
            echo "<testcase name=\"$test\"/>"
            rm -f "$reports/user-$test.log"
        else
            failed=1
            echo "<testcase name=\"$test\"><failure/></testcase>"
        fi
    done
    echo '</testsuite>'
} >"$reports/user-cpp.xml"
GB_BIN=$PWD/.build/dev/bin .build/venv/bin/python -m pytest -m as_user --junitxml="$reports/user-python.xml" \
    ${name:+-k "$name"} >"$reports/user-python.log" 2>&1
code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 5 ] || failed=1
[ "$code" -eq 5 ] && rm -f "$reports/user-python.xml"
exit "$failed"
