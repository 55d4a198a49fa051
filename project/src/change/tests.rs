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

/// All files except the lock, by path.
type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Folder {
    /// A project with some specs, facts and generated files.
    fn new(name: &str) -> Self {
        // Tests of one process run in parallel.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let own = format!("etw-layouts-change-{}-{}-{name}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
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
        Project { generated: Some(|_, _, _| Ok(Vec::new())), ..Project::at(&self.0) }
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
        files.map(|(path, text)| (self.0.join(path), text.map(|text| text.as_bytes().to_vec()))).into()
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
        files.remove(&self.0.join("specs").join(LOCK));
        files
    }

    /// The files with their whole paths.
    fn whole(&self, files: &Files) -> Files {
        files.iter().map(|(path, text)| (self.0.join(path), text.clone())).collect()
    }

    /// Whether the folder has its new state. A state other than the old or the new one is a failure.
    fn is_changed(&self, before: &Files, after: &Files) -> bool {
        let (now, after) = (self.files(), self.whole(after));
        assert!(now == *before || now == after, "{now:#?}");
        now == after
    }

    fn change(&self, before: Before) -> io::Result<()> {
        self.project().lock("import").expect("no one has it").replaced(self.changes(), before)
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
    folder.change(&count).expect("a change");
    let files = folder.files().into_iter().map(|(path, text)| (path.strip_prefix(&folder.0).expect("below").to_owned(), text));
    (files.collect(), steps.get())
}

/// A reader finds the old or the new files, or is refused; the next command that writes finds the old or the new files.
#[test]
fn a_killed_change_is_completed_or_discarded() {
    let (after, steps) = after();
    assert!(steps > 12, "{steps}");
    let (mut kills, mut outcomes) = (0, [0, 0]);
    for first in 0..steps {
        // The recovery is also killed at each of its steps, and then completed.
        for second in 0.. {
            let folder = Folder::new("killed");
            let before = folder.files();
            catch_unwind(AssertUnwindSafe(|| folder.change(&killed_at(first)))).expect_err("killed");
            let refused = folder.project().settled().is_err();
            if !refused {
                let there = folder.files().into_iter().filter(|(path, _)| !is_own(path)).collect::<Files>();
                assert!(there == before || there == folder.whole(&after), "{there:#?}");
            }
            let place = Place::of(&folder.project()).expect("a path").expect("a folder");
            let recovered = catch_unwind(AssertUnwindSafe(|| place.recovered(&killed_at(second)).expect("nothing fails")));
            kills += 1 + usize::from(recovered.is_err());
            let is_last = recovered.is_ok();
            let message = recovered.unwrap_or_else(|_| folder.project().lock("fmt").expect("nothing fails").recovered);
            let made = folder.is_changed(&before, &after);
            outcomes[usize::from(made)] += 1;
            if let Some(message) = message {
                assert_eq!(message.contains("completed"), made, "{message}");
            }
            assert!(folder.project().settled().is_ok() && folder.project().lock("fmt").expect("unlocked").recovered.is_none());
            folder.change(&|| Ok(())).expect("it can be made again");
            assert!(folder.is_changed(&before, &after));
            if is_last {
                break;
            }
        }
    }
    assert!(kills >= 60 && outcomes.iter().all(|count| *count > 3), "{kills} {outcomes:?}");
}

/// Stops like a killed process: nothing is undone.
fn killed_at(step: usize) -> impl Fn() -> io::Result<()> {
    let count = Cell::new(0);
    move || {
        assert_ne!(count.replace(count.get() + 1), step, "killed");
        Ok(())
    }
}

fn is_own(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".etw-new")
        || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(CHANGE))
}

/// A failure before the list is complete changes nothing. After that, the next command that writes completes the change.
#[test]
fn a_failed_change_is_undone_or_completed() {
    let (after, steps) = after();
    let mut outcomes = [0, 0];
    for step in 0..steps {
        let folder = Folder::new("failed");
        let before = folder.files();
        let count = Cell::new(0);
        let fail = || match count.replace(count.get() + 1) == step {
            true => Err(io::Error::other("disk full")),
            false => Ok(()),
        };
        let error = folder.change(&fail).expect_err("it failed").to_string();
        assert!(error.contains("disk full"), "{error}");
        let is_undone = error.contains("nothing was changed");
        assert_eq!(folder.project().settled().is_ok(), is_undone, "{error}");
        drop(folder.project().lock("fmt").expect("nothing fails"));
        assert_eq!(folder.is_changed(&before, &after), !is_undone, "{error}");
        outcomes[usize::from(is_undone)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 3), "{outcomes:?}");
}

