"""Extended items between an EVENT_HEADER and its payload: size, type, a bit that another follows, size of the data, and data."""

import struct

import sources as s
import wire
from trace import add, at, case, stamp, trace

PAYLOAD = b"\x09\x08\x07"
SID = struct.pack("<BB6sI", 1, 1, b"\0\0\0\0\0\5", 18)

TYPES = [
    ("related-activity", 1, wire.guid(wire.OTHER_GUID), "RELATED_ACTIVITYID: a GUID.", s.RELATED, dict(related=wire.OTHER_GUID)),
    ("sid", 2, SID, "SID: a security identifier.", s.SID, {}),
    ("session", 3, struct.pack("<I", 2), "TS_ID: a terminal session, 32 bits.", s.TS_ID, {}),
    ("instance", 4, struct.pack("<II16s", 5, 6, wire.guid(wire.OTHER_GUID)),
     "INSTANCE_INFO: the instance, its parent instance and the GUID of its parent.", s.INSTANCE_INFO, {}),
    ("stack32", 5, struct.pack("<QIII", 0, 0x77001000, 0x77002000, 0x00401000),
     "STACK_TRACE32: a 64-bit number that links parts of a stack, and 32-bit addresses.", s.STACK_TRACE32, {}),
    ("stack64", 6, struct.pack("<QQQ", 42, 0x7FFA00001000, 0xFFFFF80012345678),
     "STACK_TRACE64: a 64-bit number that links parts of a stack, and 64-bit addresses.", s.STACK_TRACE64, {}),
    ("pebs", 7, struct.pack("<Q", 11), "PEBS_INDEX: 64 bits.", s.EXTENDED_ITEM, {}),
    ("counters", 8, struct.pack("<QQ", 100, 200), "PMC_COUNTERS: 64-bit counters.", s.EXTENDED_ITEM, {}),
    ("package", 9, wire.wide("App_1.0\0"), "PSM_KEY: the name of a package, UTF-16.", s.EXTENDED_ITEM, {}),
    ("event-key", 10, struct.pack("<Q", 0xDEADBEEF), "EVENT_KEY: 64 bits.", s.EXTENDED_ITEM, {}),
    ("process-start-key", 13, struct.pack("<Q", 0x0001000000000123), "PROCESS_START_KEY: 64 bits.", s.EXTENDED_ITEM, {}),
    ("control", 14, wire.guid(wire.OTHER_GUID), "CONTROL_GUID: a GUID.", s.EXTENDED_ITEM, {}),
    ("qpc-delta", 15, struct.pack("<Q", 77), "QPC_DELTA: 64 bits.", s.EXTENDED_ITEM, {}),
    ("container", 16, wire.guid(wire.OTHER_GUID), "CONTAINER_ID: a GUID.", s.EXTENDED_ITEM, {}),
    ("stack-key32", 17, struct.pack("<QQ", 1, 0x80001234), "STACK_KEY32: a number that links parts of a stack, and the key of a stack.",
     s.EXTENDED_ITEM, {}),
    ("stack-key64", 18, struct.pack("<QQ", 1, 0xFFFF9000ABCD), "STACK_KEY64: a number that links parts of a stack, and the key of a stack.",
     s.EXTENDED_ITEM, {}),
]

for name, kind, data, rule, source, more in TYPES:
    event = wire.event(PAYLOAD, items=[(kind, data)], stamp=stamp(1))
    # Events of pointers with four bytes have parts of stacks of 32-bit programs; the header type is that of the provider.
    add(f"items-{name}", rule, [source], trace(event),
        [dict(time=at(1), payload="090807", items=[dict(type=kind, data=data.hex())], **more)])


@case("Each item is padded to a multiple of eight bytes; the payload follows the last.", s.EXTENDED_ITEM, s.MEASURED)
def padding():
    items = [(3, struct.pack("<I", 2)), (2, SID), (9, wire.wide("A\0"))]
    expected = [dict(type=kind, data=data.hex()) for kind, data in items]
    return trace(wire.event(PAYLOAD, items=items, stamp=stamp(1))), [dict(time=at(1), payload="090807", items=expected)]


@case("Bit 0 of Linkage (at 4) states that another item follows.", s.EXTENDED_ITEM)
def two():
    items = [(1, wire.guid(wire.OTHER_GUID)), (13, struct.pack("<Q", 5))]
    event = wire.event(PAYLOAD, items=items, stamp=stamp(1))
    return trace(event), [dict(time=at(1), payload="090807", related=wire.OTHER_GUID,
                               items=[dict(type=kind, data=data.hex()) for kind, data in items])]


@case("Without the flag EXTENDED_INFO, there are no items, also if the payload looks like one.", s.EVENT_HEADER)
def absent():
    looks = wire.chain([(1, wire.guid(wire.OTHER_GUID))])
    event = wire.event(looks + PAYLOAD, stamp=stamp(1))
    return trace(event), [dict(time=at(1), payload=(looks + PAYLOAD).hex(), items=[], related=None)]


@case("An event can have items and no payload.", s.EXTENDED_ITEM)
def no_payload():
    event = wire.event(items=[(10, struct.pack("<Q", 1))], stamp=stamp(1))
    return trace(event), [dict(time=at(1), payload="", items=[dict(type=10, data="0100000000000000")])]


@case("An item of a type that a reader does not know is an item: its size is stated.", s.EXTENDED_ITEM)
def unknown_type():
    event = wire.event(PAYLOAD, items=[(99, b"12345"), (10, struct.pack("<Q", 1))], stamp=stamp(1))
    items = [dict(type=99, data=b"12345".hex()), dict(type=10, data="0100000000000000")]
    return trace(event), [dict(time=at(1), payload="090807", items=items)]


@case("An item can have no data.", s.EXTENDED_ITEM)
def no_data():
    event = wire.event(PAYLOAD, items=[(99, b"")], stamp=stamp(1))
    return trace(event), [dict(time=at(1), payload="090807", items=[dict(type=99, data="")])]


@case("The padding of an item is not zero: it is stale memory.", s.MEASURED)
def stale_padding():
    item = struct.pack("<HHHH", 16, 3, 0, 4) + struct.pack("<I", 2) + b"\xEE" * 4
    event = wire.event(item + PAYLOAD, flags=0x41, stamp=stamp(1))
    return trace(event), [dict(time=at(1), payload="090807", items=[dict(type=3, data="02000000")])]


@case("192 frames of a stack, the most that Windows writes.", s.STACK_TRACE64)
def deep_stack():
    data = struct.pack("<Q192Q", 0, *range(0x7FF600001000, 0x7FF600001000 + 192 * 16, 16))
    event = wire.event(PAYLOAD, items=[(6, data)], stamp=stamp(1))
    return trace(event, size=4096), [dict(time=at(1), payload="090807", items=[dict(type=6, data=data.hex())])]


@case("The items of an EVENT_HEADER of 32-bit data have the same form.", s.EXTENDED_ITEM)
def in_32_bit_event():
    data = struct.pack("<QII", 0, 0x77001000, 0x00401000)
    event = wire.event(PAYLOAD, kind=0x12, items=[(5, data)], stamp=stamp(1))
    return trace(event, pointer_size=4), [dict(time=at(1), payload="090807", items=[dict(type=5, data=data.hex())])]
