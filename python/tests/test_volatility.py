"""The plugins of Volatility: run by its program on memory images of eight builds, they list what `etw dump` prints about crash dumps of the same
memory. The images are made by the test `memory_images` of the program, in the folder ETW_LAYOUTS_IMAGES."""

import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import conftest
import pytest

import etw
from etw import _etw
from etw.volatility import PLUGINS

IMAGES = os.environ.get("ETW_LAYOUTS_IMAGES")

if not importlib.util.find_spec("volatility3"):
    conftest.skipped("volatility3", "pip install volatility3")
if not IMAGES:
    pytest.skip("left out: plugins of Volatility; set ETW_LAYOUTS_IMAGES to the images of `cargo test --test dump memory_images`", allow_module_level=True)

LIST = [line.split() for line in (Path(IMAGES) / "list.txt").read_text().splitlines()]


def vol(image: Path, plugin: str, *words: str, cwd: Path, code: int = 0) -> tuple[list[dict], str]:
    """The rows that a plugin lists, and the messages."""
    environment = {**os.environ, "PYTHONPATH": str(Path(etw.__file__).parents[1])}
    # As the program `vol`, which need not be in the path.
    program = "import sys; from volatility3.cli import main; sys.argv[0] = 'vol'; main()"
    arguments = [sys.executable, "-c", program, "--offline", "-q", "-p", PLUGINS, "-r", "json", "-f", str(image), plugin, *words]
    output = subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert output.returncode == code, output.stdout + output.stderr
    return json.loads(output.stdout) if code == 0 else [], output.stdout + output.stderr


def options(name: str, build: str, has_symbols: str) -> list[str]:
    symbols = ["--symbols", str(Path(IMAGES) / f"{name}.symbols.json")] if has_symbols == "true" else []
    return [*symbols, *(["--build", build] if name.endswith("x86") else [])]


def test_sessions(tmp_path):
    def check(line: list[str]) -> None:
        name = line[0]
        expected = json.loads((Path(IMAGES) / f"{name}.json").read_text())
        rows, _ = vol(Path(IMAGES) / f"{name}.raw", "etw.Sessions", *options(*line), cwd=tmp_path)
        wanted = [(one["logger_id"], one["session"], one["mode_names"], one["buffers"], one["events"]) for one in expected["sessions"]]
        assert [(row["ID"], row["Name"], row["Mode"], row["Buffers"], row["Events"]) for row in rows] == wanted and len(rows) == 3, name

    assert len(LIST) == 8
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, LIST))


@conftest.weekly
def test_all_plugins(tmp_path):
    """On ARM64, for which Volatility has no layer of virtual memory."""
    name = next(name for name, *_ in LIST if name.endswith("arm64"))
    expected = json.loads((Path(IMAGES) / f"{name}.json").read_text())
    [own] = [line for line in LIST if line[0] == name]
    words, image = options(*own), Path(IMAGES) / f"{name}.raw"
    number = lambda text: None if text is None else int(text, 16)

    rows, _ = vol(image, "etw.Providers", *words, cwd=tmp_path)
    wanted = {(number(one["address"]), one["guid"], by.get("logger_id")) for one in expected["providers"] for by in one["enabled"] or [{}]}
    assert {(row["Address"], row["GUID"], row["Session"]) for row in rows} == wanted and len(wanted) > 2

    rows, _ = vol(image, "etw.Registrations", *words, cwd=tmp_path)
    all_of = [one for provider in expected["providers"] if provider["kind"] != "Group" for one in provider["registrations"]]
    wanted = {(number(one["address"]), number(one["callback"]), one["module"] or (one["callback"] and "no module")) for one in all_of}
    assert {(row["Address"], row["Callback"], row["Module"]) for row in rows} == wanted
    assert "ntoskrnl.exe" in {row["Module"] for row in rows}

    rows, _ = vol(image, "etw.Consumers", *words, cwd=tmp_path)
    assert [row["Address"] for row in rows] == [number(one["address"]) for one in expected["consumers"]]

    rows, _ = vol(image, "etw.Globals", *words, cwd=tmp_path)
    known = {row["Name"]: row["Address"] for row in rows}
    assert {key: known[key] for key in expected["kernel"]["globals"]} == {key: number(at) for key, at in expected["kernel"]["globals"].items()}

    assert len(vol(image, "etw.Findings", *words, cwd=tmp_path)[0]) == len(expected["diagnostics"])

    rows, _ = vol(image, "etw.Buffers", "--free", *words, cwd=tmp_path)
    saved = [etw.open(tmp_path / row["File"]) for row in rows]
    assert [trace.info["session"] for trace in saved] == [row["Name"] for row in rows]
    assert sum(sum(1 for _ in trace.events()) - 1 for trace in saved) == sum(row["Events"] for row in rows) > 0


