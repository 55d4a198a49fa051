//! Failure or interruption of a change at each of its steps on disk.

use super::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// All files except the journal, by path.
type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Folder {
    /// A project with some specs, facts and generated files.
    fn new(name: &str) -> Self {
        // Tests of one process run in parallel.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let own = format!("etw-layouts-lock-{}-{}-{name}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(own));
        drop(fs::remove_dir_all(&folder.0));
        for (path, text) in [("specs/etw/A.toml", "one\n"), ("specs/windows.toml", ""), ("facts/a.facts", "a"), ("src/a.rs", "r")]
        {
            let path = folder.0.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            fs::write(path, text).expect("a temporary file");
        }
        folder
    }

    fn project(&self) -> Project {
        Project { generated: Some(|_, _| Ok(Vec::new())), ..Project::at(&self.0) }
    }

    /// One file is unchanged, two change, two are new, and two are removed; one of those did not exist.
    fn changes(&self) -> Changes {
        let files = [
            ("specs/windows.toml", Some("complete\n")),
            ("specs/etw/A.toml", Some("two\n")),
            ("specs/nt/B.toml", Some("new\n")),
            ("facts/a.facts", None),
            ("facts/b.facts", Some("")),
            ("facts/c.facts", None),
            ("src/a.rs", Some("r")),
        ];
        files.map(|(path, text)| (self.0.join(path), text.map(str::to_owned))).into()
    }

    fn files(&self) -> Files {
        fn read(folder: &Path, files: &mut Files) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => read(&path, files),
                    false => drop(files.insert(path.clone(), fs::read(&path).expect("a file"))),
                }
            }
        }
        let mut files = Files::new();
        read(&self.0, &mut files);
        files.remove(&self.journal());
        files
    }

    fn journal(&self) -> PathBuf {
        self.0.join("specs").join(JOURNAL)
    }
}

/// The files after the change.
fn after() -> (Files, usize) {
    let folder = Folder::new("after");
    let steps = Cell::new(0);
    let count = || {
        steps.set(steps.get() + 1);
        Ok(())
    };
    folder.project().lock("import").expect("no one has it").replaced(folder.changes(), &count).expect("a change");
    let files = folder.files().into_iter().map(|(path, text)| (path.strip_prefix(&folder.0).expect("below").to_owned(), text));
    (files.collect(), steps.get())
}

/// Whether the folder has its old or its new state; any other state is a failure.
fn changed(folder: &Folder, before: &Files, after: &Files) -> bool {
    let after: Files = after.iter().map(|(path, text)| (folder.0.join(path), text.clone())).collect();
    let now = folder.files();
    assert!(now == *before || now == after, "{now:#?}");
    now == after
}

#[test]
fn a_killed_change_is_completed_or_rolled_back() {
    let (after, steps) = after();
    assert!(steps > 12, "{steps}");
    let mut outcomes = [0, 0];
    for first in 0..steps {
        // The recovery is also killed at each of its steps, and then completed.
        for second in 0.. {
            let folder = Folder::new("killed");
            let before = folder.files();
            let change = || folder.project().lock("import").expect("no one has it").replaced(folder.changes(), &killed_at(first));
            catch_unwind(AssertUnwindSafe(change)).expect_err("killed");
            let place = Place::of(&folder.project()).expect("a folder");
            let mut journal = File::options().read(true).write(true).open(folder.journal()).expect("a journal");
            let recovery = || place.recovered(&mut journal, &killed_at(second)).expect("nothing fails");
            let recovered = catch_unwind(AssertUnwindSafe(recovery));
            let last = recovered.is_ok();
            let message = recovered.unwrap_or_else(|_| folder.project().recover().expect("nothing fails"));
            let made = changed(&folder, &before, &after);
            outcomes[usize::from(made)] += 1;
            if let Some(message) = message {
                assert_eq!(message.contains("completed"), made, "{message}");
            }
            assert_eq!(folder.project().recover().expect("nothing fails"), None);
            folder.project().lock("import").expect("no one has it").replace(folder.changes()).expect("it can be made again");
            assert!(changed(&folder, &before, &after));
            if last {
                break;
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 3), "{outcomes:?}");
}

/// Stops like a killed process: nothing is undone.
fn killed_at(step: usize) -> impl Fn() -> io::Result<()> {
    let count = Cell::new(0);
    move || {
        assert_ne!(count.replace(count.get() + 1), step, "killed");
        Ok(())
    }
}

#[test]
fn a_failed_replacement_changes_no_file() {
    let (after, steps) = after();
    for step in 0..steps {
        let folder = Folder::new("failed");
        let before = folder.files();
        let count = Cell::new(0);
        let fail = || match count.replace(count.get() + 1) == step {
            true => Err(io::Error::other("no room")),
            false => Ok(()),
        };
        let error = folder.project().lock("import").expect("no one has it").replaced(folder.changes(), &fail);
        let error = error.expect_err("it failed");
        assert!(error.contains("no room") && error.contains("nothing was changed"), "{error}");
        assert!(!changed(&folder, &before, &after));
        assert_eq!(fs::read(folder.journal()).expect("a journal"), b"");
    }
}

#[test]
fn a_second_lock_is_refused() {
    let folder = Folder::new("twice");
    let lock = folder.project().lock("import").expect("no one has it");
    let refused = folder.project().lock("generate").map(|_| ()).expect_err("the lock is taken").to_string();
    assert!(refused.contains(&format!("`import` (process {})", process::id())), "{refused}");
    assert_eq!(folder.project().recover().expect("the lock is taken"), None);
    drop(lock);
    folder.project().lock("generate").expect("the lock is free");
}

#[test]
fn a_journal_cannot_change_files_outside_its_project() {
    for path in ["other/a", "specs/../other/a", "/etc/a", "specs/link/a"] {
        let folder = Folder::new("journal");
        fs::create_dir(folder.0.join("other")).expect("a temporary folder");
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.0.join("other"), folder.0.join("specs/link")).expect("a link");
        #[cfg(not(unix))]
        fs::create_dir(folder.0.join("specs/link")).expect("a temporary folder");
        fs::write(folder.journal(), format!("etw-layouts import 1\n- 1 {path}\nxcomplete\n")).expect("a journal");
        let project = Project { generated: None, ..folder.project() };
        if cfg!(unix) || !path.contains("link") {
            let error = project.recover().expect_err("the path is outside").to_string();
            assert!(error.contains("outside of the folders of this project"), "{path}: {error}");
        }
        assert!(!folder.0.join("other/a").exists());
    }
}

#[test]
fn a_file_changed_since_the_interruption_is_not_overwritten() {
    let folder = Folder::new("since");
    let (spec, journal) = (folder.0.join("specs/etw/A.toml"), folder.journal());
    fs::write(&journal, "etw-layouts import 1\n4 4 specs/etw/A.toml\nOne\ntwo\ncomplete\n").expect("a journal");
    let error = folder.project().recover().expect_err("the content is neither old nor new").to_string();
    assert!(error.contains("A.toml: changed since `import` was interrupted"), "{error}");
    assert_eq!(fs::read(spec).expect("a file"), b"one\n");
}
