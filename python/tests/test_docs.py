"""Tests types, names and examples."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import venv
from pathlib import Path

import conftest
import pytest

import etw
from etw import _etw

DOCS = Path(__file__).parents[2] / "docs"


def test_stubs_have_the_names_of_the_module():
    tree = ast.parse((Path(etw.__file__).parent / "_etw.pyi").read_text())
    own = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            own[node.name] = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            own[node.name] = [argument.arg for argument in node.args.args]
    assert set(own) == {name for name in dir(_etw) if not name.startswith("_")}
    for name, members in own.items():
        value = getattr(_etw, name)
        if isinstance(members, set):
            special = {"__new__", "__iter__", "__next__", "__len__", "__getitem__"}
            found = {member for member in vars(value) if not member.startswith("__") or member.startswith("__arrow") or member in special}
            assert members - {"__new__"} == found - {"__new__"}, name
        else:
            assert members == list(inspect.signature(value).parameters), name


def test_public_names_are_documented():
    assert (Path(etw.__file__).parent / "py.typed").exists()
    for name in etw.__all__:
        assert inspect.getdoc(getattr(etw, name)) or hasattr(_etw, name), name


def blocks(page: str) -> list[tuple[str, str]]:
    """The examples of a page, each with the output that follows it."""
    found = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", (DOCS / page).read_text(), flags=re.S)
    assert found and "```text\n```" not in (DOCS / page).read_text()
    return found


def test_examples_of_the_documentation(tmp_path, monkeypatch, capsys):
    """The examples of docs/PYTHON.md run one after another, as in a notebook, and print the output in the page. BLESS=1 updates the output in
    the page, and its picture."""
    folder = conftest.folder()
    if folder is None:
        pytest.skip("left out: examples of docs/PYTHON.md; set ETW_LAYOUTS_ETL")
    if not importlib.util.find_spec("matplotlib"):
        conftest.skipped("matplotlib", "pip install matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").symlink_to(folder)
    (tmp_path / "docs").mkdir()
    names = {"__name__": "example"}
    page, bless = (DOCS / "PYTHON.md").read_text(), bool(os.environ.get("BLESS"))
    for code, expected in blocks("PYTHON.md"):
        exec(compile(code, "docs/PYTHON.md", "exec"), names)
        output = capsys.readouterr().out
        page = page.replace(f"```python\n{code}```\n" + (f"\n```text\n{expected}```\n" if expected else ""),
                            f"```python\n{code}```\n" + (f"\n```text\n{output}```\n" if output else ""))
        assert output == expected or bless, code
    if bless:
        (DOCS / "PYTHON.md").write_text(page)
        (DOCS / "events.png").write_bytes((tmp_path / "docs/events.png").read_bytes())
    assert (tmp_path / "docs/events.png").stat().st_size < 60_000


def test_wheel_in_an_empty_environment(made, tmp_path):
    """The wheel needs no other package and no compiler."""
    wheel = os.environ.get("ETW_LAYOUTS_WHEEL")
    if not wheel:
        pytest.skip("left out: the wheel by itself; set ETW_LAYOUTS_WHEEL to its path")
    assert "-abi3-" in wheel
    venv.create(tmp_path / "venv", with_pip=True, symlinks=os.name != "nt")
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    environment = {name: value for name, value in os.environ.items() if name not in ("PATH", "PYTHONPATH")}

    def run(*words):
        return subprocess.run([python, *words], env=environment, capture_output=True, text=True, check=True).stdout

    run("-m", "pip", "install", "-q", "--no-index", wheel)
    assert run("-m", "etw", "--version").startswith("etw ")
    assert run("-c", f"import etw; print(sum(1 for _ in etw.open({str(made)!r}).events()))").strip() == str(conftest.COUNT + 1)
