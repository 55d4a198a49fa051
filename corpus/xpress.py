"""Plain LZ77 (XPRESS) streams from stated tokens: bytes are literals, and (length, distance) is a match. [MS-XCA] 2.3 and 2.4."""

import struct


def stream(tokens, flush=True):
    """The stream of the tokens. With `flush`, a last match flag ends the stream, as Windows writes it."""
    out, flags, count, nibble_at = bytearray(4), 0, 0, None
    place = 0

    def flag(bit):
        nonlocal flags, count, place
        flags = flags << 1 | bit
        count += 1
        if count == 32:
            out[place:place + 4] = struct.pack("<I", flags)
            flags = count = 0
            place = len(out)
            out.extend(bytes(4))

    for token in tokens:
        if isinstance(token, bytes):
            for byte in token:
                out.append(byte)
                flag(0)
            continue
        length, distance = token
        rest = length - 3
        out += struct.pack("<H", (distance - 1) << 3 | min(rest, 7))
        if rest >= 7:
            rest -= 7
            if nibble_at is None:
                nibble_at = len(out)
                out.append(min(rest, 15))
            else:
                out[nibble_at] |= min(rest, 15) << 4
                nibble_at = None
            if rest >= 15:
                rest -= 15
                if rest < 255:
                    out.append(rest)
                else:
                    # The whole length without the smallest match, as 16 bits after a byte of ones.
                    out += struct.pack("<BH", 255, length - 3)
        flag(1)
    if flush or count:
        # Unused flags are ones.
        flags = flags << (32 - count) | ((1 << (32 - count)) - 1)
        out[place:place + 4] = struct.pack("<I", flags)
    else:
        del out[place:]
    return bytes(out)


def expand(tokens):
    """The bytes that the tokens stand for, to check the cases."""
    out = bytearray()
    for token in tokens:
        if isinstance(token, bytes):
            out += token
        else:
            length, distance = token
            for _ in range(length):
                out.append(out[-distance])
    return bytes(out)
