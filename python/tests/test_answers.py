"""Answers about whole traces: they equal the output of the program."""

import csv
import io
import json
import subprocess
import sys

import conftest
import duckdb
import pandas
import polars
import pyarrow
import pytest

import etw


def etw_program(*words: object) -> tuple[str, str]:
    """What the program prints on standard output and standard error."""
    output = subprocess.run([sys.executable, "-m", "etw", *map(str, words)], capture_output=True, text=True, check=False)
    assert output.returncode in (0, 1), output.stderr
    return output.stdout, output.stderr


@pytest.fixture
def real():
    """A trace with samples, disk and garbage collections."""
    folder = conftest.folder()
    if folder is None:
        pytest.skip("left out: answers about a real trace; set ETW_LAYOUTS_ETL")
    return folder / "microsoft__net.4.5.2.x64.etl", folder / "microsoft__net.4.5.2.x86.etl"


QUESTIONS = [("cpu", ["process", "module"]), ("gc", ["process", "reason"]), ("disk", ["file"]), ("events", ["event"])]


@pytest.mark.parametrize(("what", "by"), QUESTIONS)
def test_sums(real, what, by):
    """The table has the rows, values and columns of CSV; all libraries read it."""
    text, aside = etw_program("etl", "top", what, "--by", ",".join(by), "--format", "csv", real[0])
    lines = list(csv.DictReader(io.StringIO(text)))
    found = etw.top(real[0], what, by=by)
    frame = polars.DataFrame(found)
    assert len(lines) == len(found) == len(frame) > 2 and frame.columns == list(lines[0])
    for line, row, own in zip(lines, frame.iter_rows(named=True), found.rows, strict=True):
        assert row == own
        for name, cell in line.items():
            assert cell == "" if row[name] is None else type(row[name])(cell) == row[name], name
    assert [f"note: {note['note']} ({note['count']})" for note in found.notes] == [line for line in aside.splitlines() if line.startswith("note")]
    assert len(pandas.DataFrame.from_arrow(found)) == pyarrow.table(found).num_rows == len(lines)
    first = found.rows[0]
    assert duckdb.sql("SELECT * FROM found").fetchall()[0] == tuple(first.values())
    # Columns without any value have their type too.
    assert polars.DataFrame(etw.open(real[0]).top(what, by=by, filter={"process": 999_999})).schema == frame.schema


def test_differences(real):
    lines, _ = etw_program("etl", "compare", *real, "--what", "gc", "--by", "reason", "--measure", "pauses", "--format", "json")
    found = etw.compare(*real, what="gc", by="reason", measure="pauses")
    assert found.rows == [json.loads(line) for line in lines.splitlines()] and len(found) > 0
    assert (found.summary["measure"], found.summary["runs_before"], found.notes) == ("pauses", 1, [])
    with pytest.raises(etw.Error, match="`gc` has no column `size`"):
        etw.compare(*real, what="gc", measure="size")


def test_timeline(made):
    for options, words in [({}, []), ({"form": "ecs", "host": "A"}, ["--form", "ecs", "--host", "A"]), ({"all": True}, ["--all"])]:
        lines, _ = etw_program("etl", "timeline", "--format", "json", *words, made)
        found = etw.timeline(made, **options)
        entries = list(found)
        assert entries == [json.loads(line) for line in lines.splitlines()]
        assert len(entries) == conftest.COUNT == found.summary["entries"]
    some = etw.timeline([made], kind="process_started", filter={"process": [1001, 1002]})
    assert [entry["process"]["id"] for entry in some] == [1001, 1002]
    with pytest.raises(etw.Error, match="invalid value 'process'"):
        etw.timeline(made, kind="process")


def test_profile_and_report(real, tmp_path):
    for name, format in [("firefox.json", "firefox"), ("folded.txt", "folded")]:
        words = ["--format", format, "--process", "3676"]
        _, aside = etw_program("etl", "profile", *words, "-o", tmp_path / name, real[0])
        notes = etw.profile(real[0], tmp_path / f"own-{name}", format=format, filter={"process": 3676})
        assert (tmp_path / name).read_bytes() == (tmp_path / f"own-{name}").read_bytes()
        assert len(notes) == len(aside.splitlines()) and "left out: 74,399 not matching" in notes[0]["note"]
    etw_program("etl", "report", "-o", tmp_path / "report.html", real[0])
    etw.report(real[0], tmp_path / "own.html")
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "own.html").read_bytes()
    with pytest.raises(etw.Error, match="own.html"):
        etw.report(real[0], tmp_path / "own.html")


def test_damage_and_missing_files(made, tmp_path):
    damaged = tmp_path / "damaged.etl"
    damaged.write_bytes(made.read_bytes()[:-100])
    with pytest.warns(etw.DamageWarning, match="diagnostics: parts of the trace may be missing"):
        found = etw.timeline(damaged)
    assert any(note.get("kind") == "truncated" for note in found.notes)
    with pytest.raises(etw.ReadError, match="No such file") as raised:
        etw.report(tmp_path / "none.etl", tmp_path / "page.html")
    assert raised.value.errno == 2 and not (tmp_path / "page.html").exists()
    with pytest.raises(etw.Error, match="list is empty"):
        etw.profile([], tmp_path / "page.json")


def test_errors_are_those_of_the_program(real, made, tmp_path):
    """Not another line for standard error, such as a note or a summary."""
    bad, empty = tmp_path / "bad.etl", tmp_path / "empty"
    bad.write_bytes(b"no trace" * 100)
    empty.mkdir()
    with pytest.raises(etw.Error, match=r"^[^{]*bad\.etl: not an? "):
        etw.timeline([real[0], bad])
    with pytest.raises(etw.Error, match=r"^[^{]*bad\.etl: not an? "):
        etw.compare(real[0], [bad, real[0]])
    with pytest.raises(etw.Error, match="^[^{]*disk"):
        etw.compare(made, made, what="disk")
    with pytest.raises(etw.Error, match=r"^[^{]*empty: no trace files"):
        etw.compare(empty, made, what="disk")


def test_options_and_names_that_look_like_options(made, tmp_path, monkeypatch):
    """A filter has only the options that select events; a name can begin with a hyphen."""
    with pytest.raises(etw.Error, match="unknown option `limit`; known options: provider, event"):
        etw.compare(made, made, what="events", filter={"limit": 1})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.etl").write_bytes(made.read_bytes())
    assert etw.compare("-x.etl", ["-x.etl"], what="events").rows == []
    assert len(list(etw.timeline("-x.etl", kind=["process_started"]))) == conftest.COUNT
    with pytest.raises(etw.Error, match="--all: "):
        etw.timeline("-x.etl", manifests="--all")
