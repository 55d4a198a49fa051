//! Prints a structure from a symbol file: a PDB, an ISF table of Volatility 3, or a snapshot.
//!
//!     cargo run -p etw-layouts-symbols --example print_structure -- ntkrnlmp.pdb WMI_BUFFER_HEADER

use etw_layouts_symbols::{Symbols, TypeFacts, Wanted, read};
use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [path, name] = &arguments[..] else { return Err("usage: print_structure SYMBOL_FILE STRUCTURE".into()) };
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let types = match read(&bytes, &Wanted::from_iter([name])).map_err(|error| format!("{path}: {error}"))? {
        Symbols::Table(table) => table.types,
        Symbols::Snapshot(snapshot) => snapshot.types,
        Symbols::Images(_) => return Err(format!("{path}: table of images, which has no types").into()),
    };
    match types.get(name) {
        Some(TypeFacts::Aggregate(aggregate)) => {
            println!("{} {name}, {:#x} bytes", aggregate.kind.as_str(), aggregate.size);
            for member in &aggregate.members {
                println!("{:#06x} {}: {}", member.offset, member.name, member.ty);
            }
        }
        Some(TypeFacts::Enumeration(enumeration)) => {
            println!("enum {name}, {:#x} bytes", enumeration.size);
            for (constant, value) in &enumeration.constants {
                println!("{value} {constant}");
            }
        }
        None => return Err(format!("{path}: no type `{name}`; omit the leading underscore").into()),
    }
    Ok(())
}
