//! The attribute `#[layout]`.

use super::runtime::runtime;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Ident, LitInt, Meta, Path, Token};

/// The unchanged item, and constants. Their evaluation fails if a number is wrong.
pub fn check(stated: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item: DeriveInput = syn::parse2(item)?;
    let offsets = take_offsets(&mut item.data);
    // Errors are emitted in addition to the item, so that the item stays defined for other code.
    let checks = checks(stated, &item, &offsets).unwrap_or_else(Error::into_compile_error);
    Ok(quote! { #item #checks })
}

fn checks(stated: TokenStream, item: &DeriveInput, offsets: &[Vec<Attribute>]) -> syn::Result<TokenStream> {
    let Extent { size, align, runtime } = (|input: ParseStream| Extent::parse(input)).parse2(stated)?;
    refuse(item)?;
    let (name, when) = (&item.ident, conditions(&item.attrs));
    let constant = |span, when: &_, call| constant(&runtime, span, when, call);
    let mut checks = vec![
        constant(size.span(), &when, quote! { size(::core::stringify!(#name), ::core::mem::size_of::<#name>(), #size) }),
        constant(align.span(), &when, quote! { align(::core::stringify!(#name), ::core::mem::align_of::<#name>(), #align) }),
    ];
    let (fields, is_struct) = match &item.data {
        Data::Struct(data) => (data.fields.iter().collect(), true),
        Data::Union(data) => (data.fields.named.iter().collect::<Vec<_>>(), false),
        Data::Enum(data) => {
            return Err(Error::new(data.enum_token.span, "enumeration has no member offsets; use a structure or union"));
        }
    };
    let mut errors = Vec::new();
    let nothing = quote! { ::core::option::Option::None };
    let mut before = nothing.clone();
    for (index, (field, attributes)) in fields.into_iter().zip(offsets).enumerate() {
        let offset = match offset(field, attributes, is_struct) {
            Ok(Some(offset)) => offset,
            Ok(None) => continue,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let member = field.ident.as_ref().map_or_else(|| syn::Index::from(index).into_token_stream(), Ident::to_token_stream);
        let text = quote! { ::core::stringify!(#member) };
        let call = quote! {
            offset(::core::stringify!(#name), #text, ::core::mem::offset_of!(#name, #member), #offset, #before)
        };
        let own = conditions(&field.attrs);
        checks.push(constant(offset.span(), &quote!(#when #own), call));
        let ty = without_self(field.ty.to_token_stream(), name);
        before = match is_struct && own.is_empty() {
            true => quote! { ::core::option::Option::Some((#text, #offset + ::core::mem::size_of::<#ty>())) },
            false => nothing.clone(),
        };
    }
    let all = errors.into_iter().reduce(|mut all: Error, error| {
        all.combine(error);
        all
    });
    all.map_or_else(|| Ok(quote! { #(#checks)* }), Err)
}

/// Advice on finding the numbers: a macro cannot compute them, but the check reports the correct value.
const ANY: &str = "N is a number of bytes; for a wrong one, the next error states the correct value";

/// Arguments of the attribute.
struct Extent {
    size: LitInt,
    align: LitInt,
    /// The path of the runtime crate.
    runtime: TokenStream,
}

impl Extent {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let (mut size, mut align, mut path) = (None, None, None);
        let whole = input.span();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            let is_duplicate = match key.to_string().as_str() {
                "size" => size.replace(number(input)?).is_some(),
                "align" => align.replace(number(input)?).is_some(),
                "crate" => path.replace(runtime(input)?).is_some(),
                other => {
                    let message = format!("unknown argument `{other}`; expected `size`, `align` or `crate`");
                    return Err(Error::new(key.span(), message));
                }
            };
            if is_duplicate {
                return Err(Error::new(key.span(), format!("duplicate `{key}`; keep one")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = match (size, align) {
            (Some(size), Some(align)) => {
                let runtime = path.map_or_else(|| quote! { ::etw_layouts_runtime }, Path::into_token_stream);
                return Ok(Self { size, align, runtime });
            }
            (Some(size), None) => format!("missing alignment; write `#[layout(size = {size}, align = N)]`; {ANY}"),
            (None, Some(align)) => format!("missing size; write `#[layout(size = N, align = {align})]`; {ANY}"),
            (None, None) => format!("missing size and alignment; write `#[layout(size = N, align = N)]`; {ANY}"),
        };
        Err(Error::new(whole, missing))
    }
}

/// Rejects types without a single, defined layout.
fn refuse(item: &DeriveInput) -> syn::Result<()> {
    if let Some(parameter) = item.generics.params.first() {
        let message = "type with generic parameters has several layouts; check a type without parameters";
        return Err(Error::new(parameter.span(), message));
    }
    if !item.attrs.iter().any(is_repr_c) {
        let message = "undefined layout: Rust may reorder the members; write `#[repr(C)]` below `#[layout(…)]`";
        return Err(Error::new(item.ident.span(), message));
    }
    Ok(())
}

fn is_repr_c(attribute: &Attribute) -> bool {
    let list = |attribute: &Attribute| attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    attribute.path().is_ident("repr") && list(attribute).is_ok_and(|list| list.iter().any(|meta| meta.path().is_ident("C")))
}

/// Removes the offset attributes, which the compiler does not know.
pub fn take_offsets(data: &mut Data) -> Vec<Vec<Attribute>> {
    let fields: Vec<&mut Field> = match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Union(data) => data.fields.named.iter_mut().collect(),
        Data::Enum(_) => Vec::new(),
    };
    let take = |field: &mut Field| field.attrs.extract_if(.., |attribute| attribute.path().is_ident("offset")).collect();
    fields.into_iter().map(take).collect()
}

/// The stated offset of a member.
fn offset(field: &Field, attributes: &[Attribute], must: bool) -> syn::Result<Option<LitInt>> {
    match attributes {
        [attribute] => attribute.parse_args_with(number).map(Some),
        [_, second, ..] => Err(Error::new(second.span(), "duplicate offset; keep one")),
        [] if must => {
            let span = field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span);
            let name = field.ident.as_ref().map_or_else(|| "this member".to_owned(), |name| format!("`{name}`"));
            Err(Error::new(span, format!("missing offset of {name}; write `#[offset(N)]` above it; {ANY}")))
        }
        [] => Ok(None),
    }
}

/// Parses a number of bytes. Values beyond the type's range are rejected.
fn number(input: ParseStream) -> syn::Result<LitInt> {
    let refused = |span| Error::new(span, "invalid number of bytes; write only digits, decimal or after `0x`, below 4 GiB");
    let number: LitInt = input.parse().map_err(|error| refused(error.span()))?;
    match number.suffix().is_empty() && number.base10_parse::<u32>().is_ok() {
        true => Ok(number),
        false => Err(refused(number.span())),
    }
}

/// A separate constant for each check, so that all failures are reported, at `span`.
fn constant(runtime: &TokenStream, span: Span, when: &TokenStream, call: TokenStream) -> TokenStream {
    let call = respanned(quote! { #runtime::check::#call }, span);
    quote_spanned! { span => #when const _: () = #call; }
}

/// The `cfg` attributes of an item or a member.
fn conditions(attributes: &[Attribute]) -> TokenStream {
    let list = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! { #(#list)* }
}

/// The tokens with another span, resolving names as before.
pub fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), respanned(group.stream(), span)).into();
        }
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(at).collect()
}

/// The type of a member without `Self`, for use outside the item.
fn without_self(tokens: TokenStream, name: &Ident) -> TokenStream {
    let token = |token| match token {
        TokenTree::Group(group) => Group::new(group.delimiter(), without_self(group.stream(), name)).into(),
        TokenTree::Ident(ident) if ident == "Self" => name.clone().into(),
        token => token,
    };
    tokens.into_iter().map(token).collect()
}
