"""Each type of event header: offsets of its members, its length, and what it does not have."""

import sources as s
import wire
from trace import Buffer, at, case, stamp, trace

PAYLOAD = b"\x01\x02\x03\x04"
WHO = dict(time=at(1), processor=0, process=1234, thread=5678, payload="01020304")
NOBODY = dict(time=at(1), processor=0, process=None, thread=None, payload="01020304")
# DiskIo: group 0x01.
DISK = dict(provider="3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", opcode=10)


# A version that no class has, so that no reader decodes the payload.
VERSION = 77


def kernel(header, kind, version=VERSION):
    return dict(WHO, header=header, version=version, **DISK), wire.system(PAYLOAD, hook=0x010A, version=version, kind=kind, stamp=stamp(1))


@case("SYSTEM_TRACE_HEADER of 64-bit data has 0x20 bytes: length at 4, hook at 6, thread before process, time at 0x10.",
      s.SYSTEM_HEADER, s.HOOK_ID)
def system64():
    expected, event = kernel("SYSTEM64", 2)
    return trace(event), [expected]


@case("SYSTEM_TRACE_HEADER of 32-bit data has the same members.", s.SYSTEM_HEADER)
def system32():
    expected, event = kernel("SYSTEM32", 1)
    return trace(event, pointer_size=4), [expected]


@case("The compact header of 64-bit data ends after the time, at 0x18.", s.SYSTEM_HEADER)
def compact64():
    expected, event = kernel("COMPACT64", 4)
    return trace(event), [expected]


@case("The compact header of 32-bit data ends after the time, at 0x18.", s.SYSTEM_HEADER)
def compact32():
    expected, event = kernel("COMPACT32", 3)
    return trace(event, pointer_size=4), [expected]


@case("The processor times of a SYSTEM_TRACE_HEADER, at 0x18 and 0x1C, are not part of the payload.", s.SYSTEM_HEADER)
def system_processor_times():
    event = wire.system(PAYLOAD, hook=0x010A, version=VERSION, stamp=stamp(1), kernel=7, user=9)
    return trace(event), [dict(WHO, header="SYSTEM64", version=VERSION, **DISK)]


def sampled(header, kind, **more):
    event = wire.perfinfo(PAYLOAD, hook=0x0F2E, version=VERSION, kind=kind, stamp=stamp(1), **more)
    expected = dict(NOBODY, header=header, provider="ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", opcode=46, version=VERSION)
    return trace(event, pointer_size=8 if kind == 0x11 else 4), [expected]


@case("PERFINFO_TRACE_HEADER of 64-bit data has 0x10 bytes: the time at 8, no thread and no process.", s.PERFINFO_HEADER)
def perfinfo64():
    return sampled("PERFINFO64", 0x11)


@case("PERFINFO_TRACE_HEADER of 32-bit data has the same members.", s.PERFINFO_HEADER)
def perfinfo32():
    return sampled("PERFINFO32", 0x10)


@case("Bits 8 to 10 of the Version of a PERFINFO_TRACE_HEADER are the number of 64-bit counters before the payload.",
      s.PERFINFO_HEADER)
def perfinfo_counters():
    return sampled("PERFINFO64", 0x11, counters=(0x1111, 0x2222, 0x3333))


@case("Seven counters, the most that three bits can state.", s.PERFINFO_HEADER)
def perfinfo_seven_counters():
    return sampled("PERFINFO64", 0x11, counters=tuple(range(1, 8)))


@case("Bit 15 of the Version of a PERFINFO_TRACE_HEADER announces a 64-bit PEBS index before the payload.", s.PERFINFO_HEADER)
def perfinfo_pebs():
    return sampled("PERFINFO64", 0x11, pebs=5)


@case("The PEBS index comes before the counters.", s.PERFINFO_HEADER)
def perfinfo_pebs_and_counters():
    return sampled("PERFINFO64", 0x11, pebs=5, counters=(0x1111,))


@case("The version of a PERFINFO event is the low byte of the member Version.", s.PERFINFO_HEADER)
def perfinfo_version():
    event = wire.perfinfo(PAYLOAD, hook=0x0524, version=VERSION, counters=(1, 2), stamp=stamp(1))
    return trace(event), [dict(NOBODY, header="PERFINFO64", provider="3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", opcode=36, version=VERSION)]


CLASSIC = dict(WHO, provider=wire.GUID, opcode=17, level=4, version=3)


@case("EVENT_TRACE_HEADER of 64-bit data has 0x30 bytes: length at 0, type, level and version at 4, GUID at 0x18.",
      s.EVENT_TRACE_HEADER, s.TRACE_HEADERS)
