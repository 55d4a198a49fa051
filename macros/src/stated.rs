//! `#[layout]`.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Ident, LitInt, Meta, Token};

/// The item as it is written, and constants whose evaluation fails where a number is wrong.
pub fn check(stated: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item: DeriveInput = syn::parse2(item)?;
    let extent = (|input: ParseStream| Extent::parse(input)).parse2(stated)?;
    refuse(&item)?;
    let name = item.ident.clone();
    let mut checks = vec![
        constant(extent.size.span(), {
            let size = &extent.size;
            quote! { size(stringify!(#name), ::core::mem::size_of::<#name>(), #size) }
        }),
        constant(extent.align.span(), {
            let align = &extent.align;
            quote! { align(stringify!(#name), ::core::mem::align_of::<#name>(), #align) }
        }),
    ];
    let (fields, must) = match &mut item.data {
        Data::Struct(data) => (data.fields.iter_mut().collect(), true),
        Data::Union(data) => (data.fields.named.iter_mut().collect::<Vec<_>>(), false),
        Data::Enum(data) => return Err(Error::new(data.enum_token.span, "only structures and unions have members at offsets")),
    };
    let mut errors: Option<Error> = None;
    let mut before: Option<TokenStream> = None;
    for (index, field) in fields.into_iter().enumerate() {
        let member = field.ident.as_ref().map_or_else(|| syn::Index::from(index).into_token_stream(), |n| n.into_token_stream());
        match offset(field, must) {
            Err(error) => match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            },
            Ok(None) => {}
            Ok(Some(offset)) => {
                let end = before.take().unwrap_or(quote!(None));
                let call = quote! {
                    offset(stringify!(#name), stringify!(#member), ::core::mem::offset_of!(#name, #member), #offset, #end)
                };
                checks.push(constant(offset.span(), call));
                let ty = without_self(field.ty.to_token_stream(), &name);
                before = must.then(|| quote! { Some((stringify!(#member), #offset + ::core::mem::size_of::<#ty>())) });
            }
        }
    }
    match errors {
        Some(errors) => Err(errors),
        None => Ok(quote! { #item #(#checks)* }),
    }
}

/// What the attribute states.
struct Extent {
    size: LitInt,
    align: LitInt,
}

impl Extent {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let (mut size, mut align) = (None, None);
        let whole = input.span();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let slot = match key.to_string().as_str() {
                "size" => &mut size,
                "align" => &mut align,
                other => return Err(Error::new(key.span(), format!("`{other}` is no argument; there are `size` and `align`"))),
            };
            input.parse::<Token![=]>()?;
            *slot = Some(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        match (size, align) {
            (Some(size), Some(align)) => Ok(Self { size, align }),
            _ => Err(Error::new(whole, "state both: `#[layout(size = 0x18, align = 8)]`")),
        }
    }
}

/// Refuses what has no one layout, or none that is defined.
fn refuse(item: &DeriveInput) -> syn::Result<()> {
    if let Some(parameter) = item.generics.params.iter().find(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_))) {
        let message = "a type with parameters has no one layout; check a type that has none";
        return Err(Error::new(parameter.span(), message));
    }
    if !item.attrs.iter().any(is_repr_c) {
        let message = "Rust moves the members of this type as it likes; write `#[repr(C)]` below `#[layout(…)]`";
        return Err(Error::new(item.ident.span(), message));
    }
    Ok(())
}

fn is_repr_c(attribute: &Attribute) -> bool {
    let list = |attribute: &Attribute| attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    attribute.path().is_ident("repr") && list(attribute).is_ok_and(|list| list.iter().any(|meta| meta.path().is_ident("C")))
}

/// Takes the offset off a member.
fn offset(field: &mut Field, must: bool) -> syn::Result<Option<LitInt>> {
    let at = field.attrs.iter().position(|attribute| attribute.path().is_ident("offset"));
    match at.map(|at| field.attrs.remove(at)) {
        Some(attribute) => Ok(Some(attribute.parse_args()?)),
        None if must => {
            let span = field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span);
            Err(Error::new(span, "state where the member is: `#[offset(0x08)]`"))
        }
        None => Ok(None),
    }
}

/// A constant of its own for each check, so that all failures are shown; the compiler points at `span`.
fn constant(span: Span, call: TokenStream) -> TokenStream {
    let call = respanned(call, span);
    quote_spanned! { span => const _: () = ::etw_layouts_runtime::stated::#call; }
}

/// The tokens as if they stood at `span`; what they name stays what it is.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), respanned(group.stream(), span)).into();
        }
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(at).collect()
}

/// The type of a member as it is called outside the item.
fn without_self(tokens: TokenStream, name: &Ident) -> TokenStream {
    let token = |token| match token {
        TokenTree::Group(group) => Group::new(group.delimiter(), without_self(group.stream(), name)).into(),
        TokenTree::Ident(ident) if ident == "Self" => name.clone().into(),
        token => token,
    };
    tokens.into_iter().map(token).collect()
}
