//! The frame of a page that needs no other file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A page with one style and one script, after its body. The content security policy allows only these two, by their hashes; `script_sources` and `policy`
/// are further sources of scripts and further directives.
pub fn page(title: &str, style: &str, script: &str, body: &str, (script_sources, policy): (&str, &str)) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}{script_sources}; style-src {}; {policy}base-uri 'none'; form-action 'none'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{style}</style></head>\n\
         {body}\n<script>{script}</script></body></html>\n",
        hash(script),
        hash(style)
    )
}
