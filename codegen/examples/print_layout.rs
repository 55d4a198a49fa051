//! Prints a structure of a spec set at one target: offsets, sizes, types.
//!
//! `cargo run -p etw-layouts-codegen --example print_layout specs WMI_BUFFER_HEADER 1709-x64`

use etw_layouts_codegen::layouts::{Form, Layouts};
use etw_layouts_codegen::{Sources, compile};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [specs, structure, target] = arguments.as_slice() else {
        return Err("usage: print_layout SPECS STRUCTURE TARGET, such as: specs WMI_BUFFER_HEADER 1709-x64".into());
    };
    // What is wrong in the specs is shown with its place.
    let layouts = compile(Sources::load(Path::new(specs))?).inspect_err(|errors| eprintln!("{}", errors.render(true)))?;
    print(&layouts, structure, target)
}

fn print(layouts: &Layouts, structure: &str, target: &str) -> Result<(), Box<dyn Error>> {
    let asked = layouts.spec.axis.find(target)?;
    if let Some(note) = asked.note(&layouts.spec.axis) {
        eprintln!("{note}");
    }
    let layout = layouts.get(asked.target, structure).ok_or(format!("{target} has no `{structure}`"))?;
    let Form::Aggregate(aggregate) = &layout.form else {
        return Err(format!("`{structure}` is an enumeration").into());
    };
    println!("{structure}: {:#x} bytes, aligned to {}", aggregate.extent.size, aggregate.extent.align);
    // Members of unnamed structures and unions stand where a C programmer finds them.
    for member in aggregate.flat() {
        let ctype = member.field.ctype.as_ref().map(ToString::to_string).unwrap_or_default();
        let bits = member.field.bits.map(|bits| format!(", {} bits from bit {}", bits.width, bits.position)).unwrap_or_default();
        println!("{:#06x}  {:#5x}  {}: {ctype}{bits}", member.offset, member.field.size, member.name);
    }
    Ok(())
}
