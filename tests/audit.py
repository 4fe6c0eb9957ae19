"""Compare a list of requirements with a database of known vulnerabilities, by pip-audit.

    python tests/audit.py build/requirements.txt [OPTION OF PIP-AUDIT…]

The exit code is that of pip-audit: 1 if there are vulnerabilities or no database can be reached. pip-audit
also succeeds if the database knows none of the packages, as behind a mirror without one: that is 3 here.
"""

from __future__ import annotations

import json
import subprocess
import sys

NOTHING_AUDITED = 3
UNREACHABLE = "no database of vulnerabilities can be reached: nothing was audited"


def summary(output: str, code: int) -> tuple[list[str], int]:
    """Return the lines to print and the exit code, from the JSON output and the code of pip-audit."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return [UNREACHABLE], code or NOTHING_AUDITED
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        return [UNREACHABLE], code or NOTHING_AUDITED
    lines = [
        f"{package['name']} {package['version']}: {vulnerability['id']}, "
        f"fixed in {', '.join(vulnerability['fix_versions']) or 'no version'}"
        for package in audited
        for vulnerability in package["vulns"]
    ]
    lines += [f"{package['name']}: not audited" for package in packages if package not in audited]
    found = sum(len(package["vulns"]) for package in audited)
    return [*lines, f"{len(audited)} of {len(packages)} packages audited, {found} vulnerabilities"], code


def main() -> int:
    """Run pip-audit on a file of pinned requirements and print what it found."""
    requirements, *options = sys.argv[1:]
    command = [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off", "--no-deps"]
    command += ["--disable-pip", "--requirement", requirements, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    lines, code = summary(done.stdout, done.returncode)
    if lines == [UNREACHABLE] and done.returncode:
        print(done.stderr, end="", file=sys.stderr)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
