//! JSON objects without a named type.

/// A JSON object with the members in the order given. A member with `#[serde(flatten)]` adds the members of its value: of an object, or of
/// an `Option` of one, which adds nothing if it is `None`.
macro_rules! object {
    ($($(#[$attribute:meta])* $key:ident: $value:expr),* $(,)?) => {{
        #[expect(non_camel_case_types, reason = "each member has the type parameter of its name")]
        mod json {
            #[derive(serde::Serialize)]
            pub struct Object<$($key),*> { $($(#[$attribute])* pub $key: $key),* }
        }
        json::Object { $($key: $value),* }
    }};
}
pub(crate) use object;
