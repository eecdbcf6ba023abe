# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
#
# bench.sh NAME [--json] …: builds the release preset and runs tests/bench/bench_NAME (a program or a Python file).
set -euo pipefail
. app/packaging/setup.sh
. app/packaging/pythons.sh
name=$1; shift
gb_build release
gb_test_python
if [ -x ".build/release/bin/bench_$name" ]; then
    exec ".build/release/bin/bench_$name" "$@"
elif [ -e "tests/bench/bench_$name.py" ]; then
    exec "$GB_TEST_PYTHON" "tests/bench/bench_$name.py" --bin "$PWD/.build/release/bin" "$@"
fi
gb_die "there is no benchmark $name"
