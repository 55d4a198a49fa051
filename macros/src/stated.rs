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
    let offsets = take_offsets(&mut item.data);
    // What is wrong is shown beside the item, so that nothing else misses it.
    let checks = checks(stated, &item, &offsets).unwrap_or_else(Error::into_compile_error);
    Ok(quote! { #item #checks })
}

fn checks(stated: TokenStream, item: &DeriveInput, offsets: &[Vec<Attribute>]) -> syn::Result<TokenStream> {
    let Extent { size, align } = (|input: ParseStream| Extent::parse(input)).parse2(stated)?;
    refuse(item)?;
    let (name, when) = (&item.ident, conditions(&item.attrs));
    let mut checks = vec![
        constant(size.span(), &when, quote! { size(::core::stringify!(#name), ::core::mem::size_of::<#name>(), #size) }),
        constant(align.span(), &when, quote! { align(::core::stringify!(#name), ::core::mem::align_of::<#name>(), #align) }),
    ];
    let (fields, is_struct) = match &item.data {
        Data::Struct(data) => (data.fields.iter().collect(), true),
        Data::Union(data) => (data.fields.named.iter().collect::<Vec<_>>(), false),
        Data::Enum(data) => return Err(Error::new(data.enum_token.span, "only structures and unions have members at offsets")),
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

/// How to come by a number: a macro cannot compute one, and the check of it says what is so.
const ANY: &str = "N is a number of bytes; of a wrong one, the next error says which is right";

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
            if slot.is_some() {
                return Err(Error::new(key.span(), format!("`{key}` is stated twice; keep one")));
            }
            input.parse::<Token![=]>()?;
            *slot = Some(number(input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let missing = match (size, align) {
            (Some(size), Some(align)) => return Ok(Self { size, align }),
            (Some(size), None) => format!("the alignment is not stated: write `#[layout(size = {size}, align = N)]`; {ANY}"),
            (None, Some(align)) => format!("the size is not stated: write `#[layout(size = N, align = {align})]`; {ANY}"),
            (None, None) => format!("neither size nor alignment is stated: write `#[layout(size = N, align = N)]`; {ANY}"),
        };
        Err(Error::new(whole, missing))
    }
}

/// Refuses what has no one layout, or none that is defined.
fn refuse(item: &DeriveInput) -> syn::Result<()> {
    if let Some(parameter) = item.generics.params.first() {
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

/// Takes the offsets off the members, which the compiler does not know.
pub fn take_offsets(data: &mut Data) -> Vec<Vec<Attribute>> {
    let fields: Vec<&mut Field> = match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Union(data) => data.fields.named.iter_mut().collect(),
        Data::Enum(_) => Vec::new(),
    };
    let take = |field: &mut Field| field.attrs.extract_if(.., |attribute| attribute.path().is_ident("offset")).collect();
    fields.into_iter().map(take).collect()
}

/// The offset of a member.
fn offset(field: &Field, attributes: &[Attribute], must: bool) -> syn::Result<Option<LitInt>> {
    match attributes {
        [attribute] => attribute.parse_args_with(number).map(Some),
        [_, second, ..] => Err(Error::new(second.span(), "the offset is stated twice; keep one")),
        [] if must => {
            let span = field.ident.as_ref().map_or_else(|| field.ty.span(), Ident::span);
            let name = field.ident.as_ref().map_or_else(|| "this member".to_owned(), |name| format!("`{name}`"));
            Err(Error::new(span, format!("the offset of {name} is not stated: write `#[offset(N)]` above it; {ANY}")))
        }
        [] => Ok(None),
    }
}

/// A number of bytes. What the compiler would cut to its type is none.
fn number(input: ParseStream) -> syn::Result<LitInt> {
    let refused =
        |span| Error::new(span, "this is no number of bytes; write digits alone, decimal or after `0x`, for less than 4 GiB");
    let number: LitInt = input.parse().map_err(|error| refused(error.span()))?;
    match number.suffix().is_empty() && number.base10_parse::<u32>().is_ok() {
        true => Ok(number),
        false => Err(refused(number.span())),
    }
}

/// A constant of its own for each check, so that all failures are shown; the compiler points at `span`.
fn constant(span: Span, when: &TokenStream, call: TokenStream) -> TokenStream {
    let call = respanned(call, span);
    quote_spanned! { span => #when const _: () = ::etw_layouts_runtime::check::#call; }
}

/// The attributes that may take an item or a member away.
fn conditions(attributes: &[Attribute]) -> TokenStream {
    let list = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! { #(#list)* }
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
