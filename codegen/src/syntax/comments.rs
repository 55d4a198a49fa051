//! The comments of a spec file, which are not part of its tree.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// The comments and blank lines of a text, each with its place, in the order of the text. A blank line is `""`.
pub fn comments(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_blank = true;
    for token in Source::new(text).lex() {
        let span = token.span();
        match token.kind() {
            TokenKind::Whitespace => {}
            TokenKind::Newline => {
                if is_blank {
                    found.push((span.start(), ""));
                }
                is_blank = true;
            }
            TokenKind::Comment => {
                found.push((span.start(), text[span.start()..span.end()].trim_end()));
                is_blank = false;
            }
            _ => is_blank = false,
        }
    }
    found
}
