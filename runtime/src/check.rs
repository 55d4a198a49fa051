//! What `layout!` checks while the compiler evaluates constants. Each failure names the type and the member.

/// A member: its name, its offset as the compiler has it and as stated, its size.
type Member = (&'static str, usize, usize, usize);

/// A structure has its stated size, alignment and offsets, and its members fill it.
pub const fn structure(name: &str, size: usize, stated_size: usize, align: usize, stated_align: usize, members: &[Member]) {
    extent(name, size, stated_size, align, stated_align);
    let mut end = 0;
    let mut i = 0;
    while i < members.len() {
        let (member, offset, stated, size) = members[i];
        if offset != stated || offset != end {
            panic!("{}", member);
        }
        end = offset + size;
        i += 1;
    }
    if end != size {
        panic!("bytes after the last member would be padding");
    }
}

/// A union has its stated size and alignment, and each branch fills it.
pub const fn union(name: &str, size: usize, stated_size: usize, align: usize, stated_align: usize, members: &[Member]) {
    extent(name, size, stated_size, align, stated_align);
    let mut i = 0;
    while i < members.len() {
        let (member, offset, stated, length) = members[i];
        if offset != stated || offset != 0 || length != size {
            panic!("{}", member);
        }
        i += 1;
    }
}

const fn extent(name: &str, size: usize, stated_size: usize, align: usize, stated_align: usize) {
    if size != stated_size || align != stated_align {
        panic!("{}", name);
    }
}

/// The size of plain old data; compiles for nothing else.
pub const fn size_of_plain<T: bytemuck::Pod>(_: &T) -> usize {
    size_of::<T>()
}
