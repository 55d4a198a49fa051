//! The fast copy loop, for all of a stream except its ends and rare items, in copies of whole steps. Bytes written beyond the end
//! of a copy are overwritten by the next item.

use super::SHORTEST;
use super::state::{PRESENT, State, flags};

/// Size of a step, in bytes.
const STEP: usize = 16;

/// Size of two steps, the unit of long copies.
const PAIR: usize = 2 * STEP;

/// Bytes of the stream that must remain before each item: 32 literals, and the longest item handled here, or flags.
const INPUT: usize = PAIR + 8;

/// Bytes of the output that must remain before each item: 32 literals, and two steps of a match.
const OUTPUT: usize = 2 * PAIR;

/// Decodes items as long as they are of the frequent kinds and far from both ends, and stops before the first other item. Reports
/// no errors: it also stops before an invalid item.
#[allow(unsafe_code)]
pub(super) fn decode(input: &[u8], output: &mut [u8], state: &mut State) {
    let (Some(last_input), Some(last_output)) = (input.len().checked_sub(INPUT), output.len().checked_sub(OUTPUT)) else {
        return;
    };
    let room = output.len();
    let (from, to) = (input.as_ptr(), output.as_mut_ptr());
    let State { mut read, mut written, mut flags, mut half } = *state;
    while read <= last_input && written <= last_output {
        let literals = flags.trailing_zeros() as usize;
        if literals > PAIR {
            break;
        }
        // SAFETY: `read` + INPUT and `written` + OUTPUT are within their slices, and INPUT and OUTPUT are at least two steps.
        unsafe {
            step(from.add(read), to.add(written));
            if literals > STEP {
                step(from.add(read + STEP), to.add(written + STEP));
            }
        }
        // `literals` is at most two steps: 8 bytes of the stream and two steps of the output remain.
        read += literals;
        written += literals;
        flags >>= literals;
        // SAFETY: 8 bytes remain.
        let word = unsafe { load(from.add(read)) };
        if flags == 1 {
            flags = self::flags(word as u32);
            read += 4;
            continue;
        }
        let distance = usize::from(word as u16 >> 3) + 1;
        if distance > written {
            break;
        }
        let mut length = word as usize & 7;
        if length < 7 {
            length += SHORTEST;
            // SAFETY: `distance` bytes are before `written`, and two steps are left after it. One step is written, or by a repetition
            // up to 7 bytes beyond `length`, which is at most 9.
            unsafe {
                match distance < length {
                    true => repeat(to.add(written), distance, length),
                    false => step(to.add(written - distance), to.add(written)),
                }
            }
            (read, written, flags) = (read + 2, written + length, flags >> 1);
            continue;
        }
        // The presence of a half byte is unpredictable, so this is compiled without a branch.
        let fresh = half == 0;
        let next = (word >> 16) as u8;
        let (nibble, left) = if fresh { (next & 15, PRESENT | next >> 4) } else { (half & 15, 0) };
        let taken = 2 + usize::from(fresh);
        length += usize::from(nibble) + SHORTEST;
        if nibble < 15 {
            // SAFETY: `distance` bytes are before `written`, and two steps are left after it. Two steps are written, or by a repetition
            // up to 7 bytes beyond `length`, which is at most 24.
            unsafe {
                match distance < length.min(STEP) {
                    true => repeat(to.add(written), distance, length),
                    false => {
                        step(to.add(written - distance), to.add(written));
                        step(to.add(written - distance + STEP), to.add(written + STEP));
                    }
                }
            }
            (read, written, flags, half) = (read + taken, written + length, flags >> 1, left);
            continue;
        }
        let byte = (word >> (8 * taken)) as u8;
        length += usize::from(byte);
        if byte == 255 || length + PAIR > room - written {
            break;
        }
        // SAFETY: `distance` bytes are before `written`, and `length` plus two steps are left after it. The copy writes whole pairs
        // of steps, and the last pair begins within `length`. A repetition writes up to 7 bytes beyond `length`.
        unsafe {
            if distance < STEP {
                repeat(to.add(written), distance, length);
            } else {
                let mut at = written;
                while at < written + length {
                    step(to.add(at - distance), to.add(at));
                    step(to.add(at - distance + STEP), to.add(at + STEP));
                    at += PAIR;
                }
            }
        }
        (read, written, flags, half) = (read + taken + 1, written + length, flags >> 1, left);
    }
    *state = State { read, written, flags, half };
}

/// Copies a step.
///
/// # Safety
///
/// A step can be read at `from`, and written at `to`. They may overlap: the step is read first.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn step(from: *const u8, to: *mut u8) {
    // SAFETY: As above; arrays of bytes have no alignment and no invalid values.
    unsafe { to.cast::<[u8; STEP]>().write(from.cast::<[u8; STEP]>().read()) }
}

/// Reads eight bytes.
///
/// # Safety
///
/// 8 bytes are readable at `from`.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load(from: *const u8) -> u64 {
    // SAFETY: As above; arrays of bytes have no alignment and no invalid values.
    u64::from_le_bytes(unsafe { from.cast::<[u8; 8]>().read() })
}

/// Writes `length` bytes, each equal to the one `distance` before it, and up to 7 further bytes.
///
/// # Safety
///
/// `distance` is from 1 to 15. `distance` bytes before `to` can be read. `length` + 8 bytes from `to` on can be read and written.
#[cold]
#[inline(never)]
#[allow(unsafe_code)]
unsafe fn repeat(to: *mut u8, distance: usize, length: usize) {
    // Each written word contains whole periods. A period of 8 bytes or more is read again for each word.
    let ahead = if distance < 8 { 8 / distance * distance } else { 8 };
    let mut at = 0;
    while at < length {
        // SAFETY: `at` is less than `length`, so 8 bytes from `at` on can be written, and 8 bytes from `at` - `distance` on can be read.
        unsafe {
            let word = match distance < 8 {
                true => period(load(to.sub(distance)), distance),
                false => load(to.add(at).sub(distance)),
            };
            to.add(at).cast::<[u8; 8]>().write(word.to_le_bytes());
        }
        at += ahead;
    }
}

/// The first `distance` bytes of a word, repeated. `distance` is less than 8.
fn period(word: u64, distance: usize) -> u64 {
    let mut bits = 8 * distance;
    let mut word = word & ((1 << bits) - 1);
    while bits < 64 {
        word |= word << bits;
        bits *= 2;
    }
    word
}
