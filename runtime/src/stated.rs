//! What `#[layout]` checks while the compiler evaluates constants: each failure says what is stated and what is so.

/// The size of a type.
#[track_caller]
pub const fn size(name: &str, actual: usize, stated: usize) {
    if actual != stated {
        Message::of(&["`", name, "` has "]).number(actual).text(" bytes on this host, not ").number(stated).fail(SIZE);
    }
}

/// The alignment of a type.
#[track_caller]
pub const fn align(name: &str, actual: usize, stated: usize) {
    if actual != stated {
        Message::of(&["`", name, "` is aligned to "]).number(actual).text(" on this host, not to ").number(stated).fail(ALIGN);
    }
}

/// The offset of a member, and the member before it with its end by the stated numbers.
#[track_caller]
pub const fn offset(name: &str, member: &str, actual: usize, stated: usize, before: Option<(&str, usize)>) {
    if let Some((before, end)) = before
        && stated < end
    {
        let message = Message::of(&["`", name, ".", member, "` at "]).number(stated);
        message.text(" overlaps `").text(before).text("`, which ends at ").number(end).fail(UNION);
    }
    if actual != stated {
        Message::of(&["`", name, ".", member, "` is at "])
            .number(actual)
            .text(" on this host, not at ")
            .number(stated)
            .fail(MEMBERS);
    }
}

const SIZE: &str = ": mend the number, or the members: padding is `[u8; N]`, an address `Ptr32` or `Ptr64`";
const MEMBERS: &str = ": mend the number, or the members before it: padding is `[u8; N]`, an address `Ptr32` or `Ptr64`";
const ALIGN: &str = ": mend the number, or state it for every host with `#[repr(C, align(N))]`, or `packed(N)`";
const UNION: &str = ": mend the numbers, or make a union of the two";

/// A text that grows in a constant; what does not fit is left out.
struct Message {
    text: [u8; 512],
    length: usize,
}

impl Message {
    const fn of(parts: &[&str]) -> Self {
        let mut new = Self { text: [0; 512], length: 0 };
        let mut i = 0;
        while i < parts.len() {
            new = new.text(parts[i]);
            i += 1;
        }
        new
    }

    const fn text(mut self, part: &str) -> Self {
        let part = part.as_bytes();
        let mut i = 0;
        while i < part.len() && self.length < self.text.len() {
            self.text[self.length] = part[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    const fn number(self, number: usize) -> Self {
        let mut digits = [0; 16];
        let mut start = digits.len();
        let mut rest = number;
        while rest != 0 || start == digits.len() {
            start -= 1;
            digits[start] = b"0123456789abcdef"[rest % 16];
            rest /= 16;
        }
        match core::str::from_utf8(digits.split_at(start).1) {
            Ok(digits) => self.text("0x").text(digits),
            Err(_) => self,
        }
    }

    #[track_caller]
    const fn fail(self, remedy: &str) -> ! {
        let message = self.text(remedy);
        match core::str::from_utf8(message.text.split_at(message.length).0) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("a layout is not as stated"),
        }
    }
}
