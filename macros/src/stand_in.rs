//! Placeholders for modules that could not be generated, so that only the error in the specs is reported.

use etw_layouts_codegen::spec::{Body, Spec};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::Error;

/// The errors, and placeholders for the modules that the specs would generate, with all their names.
///
/// The first error makes each name an erroneous type and value, about which the compiler reports nothing further: the type is an
/// associated type of a trait that a zero-length array does not implement.
pub fn modules(error: Error, spec: &Spec) -> TokenStream {
    let mut errors = error.into_iter().map(|error| (error.span(), error.to_string()));
    let (span, message) = errors.next().unwrap_or_else(|| (Span::call_site(), String::new()));
    let others = errors.map(|(span, message)| Error::new(span, message).into_compile_error());
    let first = quote_spanned! { span => const ERROR: usize = ::core::compile_error! { #message }; };
    let names = names(spec);
    let targets = spec.axis.revisions.iter().filter_map(|kernel| {
        let module: Ident = syn::parse_str(&kernel.module).ok()?;
        let within = kernel.architectures.iter().map(|arch| format_ident!("{arch}"));
        Some(quote! { pub mod #module { #(pub mod #within { pub use super::super::super::broken::*; })* } })
    });
    quote! {
        #[allow(non_camel_case_types, non_upper_case_globals, unused)]
        mod broken {
            #first
            #(#others)*
            pub trait Is { type Type; }
            pub type Broken = <[(); ERROR] as Is>::Type;
            #(pub type #names = Broken; pub const #names: Broken = [(); ERROR];)*
        }
        #[allow(unused)] pub mod constants { pub use super::broken::*; }
        #[allow(unused)] pub mod members { pub use super::broken::*; }
        #[allow(unused)] pub mod structures { pub use super::broken::*; }
        #[allow(unused)] pub mod targets { #(#targets)* }
    }
}

/// The names that the specs define, including those of incorrect definitions.
fn names(spec: &Spec) -> Vec<Ident> {
    let mut names: BTreeSet<&str> = spec.broken.iter().map(String::as_str).chain(["LAYOUTS"]).collect();
    for (name, definition) in &spec.definitions {
        names.insert(name);
        if let Body::Values(values) = &definition.body {
            names.extend(values.constants.iter().map(|constant| constant.name.value.as_str()));
        }
    }
    // Names of the module itself.
    names.retain(|name| !["Broken", "ERROR", "Is"].contains(name));
    names.into_iter().filter_map(|name| syn::parse_str(name).ok()).collect()
}
