//! A token of one structure cannot be used with another one, nor with an embedded structure.

use etw_layouts_runtime::{View, tokens};

tokens! { LINK { Next NEXT, "all versions"; } }
tokens! { REQUEST { Size SIZE, "all versions"; Link LINK: LINK, "all versions"; } }
tokens! { ANSWER { Size SIZE, "all versions"; } }

fn size(request: View<'_, REQUEST::Type>) -> Option<u64> {
    request.unsigned(ANSWER::SIZE)
}

fn next(request: View<'_, REQUEST::Type>) -> Option<u64> {
    request.get(REQUEST::LINK)?.unsigned(REQUEST::SIZE)
}

fn main() {}