HIGH = 1 << 37
"""An address after a gap that is larger than the search for a kernel looks through page by page."""


def with_a_gap(memory: bytes) -> list[tuple[int, bytes]]:
    """Addresses and bytes of memory with gaps. The page table that leads to the kernel is at HIGH, and refers to itself there."""
    entry = 0x1ED * 8
    number = lambda start: int.from_bytes(memory[start + entry : start + entry + 8], "little")
    [table] = [start for start in range(0, len(memory), 0x1000) if number(start) & ~0xFFF == start > 0]
    moved = bytearray(memory[table : table + 0x1000])
    moved[entry : entry + 8] = (HIGH | number(table) & 0xFFF).to_bytes(8, "little")
    low = memory[:table] + bytes(0x1000) + memory[table + 0x1000 :]
    pieces = [(start, low[start : start + (1 << 20)]) for start in range(0, len(low), 1 << 20)]
    return [*((start, piece) for start, piece in pieces if any(piece)), (HIGH, bytes(moved))]


def lime(segments: list[tuple[int, bytes]]) -> bytes:
    return b"".join(struct.pack("<IIQQQ", 0x4C694D45, 1, start, start + len(piece) - 1, 0) + piece for start, piece in segments)


def vmss(segments: list[tuple[int, bytes]]) -> bytes:
    """The part of a saved state of VMware that states where the segments of the memory file are, by the description of the format in the wiki of
    Volatility: a header, a group, and tags with their indices and values."""
    header = struct.pack("<III64sQQ", 0xBED3BED3, 0, 1, b"memory", 12 + 80, 0)
    tag = lambda name, value, *indices: struct.pack(f"<BB{len(name)}s{len(indices) + 1}I", len(indices) << 6 | 4, len(name), name, *indices, value)
    tags, page = tag(b"regionsCount", len(segments)), 0
    for index, (start, piece) in enumerate(segments):
        size = len(piece) >> 12
        tags += tag(b"regionPageNum", page, index) + tag(b"regionPPN", start >> 12, index) + tag(b"regionSize", size, index)
        page += size
    return header + tags + bytes(2)


def test_memory_with_gaps(tmp_path):
    """Files of VMware and LiME with the same memory. Their page tables are not where the file has them, and are found only in the segments that the layers
    of Volatility list."""
    name = next(name for name, *_ in LIST if "19041" in name)
    memory = (Path(IMAGES) / f"{name}.raw").read_bytes()
    expected = [one["session"] for one in json.loads((Path(IMAGES) / f"{name}.json").read_text())["sessions"]]
    segments = with_a_gap(memory)
    assert len(segments) > 2
    (tmp_path / "gaps.lime").write_bytes(lime(segments))
    (tmp_path / "gaps.vmem").write_bytes(b"".join(piece for _, piece in segments))
    (tmp_path / "gaps.vmss").write_bytes(vmss(segments))
    for image in ["gaps.lime", "gaps.vmem"]:
        assert [row["Name"] for row in vol(tmp_path / image, "etw.Sessions", cwd=tmp_path)[0]] == expected, image

    # A memory file without its state is read as a raw image: that of a system whose memory has no gaps.
    (tmp_path / "gaps.vmss").unlink()
    _, text = vol(tmp_path / "gaps.vmem", "etw.Sessions", cwd=tmp_path, code=1)
    assert "no kernel found" in text and "VMSS or VMSN" in text
    (tmp_path / "whole.vmem").symlink_to(Path(IMAGES) / f"{name}.raw")
    rows, text = vol(tmp_path / "whole.vmem", "etw.Sessions", cwd=tmp_path)
    assert [row["Name"] for row in rows] == expected and "VMSS or VMSN" in text


