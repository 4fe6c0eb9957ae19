"""Exports of a few documents, and their programs as a user runs them."""

import importlib
import json
import subprocess
import sys

import coclick.exporters
from coclick import ClickGraph, create
from coclick.exporters.programs.engine import run_command

NASTY_ID = 'x"\'}\n{"delete":{}}<b>\u2028=1+1'
NASTY_TITLE = (
    "=cmd|' /C calc'!A0 \"quoted\" “curly” 'single' <script>alert(1)</script>"
    "\r\n\ttwo lines \\ \u2028 {{x}} ${y}"
)


def export(path, engine, docs, **options):
    """Export a model in which documents have the words of their titles, and the word lamp."""
    titles = {doc: f"{title} lamp" for doc, title in docs.items()}
    graph = ClickGraph.from_clicks([("lamp", next(iter(docs)), 1.0)], titles)
    model = create("bm25(tokenizer=words)").fit(graph)
    coclick.exporters.export(model, engine, path, **options)
    return path


def run(program, command, engine, folder):
    """Run a command of a program on a folder, in this process."""
    module = importlib.import_module(f"coclick.exporters.programs.{program}")
    run_command(module.COMMANDS, command, engine, folder)


def run_py(folder, *arguments, program="run.py"):
    """Run a program of an export as a user does, without coclick on its path."""
    command = [sys.executable, "-E", "-s", folder / program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd="/")


def settings_of(folder):
    return json.loads((folder / "settings.json").read_text())
