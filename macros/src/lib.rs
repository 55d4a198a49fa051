//! Macros for layouts: types generated from specs, and checks of handwritten types.
//!
//! [`layouts!`] replaces a build script with `etw-layouts-codegen`. [`layout`](macro@layout) verifies a handwritten structure
//! against its stated size, alignment and offsets. [`Relocated`](derive@Relocated) declares the members of a structure that a program reads.
//! The expanded code needs the crate `etw-layouts-runtime`. Without the default feature `specs`, [`layouts!`] and its dependencies are omitted.

#![forbid(unsafe_code)]

#[cfg(feature = "specs")]
mod generate;
mod relocated;
mod runtime;
#[cfg(feature = "specs")]
mod stand_in;
mod stated;

use proc_macro::TokenStream;

/// Generates types from specs: files and folders relative to the folder of `Cargo.toml`, or a text in place.
///
/// ```
/// mod device {
///     etw_layouts_macros::layouts! {
///         spec = r#"
///             [struct]
///             name = "DEVICE_HEADER"
///             size = { x86 = 0x10, x64 = 0x18 }
///             members = [
///               { name = "Magic", type = "ULONG" },
///               { name = "Next",  type = "DEVICE_HEADER *" },
///               { name = "Time",  type = "ULONGLONG" },
///             ]
///         "#,
///         targets = ["2004-x64", "2004-x86"],
///     }
/// }
/// use device::targets::win10_2004::x64::DEVICE_HEADER;
///
/// assert_eq!(std::mem::offset_of!(DEVICE_HEADER, Time), 0x10);
/// ```
///
/// With specs in files: `layouts!("specs", structures = ["DEVICE_HEADER"], targets = ["2004-x64"])`; several paths are possible.
/// `table = "layouts.bin"` names a file that `etw export layouts` wrote from the same specs and from facts: layouts that are selected at run time
/// then have its evidence and confidence. Without it no build counts as examined.
/// `crate = path` is the path of the crate `etw-layouts-runtime` if it has another name, or if another crate re-exports it.
/// Without `structures` or `targets`, all are generated; an empty list is an error. Specs without a version axis use that of
/// Windows. Scalars of the Windows SDK and embedded Windows types that the specs do not define are added: `LIST_ENTRY` and
/// `UNICODE_STRING` need no spec. A structure without `size` and a pointer to a misspelt type are warnings.
///
/// Expands to the modules `constants`, `members`, `structures` and `targets`, which must be in a module, not
/// in a function; a module can contain one call. A changed spec or table recompiles the crate; a spec added to a folder is used when the
/// crate is recompiled for another reason.
///
/// # Errors
///
/// Errors in specs are compile errors that show the position in the spec: the file, or the lines of the text. A table with other layouts than the
/// specs is an error at its name.
#[cfg(feature = "specs")]
#[proc_macro]
pub fn layouts(input: TokenStream) -> TokenStream {
    syn::parse_macro_input!(input as generate::Input).expand().into()
}

/// Checks a handwritten `#[repr(C)]` structure or union: its size, its alignment, and the offset of each member.
///
/// ```
/// use etw_layouts_macros::layout;
/// use etw_layouts_runtime::Ptr64;
///
/// #[layout(size = 0x18, align = 8)]
/// #[repr(C, align(8))]
/// struct DeviceHeader {
///     #[offset(0x00)]
///     magic: u32,
///     #[offset(0x04)]
///     padding: [u8; 4],
///     #[offset(0x08)]
///     next: Ptr64,
///     #[offset(0x10)]
///     time: u64,
/// }
/// ```
///
/// All members of a structure must state their offsets; those of a union may. `packed` and `align(N)` are allowed in addition to
/// `C`. Hosts differ: on 32-bit Linux `u64` is aligned to 4, and pointers and `usize` have the size of the host. With explicit
/// padding, `align(N)`, and `Ptr32` or `Ptr64` for pointers, the numbers are valid on every host. `crate = path` after the alignment
/// is the path of the crate `etw-layouts-runtime`, as in [`layouts!`].
///
/// # Errors
///
/// A wrong number is a compile error at that number, with the correct value. Rejected are a representation without `C`, a type
/// with generic parameters, which has several layouts, and items other than structures and unions.
#[proc_macro_attribute]
pub fn layout(stated: TokenStream, item: TokenStream) -> TokenStream {
    stated::check(stated.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares the members of a structure that a program reads: one field for each.
///
/// ```
/// mod device {
///     etw_layouts_macros::layouts! {
///         spec = r#"
///             [struct]
///             name = "REQUEST"
///             members = [
///               { name = "Size", type = "ULONG", in = "6.1.." },
///               { name = "Id",   type = "ULONG" },
///               { name = "Next", type = "REQUEST *" },
///             ]
///         "#,
///     }
/// }
/// use etw_layouts_macros::Relocated;
/// use etw_layouts_runtime::relocated::{MemorySlice, Pointer, Relocated};
/// use etw_layouts_runtime::Arch;
///
/// #[derive(Relocated)]
/// #[relocated(device::REQUEST)]
/// struct Request {
///     #[relocated("Id")]
///     id: u32,
///     #[relocated("Size")]
///     size: Option<u32>,
///     #[relocated("Next")]
///     next: Pointer<Request>,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = Request::plan(&device::structures::LAYOUTS, "6.0.6002".parse()?, Arch::X86)?;
/// let memory = MemorySlice { address: 0x8000_0000, bytes: &[77, 0, 0, 0, 0, 0, 0, 0] };
/// let request = plan.read(&memory, 0x8000_0000)?;
/// assert_eq!((request.id, request.size), (77, None));
/// assert!(request.next.follow(&plan, &memory)?.is_none());
/// # Ok(())
/// # }
/// ```
///
/// `#[relocated(NAME)]` names a structure of `etw-layouts`, `#[relocated(module::NAME)]` one of the module with a call of `layouts!`.
/// `crate = path` after it is the path of the crate `etw-layouts-runtime`, as in `layouts!`; otherwise it is `etw_layouts::runtime` or
/// `etw_layouts_runtime`. A field has the name of its member, or states it: `#[relocated("NAME")]`. `"A.B"` is the member `B` of the
/// structure `A`, or the bit field `B` in the value `A`. The module `relocated` of the runtime crate lists the types of fields.
///
/// # Errors
///
/// A member that no build has, or that has another type in every build, is a compile error at its name, with a suggestion. What one
/// build lacks is an error of `plan`.
#[proc_macro_derive(Relocated, attributes(relocated))]
pub fn relocated(item: TokenStream) -> TokenStream {
    relocated::derive(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
