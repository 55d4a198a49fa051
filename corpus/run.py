"""Measures readers of trace files by the corpus.

    python3 corpus/run.py 'python3 corpus/readers/etw.py target/debug/etw'
    python3 corpus/run.py 'python3 corpus/readers/etw.py etw' 'python3 corpus/readers/dissect_etl.py' --cases 'clocks-*'

Each reader is a command. It gets paths of traces as arguments, and prints one JSON object for each, as README.md describes. The exit status is 1 unless
all readers pass all cases.
"""

import argparse
import fnmatch
import json
import math
import pathlib
import re
import shlex
import subprocess
import sys
from collections import Counter

FOLDER = pathlib.Path(__file__).parent / "traces"
RESULTS = ["right", "wrong", "silent", "failed"]
SID = re.compile(r"S-1(-[0-9]+)+")
GUID = re.compile(r"\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?", re.IGNORECASE)
# A reader that needs longer than this for all traces fails.
SECONDS = 600


class Silent(Exception):
    """The reader does not state a value."""


def number(value):
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        return int(str(value).split(" ")[0], 0)
    except (ValueError, IndexError):
        return None


def is_equal(expected, actual):
    """Whether a value is the expected one. Integers are compared by value, so 31, "31" and "0x1f" are equal."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(name in actual and is_equal(value, actual[name]) for name, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(is_equal, expected, actual))
    if expected is True:
        # The number of a Boolean that is neither 0 nor 1 contains more than true.
        return actual is True or not isinstance(actual, bool) and number(actual) not in (None, 0, 1)
    if expected is None or expected is False:
        return actual is expected
    if isinstance(expected, float):
        return isinstance(actual, float) and math.isclose(expected, actual, rel_tol=1e-7)
    if isinstance(expected, int) or expected.startswith("0x") and len(expected) > 2:
        return actual == expected or number(actual) == number(expected) is not None
    if SID.fullmatch(expected):
        return isinstance(actual, str) and actual.split(" ")[0] == expected
    if GUID.fullmatch(expected):
        return str(actual).strip("{}").lower() == expected
    return actual == expected


def compare(name, expected, actual):
    """Returns a difference of the values that the reader states, or None. Raises Silent if all are right, but some are not stated."""
    stated = {key: value for key, value in expected.items() if key in actual}
    for key, value in stated.items():
        if not is_equal(value, actual[key]):
            return f"{name}: {key} is {json.dumps(actual[key], ensure_ascii=False)[:100]} instead of {json.dumps(value, ensure_ascii=False)[:100]}"
    if silent := sorted(expected.keys() - stated.keys() - {"optional"}):
        raise Silent(f"{name}: does not state {', '.join(silent)}")
    return None


def is_event(expected, actual):
    try:
        return compare("", expected, actual) is None
    except Silent:
        return True


def is_optional(expected, index, actual):
    """Whether an event is the optional one at an index. One without members can be any event, except the next expected one."""
    own, after = expected[index], expected[index + 1:index + 2]
    is_any = set(own) == {"optional"}
    return is_event(own, actual) and not (is_any and after and is_event(after[0], actual))


def events(expected, actual):
    """Compares lists of events; an optional event can be absent."""
    silent, place = None, 0
    for index, event in enumerate(expected):
        is_last = place >= len(actual)
        if event.get("optional"):
            place += not is_last and is_optional(expected, index, actual[place])
            continue
        if is_last:
            return f"{len(actual)} events, and event {index} is absent"
        try:
            if difference := compare(f"event {index}", event, actual[place]):
                return difference
        except Silent as error:
            silent = error
        place += 1
    if place < len(actual):
        return f"{len(actual)} events instead of {place}"
    if silent:
        raise silent
    return None


def judge(case, answer):
    """The result of a case, and the reason if it is not right."""
    if answer is None:
        return "failed", "no answer"
    # An error is a report of damage, after the events before it.
    if answer.get("error") and not case.get("damaged"):
        return "failed", answer["error"]
    if answer.get("damaged") and not case.get("damaged"):
        return "wrong", "reports damage of an intact trace"
    own = {key: value for key, value in case.items() if key in ("damaged", "events_lost", "buffers_lost", "session")}
    silent = None
    for kind, expected, actual in ((events, case["events"], answer.get("events", [])), (compare, own, answer)):
        try:
            if difference := kind(expected, actual) if kind is events else kind("trace", expected, actual):
                return "wrong", difference
        except Silent as error:
            silent = silent or error
    return ("silent", str(silent)) if silent else ("right", "")


def answers(command, paths):
    """What the reader prints for the traces, by name."""
    output = subprocess.run([*shlex.split(command), *map(str, paths)], stdout=subprocess.PIPE, timeout=SECONDS, check=False).stdout
    found = {}
    for line in output.decode("utf-8", "replace").splitlines():
        answer = json.loads(line)
        found[pathlib.Path(answer["trace"]).stem] = answer
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="+", metavar="READER", help="a command that gets paths of traces as further arguments")
    parser.add_argument("--cases", default="*", help="only cases with names like this, such as 'clocks-*'")
    parser.add_argument("--summary", action="store_true", help="print only the table")
    options = parser.parse_args()
    paths = sorted(path for path in FOLDER.glob("*.etl") if fnmatch.fnmatch(path.stem, options.cases))
    if not paths:
        sys.exit(f"no cases: {options.cases}; run python3 corpus/make.py, or choose another name")
    counts, is_right = Counter(), True
    for index, command in enumerate(options.readers):
        own = answers(command, paths)
        for path in paths:
            case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            result, reason = judge(case, own.get(path.stem))
            counts[path.stem.split("-")[0], index, result] += 1
            counts["all", index, result] += 1
            is_right &= result == "right"
            if result != "right" and not options.summary:
                print(f"{result}: {path.stem}: {reason}\n    {case['rule']}")
    for index, command in enumerate(options.readers):
        print(f"\n{command}\n{'':14}" + "".join(f"{result:>8}" for result in RESULTS))
        for group in sorted({group for group, *_ in counts} - {"all"}) + ["all"]:
            print(f"{group:14}" + "".join(f"{counts[group, index, result]:8}" for result in RESULTS))
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
