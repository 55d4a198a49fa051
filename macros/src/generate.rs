//! The macro `layouts!`.

use super::runtime::runtime;
use super::stand_in;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::{BuildError, Builder, Generated, nearest};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use std::env;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Path, Token, bracketed};

const KEYS: [&str; 5] = ["crate", "spec", "structures", "table", "targets"];

/// The name of the runtime crate in the expansion, if the caller states its path.
const RUNTIME: &str = "__etw_layouts_runtime";

/// Arguments of the macro.
#[derive(Default)]
pub struct Input {
    runtime: Option<Path>,
    specs: Vec<Specs>,
    structures: Vec<LitStr>,
    targets: Vec<LitStr>,
    table: Option<LitStr>,
}

enum Specs {
    Path(LitStr),
    Text(LitStr),
}

impl Input {
    /// The generated modules, or compile errors at their causes.
    pub fn expand(&self) -> TokenStream {
        let builder = self.builder();
        let result = builder.generate().map_err(|error| self.errors(&error));
        let modules = result.and_then(|generated| self.modules(&builder, generated));
        modules.unwrap_or_else(|error| match builder.spec().or_else(|_| self.wanted()) {
            Ok(spec) => stand_in::modules(error, &spec),
            Err(_) => error.into_compile_error(),
        })
    }

    /// Placeholder for specs that cannot be read: the requested names, and Windows' targets.
    fn wanted(&self) -> std::io::Result<Spec> {
        let mut spec = Builder::default().spec()?;
        spec.broken.extend(self.structures.iter().map(LitStr::value));
        Ok(spec)
    }

    fn builder(&self) -> Builder {
        let mut builder = Builder::default().root(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
        for specs in &self.specs {
            builder = match specs {
                Specs::Path(path) => builder.specs(path.value()),
                Specs::Text(text) => {
                    let span = text.span();
                    // Blank lines before the text make line numbers in errors match the source file.
                    let above = "\n".repeat(span.start().line.saturating_sub(1));
                    builder.text(span.file(), above + &text.value())
                }
            };
        }
        if self.runtime.is_some() {
            builder = builder.runtime(format!("super::{RUNTIME}"));
        }
        if let Some(table) = &self.table {
            builder = builder.table(table.value());
        }
        builder = self.structures.iter().fold(builder, |builder, name| builder.structure(name.value()));
        self.targets.iter().fold(builder, |builder, name| builder.target(name.value()))
    }

    fn modules(&self, builder: &Builder, generated: Generated) -> syn::Result<TokenStream> {
        let call = || self.specs[0].literal().span();
        let modules: TokenStream = generated.text.parse().map_err(|error| Error::new(call(), error))?;
        let files = builder.files().map_err(|error| Error::new(call(), error))?;
        let files = files.iter().map(|path| path.display().to_string());
        let notes = generated.notes.iter().map(|note| {
            let span = self.named(&note.name).span();
            let message = &note.message;
            // A deprecation is the only warning that a macro can emit.
            quote_spanned! { span => const _: () = { #[deprecated(note = #message)] const NOTE: () = (); NOTE }; }
        });
        // The modules need a name for the path: it can be relative to the place of the call.
        let name = format_ident!("{RUNTIME}");
        let runtime = self.runtime.iter().map(|path| quote! { #[allow(unused_imports)] use #path as #name; });
        // `include_bytes!` makes the compiler track the files.
        Ok(quote! { #(#runtime)* #modules #(const _: &[u8] = ::core::include_bytes!(#files);)* #(#notes)* })
    }

    fn errors(&self, error: &BuildError) -> Error {
        let specs = self.specs[0].literal();
        let list = match error {
            BuildError::Specs(errors) => errors.messages().iter().map(|message| Error::new(specs.span(), message)).collect(),
            BuildError::Unknown(notes) => {
                notes.iter().map(|note| Error::new(self.named(&note.name).span(), &note.message)).collect()
            }
            BuildError::Io(_) => {
                vec![Error::new(specs.span(), format!("{error}; paths are relative to the folder of Cargo.toml"))]
            }
            BuildError::Table(message) => vec![Error::new(self.table.as_ref().unwrap_or(specs).span(), message)],
            _ => Vec::new(),
        };
        let joined = list.into_iter().reduce(|mut all: Error, error| {
            all.combine(error);
            all
        });
        joined.unwrap_or_else(|| Error::new(specs.span(), error))
    }

    /// The literal with a requested structure or target.
    fn named(&self, name: &str) -> &LitStr {
        let mut wanted = self.structures.iter().chain(&self.targets);
        wanted.find(|literal| literal.value() == name).unwrap_or(self.specs[0].literal())
    }
}

impl Specs {
    fn literal(&self) -> &LitStr {
        let (Self::Path(literal) | Self::Text(literal)) = self;
        literal
    }
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut new = Self::default();
        while !input.is_empty() {
            if input.peek(LitStr) {
                let path: LitStr = input.parse()?;
                if path.value().is_empty() {
                    return Err(Error::new(path.span(), "empty path; give a spec file or folder"));
                }
                new.specs.push(Specs::Path(path));
            } else {
                new.argument(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        match new.specs.is_empty() {
            true => Err(input.error("expected a spec file or folder, or `spec = r#\"…\"#`")),
            false => Ok(new),
        }
    }
}

impl Input {
    fn argument(&mut self, input: ParseStream) -> syn::Result<()> {
        let there = "expected a path as a string literal, `spec = r#\"…\"#`, `structures = […]`, `targets = […]`, `table = \"…\"` or `crate = path`";
        let key = input.call(Ident::parse_any).map_err(|error| Error::new(error.span(), format!("invalid argument; {there}")))?;
        let name = key.to_string();
        if !KEYS.contains(&name.as_str()) {
            let near = nearest(&name, KEYS).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(Error::new(key.span(), format!("unknown argument `{name}`; {near}{there}")));
        }
        input.parse::<Token![=]>()?;
        match name.as_str() {
            "crate" => {
                self.runtime = Some(runtime(input)?);
                return Ok(());
            }
            "table" => {
                self.table = Some(input.parse()?);
                return Ok(());
            }
            "spec" => {
                self.specs.push(Specs::Text(input.parse()?));
                return Ok(());
            }
            _ => {}
        }
        let list;
        bracketed!(list in input);
        if list.is_empty() {
            return Err(Error::new(key.span(), format!("empty `{name}`; list some, or omit `{name}` for all")));
        }
        let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?;
        let wanted = if name == "structures" { &mut self.structures } else { &mut self.targets };
        wanted.extend(names);
        Ok(())
    }
}
