//! Layouts of your own, from a macro: generated from specs, or written by hand and checked.
//!
//! [`layouts!`] does what a build script does with `etw-layouts-codegen`, without the build script. [`layout`](macro@layout) holds a
//! structure that is written by hand against its stated size, alignment and offsets. What both expand to needs the crate
//! `etw-layouts-runtime`.

#![forbid(unsafe_code)]

mod generate;
mod stand_in;
mod stated;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Generates the types of specs: of files and folders, named from the folder of `Cargo.toml`, or of a text in place.
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
/// With the specs in files it is `layouts!("specs", structures = ["DEVICE_HEADER"], targets = ["2004-x64"])`; there may be several
/// paths. Without `structures` or `targets`, all of them are generated; an empty list is an error. Specs without a version axis get that of Windows, and all
/// get those scalars of the Windows SDK, and those types of Windows that members embed, which they do not define themselves: `LIST_ENTRY` and
/// `UNICODE_STRING` need no spec.
///
/// It expands to the modules `axis`, `constants`, `layouts`, `members`, `structures` and `targets`, which stand in a module, not in a
/// function; one module can hold one call. A spec that changed recompiles the crate; one that is added to a folder does when anything else of the crate does.
///
/// # Errors
///
/// Whatever is wrong in the specs is a compile error that shows the place in the spec: a specs file, or the lines of the text.
#[proc_macro]
pub fn layouts(input: TokenStream) -> TokenStream {
    parse_macro_input!(input as generate::Input).expand().into()
}

/// Checks a `#[repr(C)]` structure or union that is written by hand: its size, its alignment, and the offset of each member.
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
/// The members of a structure state their offsets, all of them; those of a union may. `packed` and `align(N)` are fine beside `C`.
/// Hosts differ: on 32-bit Linux `u64` is aligned to 4, and pointers and `usize` have the size of the host's. With padding written
/// out, `align(N)`, and `Ptr32` or `Ptr64` for pointers the numbers hold on every host.
///
/// # Errors
///
/// A number that is not so is a compile error at that number, and says what is so. Refused are a representation without `C`, a type
/// with parameters, which has more layouts than one, and what is no structure or union.
#[proc_macro_attribute]
pub fn layout(stated: TokenStream, item: TokenStream) -> TokenStream {
    stated::check(stated.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
