//! The output, of which every byte may be copied again.

/// The output: what is written, and room after it.
pub(super) struct Window<'a> {
    bytes: &'a mut [u8],
    written: usize,
}

/// Where the output is too short.
pub(super) enum Short {
    /// At its front: a copy from before the first byte.
    Before,
    /// At its end.
    After,
}

/// Bytes that one step of a copy moves. Copies are of whole steps while there is room, and what is too much is overwritten by
/// what follows.
const STEP: usize = 16;

impl<'a> Window<'a> {
    pub(super) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, written: 0 }
    }

    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Appends the first `count` bytes of two steps; false if there is no room for both steps.
    #[inline(always)]
    pub(super) fn append_some(&mut self, from: &[u8; 2 * STEP], count: usize) -> bool {
        let Some(room) = self.bytes[self.written..].first_chunk_mut::<{ 2 * STEP }>() else { return false };
        room[..STEP].copy_from_slice(&from[..STEP]);
        if count > STEP {
            room[STEP..].copy_from_slice(&from[STEP..]);
        }
        self.written += count;
        true
    }

    /// Appends bytes.
    #[inline(always)]
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Short> {
        let room = self.bytes[self.written..].get_mut(..bytes.len()).ok_or(Short::After)?;
        room.copy_from_slice(bytes);
        self.written += bytes.len();
        Ok(())
    }

    /// Appends `length` bytes, each the one `distance` before it.
    #[inline(always)]
    pub(super) fn repeat(&mut self, distance: usize, length: usize) -> Result<(), Short> {
        let mut from = self.written.checked_sub(distance).ok_or(Short::Before)?;
        let mut at = self.written;
        let beyond = (self.bytes.len() - at).checked_sub(length).ok_or(Short::After)?;
        self.written += length;
        if beyond < STEP {
            self.repeat_bytes(from, at);
            return Ok(());
        }
        if distance < STEP {
            for i in 0..STEP {
                self.bytes[at + i] = self.bytes[from + i];
            }
            at += STEP;
            // From here on whole steps may be copied: from a whole number of distances back.
            from = at - WHOLE[distance];
        }
        while at < self.written {
            self.bytes.copy_within(from..from + STEP, at);
            at += STEP;
            from += STEP;
        }
        Ok(())
    }

    fn repeat_bytes(&mut self, from: usize, at: usize) {
        for i in 0..self.written - at {
            self.bytes[at + i] = self.bytes[from + i];
        }
    }
}

/// For a distance below a step: the least multiple of it that is no less than a step.
const WHOLE: [usize; STEP] = {
    let mut whole = [0; STEP];
    let mut distance = 1;
    while distance < STEP {
        whole[distance] = STEP.div_ceil(distance) * distance;
        distance += 1;
    }
    whole
};
