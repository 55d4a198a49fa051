//! Layouts of declarations by clang.

use std::io::Write;
use std::process::Stdio;
use test_support::installed::Program;

/// clang for a target of the Microsoft ABI.
#[derive(Clone, Copy, Debug)]
pub struct Clang<'p> {
    program: &'p Program,
    triple: &'static str,
}

/// A line of a dump, in the form in which both dumps are compared.
pub fn line(depth: usize, place: &str, name: &str) -> String {
    format!("{}{place} {name}\n", "  ".repeat(depth))
}

impl<'p> Clang<'p> {
    /// x86, x64 and ARM64.
    pub fn all(program: &'p Program) -> [Self; 3] {
        ["i686-pc-windows-msvc", "x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"].map(|triple| Self { program, triple })
    }

    /// The structures and unions of a valid text in the order in which they are complete: inner ones first.
    pub fn dump(self, text: &str) -> Vec<String> {
        let dumps = self.compile(text, &["-Xclang", "-fdump-record-layouts-complete"]);
        let dumps = dumps.split("*** Dumping AST Record Layout");
        // clang declares structures of its own, with other names.
        dumps.filter(|dump| dump.contains("| struct S") || dump.contains("| union S")).map(record).collect()
    }

    /// Compiles a text with all its assertions. Returns the output of clang.
    pub fn compile(self, text: &str, flags: &[&str]) -> String {
        let mut child = self
            .program
            .command()
            .args(["-target", self.triple, "-fsyntax-only", "-w", "-x", "c"])
            .args(flags)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("clang starts");
        // clang reads all of its input before it writes.
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("clang reads");
        let output = child.wait_with_output().expect("clang ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Lines such as `   8:0-2 |   ULONG m3`, without the types.
fn record(text: &str) -> String {
    let mut out = String::new();
    // The first line is the record's own name.
    for text in text.lines().filter(|line| line.contains('|')).skip(1) {
        let Some((place, what)) = text.split_once('|') else { continue };
        let depth = (what.len() - what.trim_start().len()) / 2;
        match what.trim().strip_prefix("[") {
            Some(extent) => out += extent.trim_end_matches(']'),
            None => {
                let last = what.split_whitespace().last().unwrap_or_default();
                let named = last.strip_prefix('m').is_some_and(|number| number.parse::<usize>().is_ok());
                out += &line(depth, place.trim(), if named { last } else { "" });
            }
        }
    }
    out
}
