"""How the four folders become one import name, and which way they may depend."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hostproof

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("reference_impl", "strategies", "conformance", "reports")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

READS_OR_WRITES = {
    "reference_impl/functions.py": "the function program: standard input and output",
    "reference_impl/function_ops.py": "the function program runs the assembler to its end",
    "reference_impl/assembly.py": "awaits assemblers and scorers that an application brings",
    "reference_impl/refusals.py": "reads the catalogue, a file of the package",
    "reference_impl/agent.py": "runs tools, which may take their time",
    "reference_impl/agui_events.py": "the wire: AG-UI's models and encoder",
    "reference_impl/agui_host.py": "the host: HTTP in, events out",
    "reference_impl/effects.py": "keeps effects in SQLite",
    "reference_impl/embedded.py": "the host as it is served",
    "reference_impl/host_parts.py": "the host's parts: HTTP responses among them",
    "reference_impl/ledger.py": "keeps spent decisions in SQLite",
    "reference_impl/pausing.py": "keeps and settles pauses in their stores",
    "reference_impl/sqlite_store.py": "SQLite",
    "reference_impl/tools.py": "tools take their time",
    "reference_impl/agent_steps.py": "what a tool that takes its time gives",
    "reference_impl/http_request.py": "reads a body as it comes",
    "reference_impl/leases.py": "asks the system whether a process lives",
    "reference_impl/serving.py": "serves on a port",
    "reference_impl/sessions.py": "keeps threads in SQLite",
    "reference_impl/styled_host.py": "the styled host: HTTP in, events out",
    "reference_impl/styled_parts.py": "the styled host's parts: HTTP responses among them",
    "reference_impl/styled_refusals.py": "refusals as HTTP responses",
    "reference_impl/styled_turn.py": "tools take their time",
}
"""Modules of the reference that are no pure rules, and why."""

IMPURE = {
    "asyncio",
    "socket",
    "ssl",
    "http",
    "urllib",
    "subprocess",
    "threading",
    "multiprocessing",
    "os",
    "io",
    "pathlib",
    "tempfile",
    "shutil",
    "sqlite3",
    "time",
    "random",
    "secrets",
    "uuid",
    "sys",
    "logging",
    "importlib",
    "httpx",
    "starlette",
    "uvicorn",
    "filelock",
    "ag_ui",
}


def test_the_version_is_the_distributions():
    assert hostproof.__version__ == PYPROJECT["project"]["version"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_a_package_under_one_name_and_is_typed(folder):
    package = importlib.import_module(f"hostproof.{folder}")
    (where,) = package.__path__

    assert (Path(where) / "py.typed").exists()
    assert (ROOT / ".links/hostproof" / folder).resolve() == ROOT / folder


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_bare_import_from_the_root_says_what_to_write(folder):
    ran = subprocess.run(
        [sys.executable, "-c", f"import {folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert f"import it as hostproof.{folder}" in ran.stderr


@pytest.mark.parametrize("target", ["sdist", "wheel"])
def test_what_is_shipped_is_listed(target):
    listed = PYPROJECT["tool"]["hatch"]["build"]["targets"][target]["only-include"]

    assert set(FOLDERS) | {".links/hostproof/__init__.py"} <= set(listed)


TABLES = {
    "conformance/ag_ui_coverage.py",
    "conformance/fault_reports.py",
    "strategies/decisions.py",
}
"""Modules that are tables of data: as long as their rows need."""


def imported(path):
    """List the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""


PURE = sorted(
    path
    for path in (ROOT / "reference_impl").rglob("*.py")
    if path.relative_to(ROOT).as_posix() not in READS_OR_WRITES
)


@pytest.mark.parametrize("path", PURE, ids=lambda path: path.stem)
def test_a_rule_module_does_no_io(path):
    tree = ast.parse(path.read_text())
    roots = {name.split(".")[0] for name in imported(path)}
    asynchronous = [
        node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)
    ]
    opened = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in ("open", "print")]
    clocks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("now", "today", "utcnow")
    ]

    assert not roots & IMPURE
    assert not asynchronous
    assert not opened
    assert not clocks


def test_the_list_of_modules_with_io_is_not_stale():
    assert all((ROOT / name).exists() for name in READS_OR_WRITES)


WITHOUT_EXTRAS = """
import importlib.abc, sys

ABSENT = {"starlette", "uvicorn", "ag_ui", "orjson", "filelock", "rfc8785", "hypothesis"}

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from hostproof.conformance.cli import main
main()
"""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["rules"], 0, "live.good-run"),
        (["run", "http://127.0.0.1:9/"], 2, "nothing listens"),
        (["probe", "http://127.0.0.1:9/"], 2, "nothing listens"),
        (["run"], 2, "pip install 'hostproof[host]'"),
        (["serve"], 2, "pip install 'hostproof[host]'"),
        (["selftest"], 2, "pip install 'hostproof[host]'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_the_core_needs_no_extra(words, code, said, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == code, ran.stderr
    assert said in ran.stdout + ran.stderr


def test_no_machine_and_no_registry_is_named():
    """Nothing in the repository points at the machine it was made on."""
    pattern = re.compile(r"/(?:root|work|home|tmp|farm)/[a-z.]|pyp[i]\.org|files\.pythonhosted")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - the one on the path
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\0")
    texts = {
        name: (ROOT / name).read_text(errors="replace")
        for name in tracked
        if name and (ROOT / name).is_file() and not name.startswith("tests/vectors/")
    }

    found = {name for name, text in texts.items() if pattern.search(text)}
    assert found <= {"tests/test_packaging.py"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_are_of_a_size_that_can_be_read(folder):
    long = {
        path.name: lines
        for path in (ROOT / folder).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
        and path.relative_to(ROOT).as_posix() not in TABLES
    }

    assert long == {}
