//! Layouts as data, for tools that learn the Windows build only at run time.

use core::fmt;

/// A generated type, described.
pub trait Described: bytemuck::Pod {
    /// Its layout.
    const LAYOUT: &'static Layout;
}

/// A generated enumeration or set of values, described.
pub trait Named: bytemuck::Pod {
    /// Its values.
    const VALUES: &'static Values;
}

/// A structure or union in all its layouts.
#[derive(Debug)]
pub struct Structure {
    /// Microsoft's name.
    pub name: &'static str,
    /// The version axis.
    pub axis: &'static Axis,
    /// The distinct layouts, and which targets have each.
    pub entries: &'static [Entry],
}

/// A layout and the targets that have it.
#[derive(Debug)]
pub struct Entry {
    /// The layout.
    pub layout: &'static Layout,
    /// Indices into [`Axis::targets`], ascending.
    pub targets: &'static [u16],
    /// Those of them for which symbol data confirms the layout.
    pub verified: &'static [u16],
}

/// One layout of a structure.
#[derive(Debug)]
pub struct Layout {
    /// Microsoft's name of the structure.
    pub name: &'static str,
    /// Bytes, tail padding included.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// The members in the order of the declaration, those of unnamed structures and unions among them.
    pub members: &'static [Member],
    /// The members of the structure in all its layouts.
    pub of: &'static Members,
    /// For each of those, its place in [`members`](Self::members), counted from 1; 0 if this layout does not have it.
    pub places: &'static [u16],
}

/// The members that a structure has in any layout: what its tokens stand for.
#[derive(Debug)]
pub struct Members {
    /// Their names.
    pub names: &'static [&'static str],
}

/// Those of a type behind no name: it has no tokens.
pub static UNNAMED: Members = Members { names: &[] };

/// A member of a layout.
#[derive(Debug)]
pub struct Member {
    /// Microsoft's name, or ours where none is known.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: usize,
    /// Bytes; those of the whole unit for a bit field.
    pub size: usize,
    /// Lowest bit within the unit, and number of bits, of a bit field.
    pub bits: Option<(u32, u32)>,
    /// The type as C spells it.
    pub c: &'static str,
    /// What the bytes mean.
    pub ty: Type,
}

/// What the bytes of a member mean.
#[derive(Debug)]
pub enum Type {
    /// An integer without sign.
    Unsigned,
    /// An integer with sign.
    Signed,
    /// An address.
    Pointer,
    /// One of named values, or a set of named bits.
    Values(&'static Values),
    /// A structure of its own.
    Layout(&'static Layout),
    /// Elements of a type and a size in bytes.
    Array(&'static Type, usize),
}

/// Named values.
#[derive(Debug)]
pub struct Values {
    /// Microsoft's name of the enumeration, or ours of a set of macros.
    pub name: &'static str,
    /// Whether they are bits that combine.
    pub flags: bool,
    /// Whether the type that holds them is signed.
    pub signed: bool,
    /// Names and values.
    pub constants: &'static [(&'static str, i64)],
}

/// The version axis.
#[derive(Debug)]
pub struct Axis {
    /// The kernels, oldest first.
    pub kernels: &'static [Kernel],
    /// Index of a kernel, and an architecture, by kernel, then architecture.
    pub targets: &'static [(u16, Arch)],
}

/// A kernel: a build and the first revision at which its layouts were seen.
#[derive(Debug)]
pub struct Kernel {
    /// Build and revision.
    pub build: Build,
    /// The release, such as `1709`.
    pub label: &'static str,
    /// Other builds that are this kernel, revision by revision.
    pub same: &'static [Build],
}

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 32-bit x86.
    X86,
    /// 64-bit x86.
    X64,
}

/// A build such as 10.0.19041.1415.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    /// Major version, minor version, build.
    pub number: [u32; 3],
    /// Revision; 0 for the first.
    pub revision: u32,
}

/// A layout chosen for a build.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The layout.
    pub layout: &'static Layout,
    /// The kernel whose layout it is: the build itself, or the nearest earlier one that is known.
    pub kernel: &'static Kernel,
    /// How sure it is for the build that was asked for.
    pub standing: Standing,
}

/// How sure a selected layout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Symbol data of this very kernel confirms it.
    Verified,
    /// The kernel is known, but no symbol data confirms this structure there.
    Unverified,
    /// The build lies between two known kernels; the layout is that of the older one.
    Between {
        /// The older one.
        older: Build,
        /// The newer one.
        newer: Build,
        /// Whether symbol data confirms both, and both have this layout.
        same: bool,
    },
    /// The build is newer than every known kernel; the layout is that of the newest.
    Newer,
}

impl Structure {
    /// The layout for a build; `None` if the build is older than every known kernel, or if its kernel lacks the structure.
    pub fn select(&self, build: Build, arch: Arch) -> Option<Selection> {
        let build = self.axis.canonical(build);
        let of = |test: &dyn Fn(Build) -> bool| {
            let targets = (0u16..).zip(self.axis.targets);
            let list = targets.filter(|(_, (kernel, a))| *a == arch && test(self.axis.kernels[usize::from(*kernel)].build));
            (list.clone().map(|(target, _)| target).next(), list.map(|(target, _)| target).last())
        };
        let older = of(&|known| known <= build).1?;
        let newer = of(&|known| known > build).0;
        let entry = self.entry(older)?;
        let exact = self.kernel(older).build == build;
        let standing = match newer {
            _ if exact && entry.verified.contains(&older) => Standing::Verified,
            _ if exact => Standing::Unverified,
            None => Standing::Newer,
            Some(newer) => {
                let next = self.entry(newer).filter(|next| core::ptr::eq(entry, *next));
                let same = next.is_some() && entry.verified.contains(&older) && entry.verified.contains(&newer);
                Standing::Between { older: self.kernel(older).build, newer: self.kernel(newer).build, same }
            }
        };
        Some(Selection { layout: entry.layout, kernel: self.kernel(older), standing })
    }

    fn entry(&self, target: u16) -> Option<&'static Entry> {
        self.entries.iter().find(|entry| entry.targets.contains(&target))
    }

    fn kernel(&self, target: u16) -> &'static Kernel {
        &self.axis.kernels[usize::from(self.axis.targets[usize::from(target)].0)]
    }
}

impl Axis {
    /// The build that another is the same kernel as; its revision stays.
    fn canonical(&self, build: Build) -> Build {
        let is = |same: &Build| same.number == build.number;
        match self.kernels.iter().find(|kernel| kernel.same.iter().any(is)) {
            Some(kernel) => Build { number: kernel.build.number, ..build },
            None => build,
        }
    }
}

impl Member {
    /// A member that is no bit field.
    pub const fn new(name: &'static str, offset: usize, size: usize, c: &'static str, ty: Type) -> Self {
        Self { name, offset, size, bits: None, c, ty }
    }

    /// A bit field.
    pub const fn bits(bits: (u32, u32), name: &'static str, offset: usize, size: usize, c: &'static str, ty: Type) -> Self {
        Self { name, offset, size, bits: Some(bits), c, ty }
    }
}

impl Layout {
    /// The member of that name, among those that are not members of named members.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

impl Build {
    /// A build and revision by their four numbers.
    pub const fn new(major: u32, minor: u32, build: u32, revision: u32) -> Self {
        Self { number: [major, minor, build], revision }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, build] = self.number;
        write!(f, "{major}.{minor}.{build}.{}", self.revision)
    }
}

impl fmt::Debug for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