#[test]
fn a_second_lock_is_refused() {
    let folder = Folder::new("twice");
    let lock = folder.project().lock("import").expect("no one has it");
    let refused = folder.project().lock("generate").map(|_| ()).expect_err("the lock is taken").to_string();
    assert!(refused.contains("another command is changing these files"), "{refused}");
    drop(lock);
    folder.project().lock("generate").expect("the lock is free");
}

/// A list can be part of specs that were received. It changes no file outside of their folder, and none without a new file beside it.
#[test]
fn a_hostile_list_changes_nothing_outside_of_the_specs() {
    let entries = [
        ("specs", "../other/a", "null", "false"),
        ("specs", "/etc/a", "null", "false"),
        ("specs", "link/a", "null", "false"),
        ("specs", "../other/b", "null", "true"),
        ("facts", "a.facts", "0", "false"),
        ("facts", "a.facts", "0", "true"),
        ("facts", "../other/b", "null", "true"),
        ("generated", "src/a.rs", "null", "false"),
        ("other", "a", "null", "false"),
        ("specs", "etw/A.toml", "null", ""),
        ("specs", "etw/A.toml", "\"x\"", "false"),
    ];
    for (entry, name) in entries.iter().flat_map(|entry| [(entry, CHANGE.to_owned()), (entry, beside(CHANGE))]) {
        let folder = Folder::new("hostile");
        fs::create_dir(folder.0.join("other")).expect("a temporary folder");
        ["a.etw-new", "b", "b.etw-new"]
            .iter()
            .for_each(|name| fs::write(folder.0.join("other").join(name), "x").expect("a file"));
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.0.join("other"), folder.0.join("specs/link")).expect("a link");
        let list = folder.0.join("specs").join(&name);
        let (own, path, old, removed) = entry;
        let text = format!(r#"{{"folder":"{own}","path":"{path}","old":{old},"removed":{removed}}}"#);
        fs::write(&list, format!(r#"{{"command":"import","entries":[{text}]}}"#)).expect("a list");
        let before = folder.files();
        let project = Project { generated: None, ..folder.project() };
        let result = project.lock("fmt").map(|lock| lock.recovered);
        // A list before its change, and one whose files are new already, change nothing and are removed.
        assert!(result.is_err() || name != CHANGE || *path == "a.facts", "{entry:?}: {result:?}");
        let outside = |files: Files| files.into_iter().filter(|(path, _)| *path != list).collect::<Files>();
        assert!(outside(folder.files()) == outside(before), "{entry:?}: {:#?}", folder.files());
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    for name in [CHANGE, LOCK, "etw", "etw/A.toml", "etw/A.toml.etw-new"] {
        let folder = Folder::new("links");
        let (own, other) = (folder.0.join("specs").join(name), folder.0.join("other"));
        match fs::rename(&own, &other) {
            Ok(()) => {}
            Err(_) => fs::write(&other, "precious").expect("a temporary file"),
        }
        std::os::unix::fs::symlink(&other, &own).expect("a link");
        let content = |path: &Path| match path.is_dir() {
            true => fs::read(path.join("A.toml")),
            false => fs::read(path),
        };
        let before = content(&other).expect("a file");
        let changed = folder.project().lock("fmt").and_then(|lock| lock.replace(folder.changes()));
        // A link that is in the way of a new file is replaced.
        let is_refused = changed.as_ref().is_err_and(|error| error.to_string().contains("is a link; remove it"));
        assert!(is_refused || name.ends_with("-new"), "{name}: {changed:?}");
        assert_eq!(content(&other).expect("a file"), before, "{name}");
    }
}

#[test]
fn a_file_changed_since_the_interruption_is_not_overwritten() {
    let folder = Folder::new("since");
    let (_, steps) = after();
    // The last steps rename the files; before them, no file is new.
    let killed = (0..steps).find(|step| {
        let folder = Folder::new("step");
        let _ = catch_unwind(AssertUnwindSafe(|| folder.change(&killed_at(*step))));
        folder.project().settled().is_err()
    });
    let _ = catch_unwind(AssertUnwindSafe(|| folder.change(&killed_at(killed.expect("a step")))));
    let spec = folder.0.join("specs/etw/A.toml");
    fs::write(&spec, "three\n").expect("a temporary file");
    let error = folder.project().lock("fmt").map(|_| ()).expect_err("the content is neither old nor new").to_string();
    assert!(error.contains("A.toml: changed since `import` was interrupted; restore the file, or remove"), "{error}");
    assert_eq!(fs::read(spec).expect("a file"), b"three\n");
}
