//! Layout specs of your own as Rust types, from a macro.
//!
//! The same as a build script with `etw-layouts-codegen`, without the build script.

#![forbid(unsafe_code)]

use etw_layouts_codegen::Builder;
use proc_macro::TokenStream;
use std::env;
use std::path::PathBuf;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, bracketed, parse_macro_input};

/// Generates the types of a spec file or folder, named from the folder of `Cargo.toml`.
///
/// ```ignore
/// mod my { etw_layouts_macros::layouts!("specs", structures = ["MY_HEADER"], targets = ["1709-x64"]); }
/// use my::targets::win10_1709::x64::MY_HEADER;
/// ```
///
/// It expands to the modules `axis`, `constants`, `layouts`, `structures` and `targets`; the crate needs `etw-layouts-runtime`.
/// Without `structures` or `targets`, all of them are generated. A changed spec recompiles the crate. Whatever is wrong in the
/// specs is a compile error that shows the place in the spec.
#[proc_macro]
pub fn layouts(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as Input);
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut builder = Builder::new(root.join(input.path.value()));
    for name in &input.structures {
        builder = builder.structure(name.value());
    }
    for name in &input.targets {
        builder = builder.target(name.value());
    }
    let generated = builder.generate().map_err(|error| error.to_string()).and_then(|mut text| {
        // The compiler watches what is included.
        for file in builder.files().unwrap_or_default() {
            text.push_str(&format!("const _: &[u8] = include_bytes!({:?});\n", file.display().to_string()));
        }
        text.parse::<TokenStream>().map_err(|error| error.to_string())
    });
    generated.unwrap_or_else(|message| syn::Error::new(input.path.span(), message).to_compile_error().into())
}

struct Input {
    path: LitStr,
    structures: Vec<LitStr>,
    targets: Vec<LitStr>,
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut new = Self { path: input.parse()?, structures: Vec::new(), targets: Vec::new() };
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let list;
            bracketed!(list in input);
            let names = Punctuated::<LitStr, Token![,]>::parse_terminated_with(&list, |list| list.parse())?.into_iter().collect();
            match key.to_string().as_str() {
                "structures" => new.structures = names,
                "targets" => new.targets = names,
                _ => return Err(syn::Error::new(key.span(), "write `structures = […]` or `targets = […]`")),
            }
        }
        Ok(new)
    }
}
