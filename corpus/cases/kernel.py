"""Payloads of kernel events, by Microsoft's pages of their classes."""

import struct

import sources as s
import wire
from trace import add, at, stamp, trace

SID = struct.pack("<BB6sI", 1, 1, b"\0\0\0\0\0\5", 18)


def kernel(name, rule, hook, version, payload, fields, *source, kind=2, short=False, log=None):
    if short:
        record = wire.perfinfo(payload, hook=hook, version=version, kind=0x11 if kind == 2 else 0x10, stamp=stamp(1))
    else:
        record = wire.system(payload, hook=hook, version=version, kind=kind, stamp=stamp(1))
    expected = dict(time=at(1), opcode=hook & 0xFF, version=version, payload=payload.hex(), fields=fields)
    add(f"kernel-{name}", rule, list(source), trace(record, **(log or {})), [expected])


USER = struct.pack("<QQ", 0xFFFFB00012345678, 0) + SID
PROCESS = "A process started. The SID follows a TOKEN_USER, two pointers; the name is single-byte text, the command line UTF-16."
kernel("process-start-64", PROCESS, 0x0301, 4,
       struct.pack("<QIIIiQI", 0xFFFFC00011112222, 4321, 800, 1, 259, 0x1234000, 0) + USER + b"notepad.exe\0" + wire.wide("notepad a.txt\0")
       + wire.wide("\0") + wire.wide("\0"),
       {"UniqueProcessKey": "0xffffc00011112222", "ProcessId": 4321, "ParentId": 800, "SessionId": 1, "ExitStatus": 259,
        "DirectoryTableBase": "0x1234000", "Flags": 0, "UserSID": "S-1-5-18", "ImageFileName": "notepad.exe", "CommandLine": "notepad a.txt",
        "PackageFullName": "", "ApplicationId": ""}, s.mof("process-v4-typegroup1"), s.mof("process-typegroup1"))
kernel("process-start-32", PROCESS + " Pointers have four bytes on a 32-bit system.", 0x0301, 3,
       struct.pack("<IIIIiI", 0x81112222, 4321, 800, 1, 0, 0x1234000) + struct.pack("<II", 0x81234567, 0) + SID + b"notepad.exe\0"
       + wire.wide("notepad\0"),
       {"UniqueProcessKey": "0x81112222", "ProcessId": 4321, "ParentId": 800, "SessionId": 1, "ExitStatus": 0, "DirectoryTableBase": "0x1234000",
        "UserSID": "S-1-5-18", "ImageFileName": "notepad.exe", "CommandLine": "notepad"}, s.mof("process-typegroup1"), kind=1,
       log=dict(pointer_size=4))
kernel("process-without-sid", "Four zero bytes in place of the TOKEN_USER: the process has no SID.", 0x0303, 3,
       struct.pack("<QIIIiQ", 0xFFFFC00011112222, 4, 0, 0, 0, 0x1AD000) + bytes(4) + b"System\0" + wire.wide("\0"),
       {"UniqueProcessKey": "0xffffc00011112222", "ProcessId": 4, "ParentId": 0, "SessionId": 0, "ExitStatus": 0, "DirectoryTableBase": "0x1ad000",
        "UserSID": "", "ImageFileName": "System", "CommandLine": ""}, s.mof("process-typegroup1"))
kernel("context-switch", "A context switch: the new thread first, then the old one.", 0x0524, 2,
       struct.pack("<IIbbBbbbbBII", 1000, 2000, 8, 9, 0, 0, 6, 0, 2, 1, 33, 0),
       {"NewThreadId": 1000, "OldThreadId": 2000, "NewThreadPriority": 8, "OldThreadPriority": 9, "NewThreadWaitTime": 33}, s.mof("cswitch"),
       short=True)
kernel("sampled-profile", "A sample of the profile: instruction pointer, thread and count.", 0x0F2E, 2,
       struct.pack("<QIHH", 0xFFFFF80012345678, 5678, 1, 0), {"InstructionPointer": "0xfffff80012345678", "ThreadId": 5678, "Count": 1},
       s.mof("sampledprofile"), short=True)
