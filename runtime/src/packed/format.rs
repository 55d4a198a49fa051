//! The format of a table of layouts: the header, and the records of each section.
//!
//! All numbers are little-endian, and nothing is aligned. A file begins with [`MAGIC`], [`VERSION`], its length in bytes, and for each
//! section the offset of its first byte; a last offset is the end of the last section, which is the length of the file. The sections
//! follow without gaps, in the order of [`Section`]. A section is an array of records of a fixed size. Records refer to each other by
//! index. A name is an index into the names, which are sorted, so that a text is found by binary search and then compared as a number.

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"ETWLAYT\x1a";
/// Version of the format. A reader refuses other versions.
pub const VERSION: u32 = 1;
/// Size of the header in bytes.
pub const HEADER: usize = OFFSETS + 4 * (Section::ALL.len() + 1);
/// Offset of the offsets of the sections.
pub const OFFSETS: usize = 16;
/// The index that means "none".
pub const NONE: u16 = u16::MAX;
/// Maximum number of builds of the version axis, which bounds the time of a selection.
pub const REVISIONS: usize = 512;
/// Maximum depth of structures in structures; a structure without nested ones has depth 0.
pub const DEPTH: u8 = 64;
/// Maximum number of dimensions of an array.
pub const DIMENSIONS: usize = 8;

/// A record of a fixed size.
pub trait Record: Copy {
    /// The section.
    const SECTION: Section;
    /// Size in bytes.
    const SIZE: usize;

    /// Reads a record from its bytes; `None` if there are fewer than [`Self::SIZE`].
    fn read(bytes: &[u8]) -> Option<Self>;

    /// Appends the bytes of a record.
    fn write(&self, out: &mut impl Extend<u8>);
}

macro_rules! records {
    ($( $(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ident,)* } )*) => {
        /// The sections, in the order of the file. Each has the records of the same name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Section { $($(#[$doc])* $name,)* }

        impl Section {
            /// All sections.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Size of a record in bytes.
            pub const fn size(self) -> usize {
                match self { $(Self::$name => <$name as Record>::SIZE,)* }
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }

            impl $name {
                /// The record with an index, in the bytes of its section, for constants.
                #[inline]
                pub(super) const fn nth(section: &[u8], index: usize) -> Option<Self> {
                    let Some((_, bytes)) = section.split_at_checked(index.saturating_mul(<Self as Record>::SIZE)) else {
                        return None;
                    };
                    let Some((rest, _)) = bytes.split_at_checked(<Self as Record>::SIZE) else { return None };
                    $(
                        let Some((field, rest)) = rest.split_first_chunk() else { return None };
                        let $field = $ty::from_le_bytes(*field);
                    )*
                    let _ = rest;
                    Some(Self { $($field),* })
                }
            }

            impl Record for $name {
                const SECTION: Section = Section::$name;
                const SIZE: usize = 0 $(+ size_of::<$ty>())*;

                #[inline]
                fn read(bytes: &[u8]) -> Option<Self> {
                    Self::nth(bytes, 0)
                }

                fn write(&self, out: &mut impl Extend<u8>) {
                    $(out.extend(self.$field.to_le_bytes());)*
                }
            }
        )*
    };
}

