//! Facts that do not agree: two members at the same bytes, and a wrong size.

mod device {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "DEVICE_HEADER"
            size = 0x10

            [[member]]
            name = "Magic"
            type = "ULONG"
            offset = 0x00

            [[member]]
            name = "Length"
            type = "ULONG"
            offset = 0x02
        "#,
    }
}

fn main() {}
