//! The argument `crate = path` of both macros.

use syn::parse::ParseStream;
use syn::{Error, LitStr, Path};

/// The path of the runtime crate.
pub fn runtime(input: ParseStream) -> syn::Result<Path> {
    if let Ok(literal) = input.fork().parse::<LitStr>() {
        return Err(Error::new(
            literal.span(),
            format!("expected a path; write it without quotes: `crate = {}`", literal.value()),
        ));
    }
    input.call(Path::parse_mod_style)
}
