//! Facts of published references end with the builds that they cover: a spec need not mention them for other builds.

use etw_layouts_codegen::axis::{Arch, Build};
use etw_layouts_codegen::layouts::{Flat, Form, Layouts};
use etw_layouts_codegen::spec::Provenance;
use etw_layouts_codegen::{Builder, Errors, Sources, compile};

/// The specs after edits: the end of a file's path, a text that occurs once, and its replacement.
fn edited(edits: &[(&str, &str, &str)]) -> Result<Layouts, Errors> {
    let mut sources = Sources::default();
    for file in tests::project().layouts().expect("the specs resolve").spec.sources.files() {
        let own = edits.iter().filter(|(path, ..)| file.path.ends_with(path));
        let text = own.fold(file.text.clone(), |text, (path, old, new)| {
            assert_eq!(text.matches(old).count(), 1, "{path}: {old}");
            text.replace(old, new)
        });
        sources.add(file.path.clone(), text);
    }
    compile(sources)
}

/// Adds a revision to each release, a build without a release, and a release after all others: one entry each. The structure has two
/// hundred members, and the new builds have one more in the middle. Nothing else has to be written.
#[test]
fn a_new_build_needs_only_an_entry_and_its_changes() {
    let project = tests::project().layouts().expect("the specs resolve");
    let axis = &project.spec.axis;
    let last = |release: usize| axis.revisions.iter().rfind(|revision| revision.release == release).expect("a revision");
    // The line after which each entry is inserted, the new build, and the revision before it.
    let mut entries = Vec::new();
    let axis_text = &project.spec.sources.file(axis.revisions[0].span).text;
    for before in (0..axis.releases.len()).map(last) {
        let mut own = axis.revisions.iter().filter(|revision| revision.release == before.release && !revision.of_update);
        let place = project.spec.sources.place(own.next_back().expect("an entry").span);
        let line: usize = place.rsplit(':').nth(1).and_then(|line| line.parse().ok()).expect("path:line:column");
        // An entry can have several lines. The next entry or the end of the list follows.
        let is_inside = |line: &&str| !line.starts_with("  {") && !line.starts_with(']');
        let line = line + axis_text.lines().skip(line).take_while(is_inside).count();
        entries.push((line, Build { revision: 60_000, ..before.build }, before));
    }
    let (line, _, newest) = *entries.last().expect("a release");
    let [major, minor, build] = newest.build.number;
    entries.push((line, Build { number: [major, minor, build + 1000], revision: 0 }, newest));
    let entry = |build: &Build| format!("  {{ build = \"{build}\", module = \"hand{}\" }},", build.to_string().replace('.', "_"));
    let later = Build { number: [major, minor, build + 2000], revision: 0 };
    let architectures: Vec<_> = newest.architectures.iter().map(|arch| format!("\"{arch}\"")).collect();
    let architectures = architectures.join(", ");
    let release =
        format!("[[release]]\nlabels = [\"later\"]\narchitectures = [{architectures}]\nrevisions = [\n{}\n]\n", entry(&later));
    let all: Vec<_> = entries.iter().map(|(_, build, _)| build.to_string()).collect();
    let member = format!("  {{ name = \"Inserted\", type = \"LIST_ENTRY\", in = \"{}, later..\" }},\n", all.join(", "));

    let mut sources = Sources::default();
    for file in project.spec.sources.files() {
        let mut text = String::new();
        for (number, line) in file.text.lines().enumerate() {
            if file.path.ends_with("/WMI_LOGGER_CONTEXT.toml") && line.starts_with("  { name = \"Consumers\",") {
                text += &member;
            }
            text += &format!("{line}\n");
            let new = entries.iter().filter(|(at, ..)| file.path.ends_with("windows.toml") && *at == number + 1);
            new.for_each(|(_, build, _)| text += &format!("{}\n", entry(build)));
        }
        text += if file.path.ends_with("windows.toml") { &release } else { "" };
        sources.add(file.path.clone(), text);
    }
    let layouts = compile(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let size = |build: Build, arch: Arch| {
        let choice = layouts.spec.axis.select(build, arch).ok()?;
        layouts.get(choice.target, "WMI_LOGGER_CONTEXT").map(|layout| layout.extent().size)
    };
    let builds = entries.into_iter().map(|(_, build, before)| (build, before)).chain([(later, newest)]);
    for (build, before) in builds {
        for &arch in &before.architectures {
            let old = size(before.build, arch).expect("a layout");
            assert_eq!(size(build, arch), Some(old + 2 * arch.pointer_size()), "{build}-{arch}");
        }
    }
}

/// A documented number is compared with the releases that the references cover, and with no others.
#[test]
fn a_wrong_documented_number_is_an_error() {
    let right = r#"offset = { "6.1" = 0x10, "6.2.." = 0x0C }"#;
    let cases = [
        (r#"{ "6.1" = 0x18, "6.2.." = 0x0C }"#, "offset of `LoggerMode` is 0x10, not 0x18 (6.1, where documented)"),
        (r#"{ "6.1" = 0x10, "6.2.." = 0x18 }"#, "offset of `LoggerMode` is 0xc, not 0x18 (6.2.., where documented)"),
        // The references cover service packs. A value for a single update is verified too.
        (r#"{ "6.1" = 0x10, "6.1.7601.17514" = 0x10, "6.2.." = 0x0C }"#, "two values for the same targets: 6.1.7601.17514"),
        (
            r#"{ "6.1" = 0x10, "6.1.7601.24000" = 0x18, "6.2.." = 0x0C }"#,
            "offset of `LoggerMode` is 0x10, not 0x18 (6.1.7601.24000)",
        ),
        (
            r#"{ "6.1" = 0x10, "6.2.." = 0x0C, "6.3.9600.19913" = 0x10 }"#,
            "offset of `LoggerMode` is 0xc, not 0x10 (6.3 traits..)",
        ),
    ];
    for (wrong, message) in cases {
        let errors = edited(&[("WMI_LOGGER_CONTEXT.toml", right, &format!("offset = {wrong}"))]).expect_err(wrong);
        let messages = errors.messages();
        assert!(messages.len() == 1 && messages[0].contains(message), "{wrong}: {messages:#?}");
    }
    let documents = "documented_range = \"5.0..2004 x86, 5.0..2004 x64\"";
    let errors = edited(&[("windows.toml", documents, "documented_range = \"5.0..2005 x86\"")]).expect_err("no label");
    assert!(errors.messages()[0].contains("specs/windows.toml") && errors.messages()[0].contains("did you mean `2004`"));
}

/// The references describe only the types of Windows. A structure of a user is defined by its own spec, and verified at all
/// updates, also if it embeds types with a source.
#[test]
fn a_structure_of_a_user_is_verified_against_every_kernel() {
    let nt = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/nt");
    let of = |source: &str| {
        let text = format!(
            "[struct]\nname = \"MINE\"\nsize = {{ x86 = 0x0C, x64 = 0x18 }}\n{source}\n[[member]]\nname = \"List\"\ntype = \"LIST_ENTRY\"\n\n\
             [[member]]\nname = \"Late\"\ntype = \"UCHAR [64]\"\nin = \"6.3.9600.19913\"\n\n\
             [[member]]\nname = \"Last\"\ntype = \"VOID *\"\noffset = {{ x86 = 0x08, x64 = 0x10 }}\n"
        );
        Builder::new(&nt).text("MINE.toml", text).structure("MINE").target("2004-x64").generate().map(drop)
    };
    let message = of("").expect_err("the offset is wrong after an update").to_string();
    assert!(message.contains("offset of `Last` is 0x50, not 0x10 (6.3 traits.. x64)"), "{message}");
    assert!(message.contains("size of `MINE` is 0x4c, not 0xc (6.3 traits.. x86)"), "{message}");
    of("source = \"document\"").expect("a reference that does not cover the update");
}

/// A member of a layout is reported as documented if the references cover a build with the layout.
#[test]
fn members_are_documented_only_at_covered_builds() {
    let layouts = tests::project().layouts().expect("the specs resolve");
    let mut seen = [0, 0];
    for layout in &layouts.layouts {
        let Form::Aggregate(aggregate) = &layout.form else { continue };
        let covered = !layout.targets.intersection(&layouts.spec.axis.documented).is_empty();
        let documented = |flat: &Flat| flat.field.info.source == Provenance::Document && flat.field.info.unknown.is_none();
        for member in aggregate.flat().into_iter().filter(documented) {
            let known = member.field.info.known();
            let fits = if covered {
                ["documented", "documented, offset inferred"].contains(&known)
            } else {
                known == "inferred from published references about other builds"
            };
            assert!(fits, "{} {} at {}: {known}", layout.name, member.name, layouts.spec.axis.describe(&layout.targets));
            seen[usize::from(covered)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}
