//! Structures, targets and arguments that do not exist.

mod structure_and_targets {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "DRIVER_EXTENSION"

            [[member]]
            name = "Length"
            type = "ULONG"
        "#,
        structures = ["DRIVER_EXTENSON"],
        targets = ["1709-x64", "1709-arm"],
    }
}

mod in_none_of_the_targets {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "NEW_HEADER"
            in = "10.0.."

            [[member]]
            name = "Length"
            type = "ULONG"
        "#,
        structures = ["NEW_HEADER"],
        targets = ["6.1-x64"],
    }
}

mod key {
    etw_layouts_macros::layouts! {
        spec = r#"
            [struct]
            name = "DEVICE_HEADER"

            [[member]]
            name = "Magic"
            type = "ULONG"
            ofset = 0x00
        "#,
    }
}

mod argument {
    etw_layouts_macros::layouts!("specs", structure = ["DRIVER_EXTENSION"]);
}

mod literal {
    etw_layouts_macros::layouts!("specs", 5);
}

mod no_path {
    etw_layouts_macros::layouts!("");
}

mod no_structures {
    etw_layouts_macros::layouts!("specs", structures = []);
}

mod no_targets {
    etw_layouts_macros::layouts!("specs", targets = []);
}

fn main() {}