kernel("sampled-profile-32", "A sample on a 32-bit system: the instruction pointer has four bytes.", 0x0F2E, 2,
       struct.pack("<IIHH", 0x80123456, 5678, 1, 0), {"InstructionPointer": "0x80123456", "ThreadId": 5678, "Count": 1}, s.mof("sampledprofile"),
       short=True, kind=1, log=dict(pointer_size=4))
kernel("image-load", "An image was loaded, hook 0x030A: base, size and process; the name is UTF-16.", 0x030A, 2,
       struct.pack("<QQIIIIQIIII", 0x7FF600000000, 0x20000, 4321, 0x1234, 0x5F000000, 0, 0x140000000, 0, 0, 0, 0)
       + wire.wide("\\Windows\\notepad.exe\0"),
       {"ImageBase": "0x7ff600000000", "ImageSize": "0x20000", "ProcessId": 4321, "FileName": "\\Windows\\notepad.exe"}, s.mof("image-load"), s.HOOK_ID)
kernel("stack-walk", "A call stack: the stamp of its event, process, thread, and addresses up to the end of the payload.", 0x1820, 2,
       struct.pack("<QIIQQQ", wire.START + 1, 4321, 5678, 0xFFFFF80011111111, 0x7FFA22222222, 0x7FF633333333),
       {"StackProcess": 4321, "StackThread": 5678}, s.mof("stackwalk-event"))
kernel("tcp-send", "A send over TCP and IPv4: addresses are in order, ports in network byte order.", 0x060A, 2,
       struct.pack("<II", 4321, 100) + bytes([192, 0, 2, 1]) + bytes([198, 51, 100, 2]) + struct.pack(">HH", 443, 50000)
       + struct.pack("<IIIQ", 1, 2, 0, 0),
       {"PID": 4321, "size": 100, "daddr": "192.0.2.1", "saddr": "198.51.100.2", "dport": 443, "sport": 50000}, s.mof("tcpip-sendipv4"))
kernel("tcp-send-ipv6", "A send over TCP and IPv6: addresses have 16 bytes.", 0x061A, 2,
       struct.pack("<II", 4321, 100) + bytes.fromhex("20010db8000000000000000000000001") + bytes.fromhex("20010db8000000000000000000000002")
       + struct.pack(">HH", 443, 50000) + struct.pack("<IIIQ", 1, 2, 0, 0),
       {"PID": 4321, "size": 100, "daddr": "2001:db8::1", "saddr": "2001:db8::2", "dport": 443, "sport": 50000}, s.mof("tcpip-sendipv6"))
kernel("disk-read", "A read from a disk: offset and size; the response time is in ticks.", 0x010A, 3,
       struct.pack("<IIIIqQQQI", 0, 0x43, 4096, 0, 1_048_576, 0xFFFFC00000001000, 0xFFFFC00000002000, 500, 5678),
       {"DiskNumber": 0, "TransferSize": 4096, "ByteOffset": 1_048_576, "IssuingThreadId": 5678}, s.mof("diskio-typegroup1"))
kernel("file-name", "The name of a file object.", 0x0400, 2, struct.pack("<Q", 0xFFFFC00000001000) + wire.wide("\\Device\\a.txt\0"),
       {"FileObject": "0xffffc00000001000", "FileName": "\\Device\\a.txt"}, s.mof("fileio-name"))
kernel("thread-start", "A thread started: process before thread, as in the page of its class.", 0x0501, 3,
       struct.pack("<IIQQQQQQQIBBBB", 4321, 5678, 1, 2, 3, 4, 0, 0x7FF600001000, 0, 0, 8, 5, 2, 0),
       {"ProcessId": 4321, "TThreadId": 5678, "Win32StartAddr": "0x7ff600001000", "BasePriority": 8}, s.mof("thread-typegroup1"))
