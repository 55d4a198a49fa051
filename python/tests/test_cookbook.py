"""The questions of docs/COOKBOOK.md have the answers in the page."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import conftest
import duckdb
import pytest

import etw

PAGE = Path(__file__).parents[2] / "docs/COOKBOOK.md"
BLOCK = re.compile(r"```(sh|sql) tested\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def answer(language: str, code: str, environment: dict[str, str]) -> str:
    if language == "sh":
        words = ["bash", "-o", "pipefail", "-c", code]
        output = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        # The program exits with 1 if there are diagnostics.
        assert output.returncode in (0, 1) and not output.stderr, code + output.stderr
        return output.stdout
    relation = duckdb.sql(code)
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(relation.columns)
    rows.writerows(relation.fetchall())
    return file.getvalue()


def test_answers(tmp_path, monkeypatch):
    """BLESS=1 updates the answers in the page."""
    folder = conftest.folder()
    if folder is None:
        pytest.skip("left out: docs/COOKBOOK.md; set ETW_LAYOUTS_ETL")
    if not shutil.which("jq"):
        conftest.skipped("jq", "apt-get install jq")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").symlink_to(folder)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/etw"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m etw "$@"\n')
    program.chmod(0o755)
    package = str(Path(etw.__file__).parents[1])
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": package}
    page, bless, questions = PAGE.read_text(), bool(os.environ.get("BLESS")), 0
    for language, code, expected in BLOCK.findall(page):
        found = answer(language, code, environment)
        assert found or "export" in code, code
        questions += bool(found)
        page = page.replace(f"```{language} tested\n{code}```\n" + (f"\n```text\n{expected}```\n" if expected else ""),
                            f"```{language} tested\n{code}```\n" + (f"\n```text\n{found}```\n" if found else ""))
        assert found == expected or bless, code
    assert questions == 20
    if bless:
        PAGE.write_text(page)
