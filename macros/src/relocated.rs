//! The derive macro `Relocated`.

use super::runtime::runtime;
use super::stated::respanned;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Path, Token};

/// The implementations, and a check of each member.
pub fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let fields = fields(&item)?;
    let Structure { path, runtime } = structure(&item)?;
    let modules = modules(&path);
    let name = &item.ident;
    let structure = &path.segments.last().ok_or_else(|| Error::new(path.span(), MISSING))?.ident;
    let tokens = quote_spanned! { path.span() => #modules::members::#structure::Type };
    let known = quote_spanned! { path.span() => #modules::structures::#structure };
    let members = fields.into_iter().enumerate().map(Member::new).collect::<syn::Result<Vec<_>>>()?;
    if members.is_empty() {
        return Err(Error::new(name.span(), "no members; declare a field for each member that is read"));
    }
    let relocated = quote! { #runtime::relocated };
    let (places, found, patterns) = members.iter().rev().fold((quote!(()), quote!(()), quote!(())), |(all, found, names), it| {
        let Member { ty, member, place, .. } = it;
        (
            quote! { (<#ty as #relocated::Field>::Location, #all) },
            quote! { (members.member::<#ty>(NAME, #member)?, #found) },
            quote! { (#place, #names) },
        )
    });
    let reads = members.iter().map(|Member { field, member, place, .. }| {
        quote! { #field: from.member(NAME, #member, #place)? }
    });
    let checks = members.iter().map(|Member { ty, member, span, .. }| {
        // Only a call at the member shows its place in the error.
        let call = respanned(quote! { #relocated::declared::<Of, #ty>(KNOWN, #member) }, *span);
        quote_spanned! { *span => const _: () = #call; }
    });
    Ok(quote! {
        const _: () = {
            // Named once, so that a misspelt structure is one error.
            type Of = #tokens;
            const KNOWN: &#runtime::packed::Structure<'static, Of> = &#known;
            const NAME: &str = <Of as #runtime::token::Tokens>::NAME;
            #(#checks)*

            #[automatically_derived]
            impl #relocated::Relocated for #name {
                type Structure = Of;
                type Members = #places;

                fn resolve(
                    members: &mut #relocated::Resolver<'_, '_>,
                ) -> ::core::result::Result<Self::Members, #relocated::PlanError> {
                    ::core::result::Result::Ok(#found)
                }

                #[inline]
                fn read_members<M: #relocated::Memory + ?::core::marker::Sized>(
                    members: &Self::Members,
                    from: #relocated::Source<'_, M>,
                ) -> ::core::result::Result<Self, #relocated::ReadError<M::Error>> {
                    let #patterns = members;
                    ::core::result::Result::Ok(Self { #(#reads),* })
                }
            }

            #[automatically_derived]
            impl #relocated::Field for #name {
                type Location = (u32, <Self as #relocated::Relocated>::Members);
                const WANTED: #runtime::packed::Wanted = #runtime::packed::Wanted::Structure(NAME);

                fn place<'a>(
                    found: #relocated::Found<'a>,
                    embedded: &mut dyn ::core::ops::FnMut(#runtime::packed::Layout<'a>),
                ) -> ::core::result::Result<Self::Location, #relocated::PlanError> {
                    #relocated::embedded::<Self>(found, embedded)
                }

                #[inline]
                fn read<M: #relocated::Memory + ?::core::marker::Sized>(
                    place: &Self::Location,
                    from: &#relocated::Source<'_, M>,
                ) -> ::core::result::Result<Self, #relocated::ReadError<M::Error>> {
                    #relocated::read_embedded::<Self, M>(place, from)
                }
            }
        };
    })
}

const MISSING: &str =
    "missing structure; name it: `#[relocated(WMI_LOGGER_CONTEXT)]`, or `#[relocated(module::NAME)]` for layouts of your own";

/// The arguments of the attribute of the type.
struct Structure {
    path: Path,
    runtime: TokenStream,
}

impl Parse for Structure {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let path: Path = input.call(Path::parse_mod_style).map_err(|error| Error::new(error.span(), MISSING))?;
        let mut new = Self { runtime: default_runtime(&path), path };
        if input.is_empty() {
            return Ok(new);
        }
        input.parse::<Token![,]>()?;
        let key = input.call(Ident::parse_any)?;
        if key != "crate" {
            return Err(Error::new(key.span(), format!("unknown argument `{key}`; expected `crate = path`")));
        }
        input.parse::<Token![=]>()?;
        let path = runtime(input)?;
        new.runtime = quote! { #path };
        Ok(new)
    }
}

/// The runtime crate: of the crate `etw-layouts` for its structures, of the crate itself for layouts of users.
fn default_runtime(path: &Path) -> TokenStream {
    if path.get_ident().is_some() {
        quote! { ::etw_layouts::runtime }
    } else {
        quote! { ::etw_layouts_runtime }
    }
}

/// The module with the modules `members` and `structures`.
fn modules(path: &Path) -> TokenStream {
    if path.get_ident().is_some() {
        return quote! { ::etw_layouts };
    }
    let (start, names) = (&path.leading_colon, path.segments.iter());
    let names = names.take(path.segments.len().saturating_sub(1)).map(|segment| &segment.ident);
    quote! { #start #(#names)::* }
}

fn structure(item: &DeriveInput) -> syn::Result<Structure> {
    let mut attributes = relocated(&item.attrs);
    let attribute = attributes.next().ok_or_else(|| Error::new(item.ident.span(), MISSING))?;
    match attributes.next() {
        Some(second) => Err(Error::new(second.span(), "second structure; a type has one")),
        None => attribute.parse_args(),
    }
}

fn fields(item: &DeriveInput) -> syn::Result<Vec<&Field>> {
    if !item.generics.params.is_empty() {
        return Err(Error::new(item.generics.span(), "generic parameters; a declaration has none"));
    }
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(fields.named.iter().collect()),
            _ => Err(Error::new(
                item.ident.span(),
                "fields without names; name them as the members, or with `#[relocated(\"NAME\")]`",
            )),
        },
        _ => Err(Error::new(item.ident.span(), "not a structure; a declaration is a structure with a field for each member")),
    }
}

struct Member<'a> {
    field: &'a Ident,
    ty: &'a syn::Type,
    /// Name of the member, or names with points between.
    member: String,
    /// Name of its place in generated code.
    place: Ident,
    /// Where the name is.
    span: Span,
}

impl<'a> Member<'a> {
    fn new((index, field): (usize, &'a Field)) -> syn::Result<Self> {
        let name = field.ident.as_ref().ok_or_else(|| Error::new(field.span(), "field without a name"))?;
        let mut new = Self {
            field: name,
            ty: &field.ty,
            member: name.unraw().to_string(),
            place: format_ident!("place{index}"),
            span: name.span(),
        };
        for attribute in relocated(&field.attrs) {
            let literal: LitStr = attribute.parse_args()?;
            new.member = literal.value();
            new.span = literal.span();
        }
        match new.member.split('.').all(|name| !name.is_empty()) {
            true => Ok(new),
            false => Err(Error::new(new.span, "empty name; write `NAME`, or `NAME.NAME` for a member of a member")),
        }
    }
}

fn relocated(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("relocated"))
}