def test_without_symbols(tmp_path):
    """A kernel whose addresses are not built in: a search finds the state of ETW."""
    name = next(name for name, *_ in LIST if name.endswith("arm64"))
    expected = json.loads((Path(IMAGES) / f"{name}.json").read_text())
    rows, text = vol(Path(IMAGES) / f"{name}.raw", "etw.Sessions", cwd=tmp_path)
    assert [row["Name"] for row in rows] == [one["session"] for one in expected["sessions"]]
    assert "PspHostSiloGlobals was found by a search" in text
    rows, _ = vol(Path(IMAGES) / f"{name}.raw", "etw.Globals", cwd=tmp_path)
    assert [row["Description"] for row in rows if row["Name"] == "PspHostSiloGlobals"] == ["variable, from a search in the image of the kernel"]
    _, text = vol(Path(IMAGES) / f"{name}.raw", "etw.Buffers", cwd=tmp_path, code=1)
    assert "could not be saved" in text and "--symbols" in text


@conftest.weekly
def test_short_files_and_errors(tmp_path):
    """Files that end in a segment; and memory without a kernel, or with an unknown one."""
    name = next(name for name, _, has in LIST if has == "false")
    memory = (Path(IMAGES) / f"{name}.raw").read_bytes()
    pieces = [(start, memory[start : start + (1 << 20)]) for start in range(0, len(memory), 1 << 20)]
    (tmp_path / "memory.lime").write_bytes(lime([(start, piece) for start, piece in pieces if any(piece)]))
    expected = json.loads((Path(IMAGES) / f"{name}.json").read_text())
    rows, _ = vol(tmp_path / "memory.lime", "etw.Sessions", cwd=tmp_path)
    assert [row["Name"] for row in rows] == [one["session"] for one in expected["sessions"]]

    # Memory whose last page has a variable that is needed.
    def names(end: int) -> list[str]:
        file = io.BytesIO()
        read = lambda address, size: memory[address : min(address + size, end)]
        _etw.memory(["info", "--details", "--format", "json", "memory"], read, [(0, end)], file)
        return [one["session"] for one in json.loads(file.getvalue())["sessions"]]

    kernel, wanted = expected["kernel"], [one["session"] for one in expected["sessions"]]
    image = next(start for start in range(0, len(memory), 0x1000) if memory[start : start + 2] == b"MZ")
    places = {image + int(address, 16) - int(kernel["base"], 16) for address in kernel["globals"].values()}
    end = next(end for end in sorted({(place | 0xFFF) + 1 for place in places}) if names(end) == wanted)
    assert names(end - 0x1000) != wanted
    for kind, header in [("raw", b""), ("lime", struct.pack("<IIQQQ", 0x4C694D45, 1, 0, end - 1, 0))]:
        (tmp_path / f"short.{kind}").write_bytes(header + memory[:end])
        short, _ = vol(tmp_path / f"short.{kind}", "etw.Sessions", cwd=tmp_path)
        assert [row["Name"] for row in short] == wanted, kind

    # A file that ends in a segment: what follows the end is missing, and the rest is read.
    whole = (tmp_path / "memory.lime").read_bytes()
    header = struct.pack("<IIQQQ", 0x4C694D45, 1, 1 << 40, (1 << 40) + (1 << 30) - 1, 0)
    (tmp_path / "cut.lime").write_bytes(whole + header + bytes(0x1800))
    assert vol(tmp_path / "cut.lime", "etw.Sessions", cwd=tmp_path)[0] == rows

    (tmp_path / "empty.raw").write_bytes(bytes(1 << 20))
    _, text = vol(tmp_path / "empty.raw", "etw.Sessions", cwd=tmp_path, code=1)
    assert "no kernel found" in text
    unknown = next(name for name, *_ in LIST if name.endswith("x86"))
    _, text = vol(Path(IMAGES) / f"{unknown}.raw", "etw.Sessions", cwd=tmp_path, code=1)
    assert "unknown build of the kernel" in text and "--build" in text