def full64():
    event = wire.classic(PAYLOAD, opcode=17, level=4, version=3, stamp=stamp(1))
    return trace(event), [dict(CLASSIC, header="FULL_HEADER64")]


@case("EVENT_TRACE_HEADER of 32-bit data has the same members.", s.EVENT_TRACE_HEADER, s.TRACE_HEADERS)
def full32():
    event = wire.classic(PAYLOAD, opcode=17, level=4, version=3, kind=0x0A, stamp=stamp(1))
    return trace(event, pointer_size=4), [dict(CLASSIC, header="FULL_HEADER32")]


@case("The processor times of an EVENT_TRACE_HEADER, at 0x28 and 0x2C, are not part of the payload.", s.EVENT_TRACE_HEADER)
def full_processor_times():
    event = wire.classic(PAYLOAD, opcode=17, level=4, version=3, stamp=stamp(1), kernel=3, user=4)
    return trace(event), [dict(CLASSIC, header="FULL_HEADER64")]


@case("EVENT_INSTANCE_GUID_HEADER of 64-bit data has 0x48 bytes, the GUID of the class at 0x18.", s.INSTANCE_GUID_HEADER)
def instance64():
    event = wire.instance(PAYLOAD, opcode=17, level=4, version=3, stamp=stamp(1), own=9, parent=8)
    return trace(event), [dict(CLASSIC, header="INSTANCE64")]


@case("EVENT_INSTANCE_GUID_HEADER of 32-bit data has the same members.", s.INSTANCE_GUID_HEADER)
def instance32():
    event = wire.instance(PAYLOAD, opcode=17, level=4, version=3, stamp=stamp(1), kind=0x0B)
    return trace(event, pointer_size=4), [dict(CLASSIC, header="INSTANCE32")]


@case("Up to Windows XP, type 0x0B is an EVENT_INSTANCE_HEADER: 0x38 bytes, with handles instead of GUIDs.", s.INSTANCE_HANDLE_HEADER)
def instance_handle():
    event = wire.instance_handle(PAYLOAD, opcode=17, level=4, version=3, stamp=stamp(1))
    log = dict(pointer_size=4, version=(5, 1, 0, 0), build=2600, generation=51)
    return trace(event, **log), [dict(CLASSIC, header="INSTANCE32", provider=None)]


DESCRIPTOR = dict(provider=wire.GUID, id=0x1234, version=5, channel=16, level=3, opcode=11, task=0x0203, keyword="0x8000000000000020")


def described(kind=0x13, **more):
    values = dict(DESCRIPTOR, keyword=0x8000000000000020)
    return wire.event(PAYLOAD, kind=kind, stamp=stamp(1), **values, **more)


@case("EVENT_HEADER of 64-bit data has 0x50 bytes: GUID at 0x18, descriptor at 0x28, activity at 0x40.", s.EVENT_HEADER,
      s.EVENT_DESCRIPTOR)
def event64():
    return trace(described()), [dict(WHO, **DESCRIPTOR, header="EVENT_HEADER64")]


@case("EVENT_HEADER of 32-bit data has the same members.", s.EVENT_HEADER, s.EVENT_DESCRIPTOR)
def event32():
    return trace(described(0x12), pointer_size=4), [dict(WHO, **DESCRIPTOR, header="EVENT_HEADER32")]


@case("The event of a 32-bit program in the trace of a 64-bit system has its own header type.", s.EVENT_HEADER, s.TRACE_HEADERS)
def event32_in_64_bit_trace():
    expected = [dict(WHO, **DESCRIPTOR, header="EVENT_HEADER32"), dict(WHO, **DESCRIPTOR, header="EVENT_HEADER64")]
    return trace(described(0x12), described()), expected


@case("The activity of an event is the GUID at 0x40.", s.EVENT_HEADER)
def event_activity():
    event = described(activity=wire.OTHER_GUID)
    return trace(event), [dict(WHO, **DESCRIPTOR, header="EVENT_HEADER64", activity=wire.OTHER_GUID)]


@case("All members of an event descriptor are unsigned.", s.EVENT_DESCRIPTOR)
def event_largest_descriptor():
    event = wire.event(PAYLOAD, id=0xFFFF, version=0xFF, channel=0xFF, level=0xFF, opcode=0xFF, task=0xFFFF, keyword=2**64 - 1,
                       stamp=stamp(1), process=0xFFFFFFFF, thread=0xFFFFFFFE)
    expected = dict(WHO, header="EVENT_HEADER64", provider=wire.GUID, id=65535, version=255, channel=255, level=255, opcode=255,
                    task=65535, keyword="0xffffffffffffffff", process=0xFFFFFFFF, thread=0xFFFFFFFE)
    return trace(event), [expected]


