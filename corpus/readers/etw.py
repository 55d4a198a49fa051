"""The program `etw` as a reader of the corpus: python3 etw.py PROGRAM TRACE..."""

import json
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SAME = ["header", "provider", "version", "opcode", "level", "task", "channel", "keyword", "processor", "activity", "related", "provider_name"]
RENAMED = {"time": "time_utc", "process": "header_process", "thread": "header_thread"}
KERNEL = {"SYSTEM32", "SYSTEM64", "COMPACT32", "COMPACT64", "PERFINFO32", "PERFINFO64"}


def lines(program, *arguments):
    process = subprocess.run([program, "etl", *arguments, "--format", "json"], capture_output=True, check=False)
    return [json.loads(line) for line in process.stdout.splitlines()], process


def event(decoded, bytes_of):
    own = {name: decoded[name] for name in SAME}
    own.update({name: decoded[other] for name, other in RENAMED.items()})
    own["items"] = [dict(type=item["type"], data=item["data"]) for item in decoded["items"]]
    own["payload"] = bytes_of["payload"]
    # The identifier of a kernel event is its hook, which consumers see as provider and opcode.
    if decoded["header"] not in KERNEL:
        own["id"] = decoded["id"]
    if decoded["event"] is not None:
        own["event_name"] = decoded["event"].rsplit("/", 1)[-1]
    if "fields" in decoded:
        own["fields"] = decoded["fields"]
    if "message" in decoded:
        own["message"] = decoded["message"]
    if (decoded.get("schema") or {}).get("source") == "header":
        own["string"] = decoded["fields"]["Message"]
    return own


def answer(program, path):
    folder = pathlib.Path(path).parent
    schemas = ["--manifests", str(folder / "corpus.man"), "--tmf", str(folder / "corpus.tmf")]
    events = ["events", "--order", "time", path]
    fields, decoded = lines(program, *events, "--payload", "fields", *schemas)
    messages, _ = lines(program, *events, "--payload", "message", *schemas)
    hexadecimal, _ = lines(program, *events, "--payload", "hex")
    info, _ = lines(program, "info", path)
    if not info or decoded.returncode not in (0, 1):
        return dict(events=[], damaged=True, error=(decoded.stdout + decoded.stderr).decode("utf-8", "replace")[:200])
    for one, message in zip(fields, messages):
        if "message" in message:
            one["message"] = message["message"]
    # The event with the trace header is behind the header of the first buffer.
    is_header = [(one["buffer"], one["offset"]) == (0, 0x48) for one in hexadecimal]
    own = [event(*pair) for pair, is_one in zip(zip(fields, hexadecimal, strict=True), is_header, strict=True) if not is_one]
    return dict(events=own, damaged=decoded.returncode == 1, events_lost=info[0]["events_lost"], buffers_lost=info[0]["buffers_lost"],
                session=info[0]["session"])


with ThreadPoolExecutor() as threads:
    traces = sys.argv[2:]
    for trace, result in zip(traces, threads.map(lambda trace: answer(sys.argv[1], trace), traces)):
        print(json.dumps(dict(trace=trace, **result), ensure_ascii=False), flush=True)
