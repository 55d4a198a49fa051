//! The program as a reader of the corpus: traces and expected events that a program without code of this workspace made from published references.

use test_support::installed;

#[test]
fn corpus() {
    let Some(python) = installed::python("json") else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus");
    let run = |script: &str, arguments: &[&str]| {
        let mut command = python.command();
        let output = command.args(["-B", &format!("{folder}/{script}")]).args(arguments).output().expect("Python runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{script}\n{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    run("make.py", &["--check"]);
    let interpreter = python.command().get_program().to_string_lossy().into_owned();
    let reader = format!("'{interpreter}' -B '{folder}/readers/etw.py' '{}'", env!("CARGO_BIN_EXE_etw"));
    println!("{}", run("run.py", &[&reader]));
}
