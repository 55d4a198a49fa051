//! The macros `layouts!` and `#[layout]`.

// Functions of a macro crate can be called only by the compiler, so its files are modules here too.
#[path = "../../../macros/src/generate.rs"]
mod generate;
#[path = "../../../macros/src/runtime.rs"]
mod runtime;
#[path = "../../../macros/src/stand_in.rs"]
mod stand_in;
#[path = "../../../macros/src/stated.rs"]
mod stated;

use super::spec::BASE;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// Prefix of inputs for the arguments of `#[layout(…)]`.
const ATTRIBUTE: &str = "#[layout(";

/// For any input, a macro returns items: types or compile errors. `#[layout]` keeps the item unchanged.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match text.strip_prefix(ATTRIBUTE).and_then(|rest| rest.split_once(")]\n")) {
        Some((stated, item)) => attribute(stated, item),
        None => layouts(text),
    }
    proc_macro2::extra::invalidate_current_thread_spans();
}

fn layouts(text: &str) {
    let Ok(arguments) = text.parse::<TokenStream>() else { return };
    let has_path = names_path(&arguments);
    match syn::parse2::<generate::Input>(arguments) {
        Err(error) => items(error.into_compile_error()),
        // Only inputs with texts: files are not part of the input.
        Ok(input) if !has_path => items(input.expand()),
        Ok(_) => {}
    }
}

/// Whether the arguments contain a literal without a key, which is a path.
fn names_path(arguments: &TokenStream) -> bool {
    let mut value = false;
    arguments.clone().into_iter().any(|token| {
        let path = matches!(token, TokenTree::Literal(_) | TokenTree::Group(_)) && !value;
        value = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '=');
        path
    })
}

fn attribute(stated: &str, item: &str) {
    let (Ok(stated), Ok(item)) = (stated.parse(), item.parse::<TokenStream>()) else { return };
    match stated::check(stated, item.clone()) {
        Err(error) => items(error.into_compile_error()),
        Ok(expanded) => {
            let mut own: syn::DeriveInput = syn::parse2(item).expect("it was parsed before");
            stated::take_offsets(&mut own.data);
            let (own, expanded) = (own.into_token_stream().to_string(), expanded.to_string());
            assert!(expanded.starts_with(&own), "{own}\nbecame\n{expanded}");
            items(expanded.parse().expect("tokens as they are printed"));
        }
    }
}

fn items(tokens: TokenStream) {
    if let Err(error) = syn::parse2::<syn::File>(tokens.clone()) {
        panic!("the output of the macro is not valid Rust: {error}\n{tokens}");
    }
}

/// Valid calls, and calls with one error each.
pub fn seeds() -> Vec<Vec<u8>> {
    let base = BASE.map(|(_, text)| format!("spec = r##\"{text}\"##,\n")).concat();
    let driver = include_str!("../../../tests/macro/specs/DRIVER_EXTENSION.toml");
    let small =
        "[struct]\nname = \"S\"\n[[member]]\nname = \"a\"\ntype = \"ULONG\"\n[[member]]\nname = \"b\"\ntype = \"S * [3]\"\n";
    let spec = |text: &str| format!("spec = r#\"{text}\"#");
    let calls = [
        format!("{base}{}, structures = [\"DRIVER_EXTENSION\"], targets = [\"7-x64\", \"8-x86\"]", spec(driver)),
        format!("{base}{}", spec(small)),
        format!("{base}{}, targets = [\"9-x64\"]", spec(small)),
        format!("{base}{}, structures = [\"T\"], structures = []", spec(small)),
        format!("{base}{}, {}", spec("[struct]\nname = \"S\"\nsize = 3"), spec("[enum]\nname = \"E\"\ntype = \"ULONG\"\nconstants = [{ name = \"A\", value = 1 }]")),
        "\"specs\", structures = [\"S\"], targets = [\"2004-x64\"]".into(),
        "spec = \"\", target = [1], \"\"".into(),
        "#[layout(size = 0x18, align = 8)]\n#[repr(C, align(8))]\nstruct S {\n    #[offset(0x00)]\n    #[cfg(windows)] a: u32,\n    #[offset(4)] b: [u8; 4],\n    #[offset(0x10)] pub next: *const Self,\n}".into(),
        "#[layout(align = 8, size = 8,)]\n#[repr(packed, C)] pub union U { a: u64, #[offset(0)] b: (u8, [Self; 0]) }".into(),
        "#[layout(size = 1)]\n#[repr(C)] struct S<T>(#[offset(0)] #[offset(1u8)] T);".into(),
        "#[layout(size = 4, align = 4)]\n#[repr(C)] enum E { A = 1, B { #[offset(0)] a: u8 } }".into(),
    ];
    calls.into_iter().map(String::into_bytes).collect()
}
