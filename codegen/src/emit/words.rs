//! Reserved words of C and C++, and names that compilers and `<stddef.h>` define. A type, member or constant of a header cannot
//! have these names.

/// Sorted by bytes, for binary search.
#[rustfmt::skip]
const WORDS: [&str; 106] = [
    "ANYSIZE_ARRAY", "NULL", "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
    "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "i386", "if",
    "inline", "int", "linux", "long", "max_align_t", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "nullptr_t", "offsetof", "operator", "or", "or_eq", "private", "protected", "ptrdiff_t", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "size_t", "sizeof", "static", "static_assert",
    "static_cast", "std", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "typeof", "typeof_unqual", "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq",
];

/// The name. A reserved word gets underscores at its end, until no other item has the name.
pub(super) fn no_word(mut name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if WORDS.binary_search(&name.as_str()).is_ok() {
        name.push('_');
        while is_taken(&name) {
            name.push('_');
        }
    }
    name
}
