"""Tests the types: mypy checks the stubs and the package, and the types of dictionaries are compared with values."""

import importlib.util
import os
import subprocess
import sys
import types
import typing
from pathlib import Path

import conftest
import pytest

import etw

FOLDER = Path(__file__).parent
SETTINGS = FOLDER.parent / "pyproject.toml"


def mypy(folder: Path, module: str, *words: object) -> None:
    """Runs a mypy program in a folder."""
    # Use the package that the tests import.
    environment = {**os.environ, "PYTHONPATH": str(Path(etw.__file__).parents[1])}
    output = subprocess.run([sys.executable, "-m", module, *map(str, words)], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stdout + output.stderr


def test_mypy(tmp_path):
    """The package, the examples of the documentation and uses.py conform to the types in the stubs, and the stubs conform to the compiled
    module."""
    if not importlib.util.find_spec("mypy"):
        conftest.skipped("mypy", "pip install mypy")
    from test_docs import blocks

    (tmp_path / "examples.py").write_text("\n".join(code for code, _ in blocks("PYTHON.md")))
    (tmp_path / "uses.py").write_text((FOLDER / "uses.py").read_text())
    cache = ("--cache-dir", tmp_path / "cache")
    mypy(tmp_path, "mypy", "--config-file", SETTINGS, *cache, "examples.py", "uses.py")
    mypy(tmp_path, "mypy", "--config-file", SETTINGS, *cache, "-p", "etw")
    mypy(tmp_path, "mypy.stubtest", "--mypy-config-file", SETTINGS, "etw._etw")


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_dictionaries_have_their_types(trace):
    read = etw.open(trace)
    conforms(read.processes(), list[etw.Process])
    conforms(read.diagnostics, list[etw.Diagnostic])
    top = read.top("events")
    conforms(top.notes, list[etw.Note])
    conforms(top.total, dict[str, int | float])
    conforms(top.rows, list[dict[str, int | float | str | None]])


def conforms(value: object, of: typing.Any) -> None:
    """Checks that a value has a type."""
    origin, arguments = typing.get_origin(of), typing.get_args(of)
    if typing.is_typeddict(of):
        hints = typing.get_type_hints(of)
        assert isinstance(value, dict) and of.__required_keys__ <= set(value) <= set(hints), (value, of)
        for name, own in value.items():
            conforms(own, hints[name])
    elif origin is list:
        assert isinstance(value, list), (value, of)
        for own in value:
            conforms(own, arguments[0])
    elif origin is dict:
        assert isinstance(value, dict), (value, of)
        for name, own in value.items():
            conforms(name, arguments[0])
            conforms(own, arguments[1])
    else:
        kinds = arguments if origin in (types.UnionType, typing.Union) else (of,)
        assert type(value) in kinds, (value, of)