@case("With the flag STRING_ONLY, the payload is one UTF-16 string.", s.EVENT_HEADER)
def event_string_only():
    event = wire.event(wire.wide("Grüße\0"), flags=0x44, stamp=stamp(1))
    return trace(event), [dict(header="EVENT_HEADER64", time=at(1), payload="47007200fc00df0065000000", string="Grüße")]


@case("The flag NO_CPUTIME does not change the length of the header.", s.EVENT_HEADER)
def event_no_cpu_time():
    event = described(flags=0x50, kernel=5, user=6)
    return trace(event), [dict(WHO, **DESCRIPTOR, header="EVENT_HEADER64")]


@case("An event can have no payload.", s.EVENT_HEADER)
def empty_payload():
    return trace(wire.event(stamp=stamp(1)), wire.event(PAYLOAD, stamp=stamp(2))), [
        dict(time=at(1), payload=""), dict(time=at(2), payload="01020304")]


@case("The next event begins at the next multiple of eight bytes; the length states the bytes without padding.", s.MEASURED)
def padding():
    payloads = [bytes(range(1, 1 + length)) for length in range(1, 9)]
    events = [wire.event(payload, stamp=stamp(1 + index)) for index, payload in enumerate(payloads)]
    return trace(*events), [dict(time=at(1 + index), payload=payload.hex()) for index, payload in enumerate(payloads)]


@case("The bytes between events are not zero: they are stale memory.", s.MEASURED)
def stale_padding():
    events = [wire.event(b"\x01", stamp=stamp(1)), wire.event(b"\x02", stamp=stamp(2))]
    return trace(Buffer(events, padding=0xC0)), [dict(time=at(1), payload="01"), dict(time=at(2), payload="02")]


@case("An event can fill its buffer.", s.MEASURED)
def whole_buffer():
    payload = bytes(range(256)) * 3
    payload = payload[:1024 - 0x48 - 0x50]
    return trace(wire.event(payload, stamp=stamp(1))), [dict(time=at(1), payload=payload.hex())]


@case("Headers of all types can follow each other in a buffer.", s.TRACE_HEADERS)
def all_types():
    kinds = [
        ("SYSTEM64", wire.system(PAYLOAD, hook=0x010A, version=VERSION, stamp=stamp(1))),
        ("COMPACT64", wire.system(PAYLOAD, hook=0x010A, version=VERSION, kind=4, stamp=stamp(2))),
        ("PERFINFO64", wire.perfinfo(PAYLOAD, hook=0x0F2E, version=VERSION, stamp=stamp(3))),
        ("FULL_HEADER64", wire.classic(PAYLOAD, stamp=stamp(4))),
        ("INSTANCE64", wire.instance(PAYLOAD, stamp=stamp(5))),
        ("EVENT_HEADER64", wire.event(PAYLOAD, stamp=stamp(6))),
        ("MESSAGE", wire.message(PAYLOAD, stamp=stamp(7))),
        ("EVENT_HEADER32", wire.event(PAYLOAD, kind=0x12, stamp=stamp(8))),
    ]
    expected = [dict(header=name, time=at(1 + index), payload="01020304") for index, (name, _) in enumerate(kinds)]
    return trace(*(event for _, event in kinds)), expected


GROUPS = [
    ("process", 0x0301, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", 1),
    ("thread", 0x0501, "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", 1),
    ("image", 0x1403, "2cb15d1d-5fc1-11d2-abe1-00a0c911f518", 3),
    ("file-io", 0x0440, "90cbdc39-4a3e-11d1-84f4-0000f80464e3", 64),
    ("tcp-ip", 0x060A, "9a280ac0-c8e0-11d1-84e2-00c04fb998a2", 10),
    ("udp-ip", 0x080A, "bf3a50c5-a9c9-4988-a005-2df0b7c80f80", 10),
    ("registry", 0x090A, "ae53722e-c863-11d2-8659-00c04fa321a1", 10),
    ("page-fault", 0x020A, "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", 10),
    ("stack-walk", 0x1820, "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3", 32),
    ("alpc", 0x1A21, "45d8cccd-539f-4b72-a8b7-5c683142609a", 33),
]


@case("The high byte of a hook is the group, which stands for the GUID of a class of kernel events; the low byte is the event type.",
      s.HOOK_ID, s.mof("nt-kernel-logger-constants"))
def kernel_groups():
    events = [wire.system(PAYLOAD, hook=hook, version=VERSION, stamp=stamp(1 + index)) for index, (_, hook, _, _) in enumerate(GROUPS)]
    return trace(*events), [dict(provider=provider, opcode=opcode) for _, _, provider, opcode in GROUPS]
