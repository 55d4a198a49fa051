"""Writes the traces of the corpus, and what a reader must return for each.

    python3 corpus/make.py            write corpus/traces
    python3 corpus/make.py --check    exit with status 1 if corpus/traces differs from what would be written
"""

import importlib
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
GROUPS = ["headers", "buffers", "clocks", "compression", "items", "order", "manifest", "tracelogging", "kernel", "messages", "schemas", "damage"]


def files():
    """All files of the corpus, by name."""
    from trace import CASES

    modules = {group: importlib.import_module(f"cases.{group}") for group in GROUPS}
    out = {
        "corpus.man": modules["manifest"].xml().encode(),
        "corpus.tmf": ("\n".join(modules["messages"].TMF) + "\n").encode(),
    }
    for case in CASES:
        assert f"{case.name}.etl" not in out, f"two cases are named {case.name}"
        expected = dict(rule=case.rule, source=case.source, **case.more, events=case.events)
        out[f"{case.name}.etl"] = case.data
        out[f"{case.name}.json"] = (json.dumps(expected, ensure_ascii=False, indent=1) + "\n").encode()
    return out


def main():
    folder = FOLDER / "traces"
    written = files()
    present = {path.name: path.read_bytes() for path in folder.glob("*")} if folder.is_dir() else {}
    changed = sorted(name for name in written.keys() | present.keys() if written.get(name) != present.get(name))
    if "--check" in sys.argv:
        if changed:
            sys.exit(f"corpus/traces is not up to date: {', '.join(changed[:5])}; run python3 corpus/make.py")
        return
    folder.mkdir(exist_ok=True)
    for name in changed:
        if name in written:
            (folder / name).write_bytes(written[name])
        else:
            (folder / name).unlink()
    print(f"{sum(name.endswith('.etl') for name in written)} traces, {sum(map(len, written.values()))} bytes; {len(changed)} files changed")


if __name__ == "__main__":
    main()