records! {
    /// A byte of the names, which follow each other without separators, in UTF-8.
    Text {
        /// The byte.
        byte: u8,
    }
    /// A name: a text that ends where the next one begins, or with the section. The names are sorted by their bytes; each is there once.
    Name {
        /// Index of its first byte in the text.
        start: u32,
    }
    /// The number of a build, without its revision. They are sorted.
    Number {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// Build.
        build: u32,
    }
    /// A build in a list of builds.
    Build {
        /// Index of its number.
        number: u16,
        /// The revision.
        revision: u32,
    }
    /// A build of the version axis. They are sorted by build.
    Revision {
        /// Index of its number.
        number: u16,
        /// The revision.
        revision: u32,
        /// Name of the release.
        label: u16,
        /// Its architectures, one bit each: 1 for x86, 2 for x64, 4 for ARM64.
        architectures: u8,
        /// Number of builds that are identical to it, each with its first revision.
        shared_count: u8,
        /// Index of the first of them in the lists of builds.
        shared: u32,
    }
    /// A named update, oldest first.
    Update {
        /// Its name.
        name: u16,
        /// The architectures that it changed, as in [`Revision`]; 0 for all.
        architectures: u8,
        /// Number of the first builds with the update, one of each branch.
        revision_count: u8,
        /// Number of builds that never got it.
        without_count: u8,
        /// Index of the first build with the update in the lists of builds. Builds that never got the update follow, with revision 0.
        revisions: u32,
    }
    /// A set of facts, for one or many builds.
    FactsFile {
        /// Name of the facts file.
        name: u16,
        /// 0 symbols, 1 converted symbols, 2 images.
        kind: u8,
    }
    /// An examined build. They are sorted by build, then by architecture.
    ExaminedBuild {
        /// Index of its number.
        number: u16,
        /// The revision.
        revision: u32,
        /// The architecture: 0 x86, 1 x64, 2 ARM64.
        arch: u8,
        /// Number of known addresses of global variables.
        global_count: u8,
        /// Index of the first address.
        globals: u32,
        /// Index of its facts.
        facts_file: u16,
        /// Index of its PDB, or [`NONE`].
        pdb: u16,
        /// Index of its image, or [`NONE`].
        image: u16,
    }
    /// The identity of a PDB. They are sorted by GUID, then by age.
    Pdb {
        /// The GUID as a number, its first digit the highest.
        guid: u128,
        /// The age.
        age: u32,
        /// Index of the examined build.
        seen: u16,
    }
    /// The identity of an image. They are sorted.
    Image {
        /// `TimeDateStamp` of its header.
        time_stamp: u32,
        /// `SizeOfImage` of its header, in bytes.
        size: u32,
        /// Index of the examined build.
        seen: u16,
    }
    /// The address of a global variable in an examined build.
    Global {
        /// Name of the variable.
        name: u16,
        /// Bytes from the image base.
        address: u32,
    }
    /// The name of a global variable that the specs define.
    Variable {
        /// The name.
        name: u16,
    }
    /// A structure or union. They are sorted by name.
    Structure {
        /// Its name.
        name: u16,
        /// Number of changes of its layout.
        change_count: u16,
        /// Index of the first change, which follows the last change of the structure before it.
        changes: u32,
    }
    /// Whether the facts files contain a structure, one bit each from the lowest; for each structure as many bytes as the facts files need.
    Holding {
        /// Eight facts files.
        bits: u8,
    }
    /// A change of the layout, up to the next change of the same architecture. Those of a structure are sorted by build, then by architecture.
    Change {
        /// Index of the first build of the version axis with the change.
        revision: u16,
        /// The architecture, as in [`ExaminedBuild`].
        arch: u8,
        /// Index of the layout; [`NONE`] if the structure does not exist.
        layout: u16,
    }
    /// A distinct layout.
    Layout {
        /// Name of the structure.
        name: u16,
        /// Alignment in bytes.
        align: u16,
        /// Size in bytes, tail padding included.
        size: u32,
        /// Number of members, including those of unnamed structures and unions.
        member_count: u16,
        /// Index of the first member, which follows the last member of the layout before it.
        members: u32,
        /// Depth of structures in it, at most [`DEPTH`]. It is greater than that of any member, so no structure contains itself.
        depth: u8,
    }
    /// A member of a layout, in order of declaration.
    Member {
        /// Index of its shape.
        shape: u16,
        /// Offset from the start of the structure, in bytes.
        offset: u32,
    }
    /// What members of different layouts have in common.
    Shape {
        /// Name of the member.
        name: u16,
        /// Type in C.
        c: u16,
        /// Index of the type of its bytes.
        ty: u16,
        /// For a bit field, the lowest bit within its unit.
        bit: u8,
        /// For a bit field, the number of bits; otherwise 0.
        bits: u8,
        /// Size in bytes; for a bit field that of its whole unit.
        size: u32,
    }
    /// The type of a member's bytes.
    Type {
        /// 0 unsigned integer, 1 signed integer, 2 address, 3 named values, 4 structure, 5 array.
        kind: u8,
        /// Index of the named values, of the layout, or of the element's type, which is less than the own index; otherwise 0.
        of: u16,
        /// Size of an array's element in bytes; otherwise 0.
        element: u32,
    }
    /// Named values.
    Values {
        /// Name of the enumeration or of the set of macros.
        name: u16,
        /// 1 if values are flags, plus 2 if the underlying type is signed.
        kind: u8,
        /// Number of constants.
        constant_count: u16,
        /// Index of the first constant.
        constants: u32,
    }
    /// A named value.
    Constant {
        /// The name.
        name: u16,
        /// The value.
        value: i64,
    }
}
