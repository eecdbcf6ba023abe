# SPDX-FileCopyrightText: The Glovebox authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up the JUnit reports of a folder and prints the closing line. No test at all is a failure."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as Tree
from pathlib import Path


def main(folder: Path) -> int:
    passed = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        try:
            root = Tree.parse(report).getroot()
        except Tree.ParseError:
            print(f"{report.name}: the report is broken, counted as a failure")
            failed += 1
            continue
        leg = {"failed": [], "skipped": []}
        for case in root.iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"
            if bad:
                failed += 1
                leg["failed"].append(case.get("name", "?"))
            elif case.find("skipped") is not None or case.get("status") in {"notrun", "disabled"}:
                skipped += 1
                leg["skipped"].append(case.get("name", "?"))
            else:
                passed += 1
        for kind, names in leg.items():
            for name in names:
                print(f"{report.stem}: {kind}: {name}")
    if passed + failed == 0:
        print("no test ran")
        failed = 1
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
