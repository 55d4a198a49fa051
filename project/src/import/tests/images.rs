//! A removed border is restored from a table of images.

use super::*;
use std::fmt::Write;
use std::fs;

/// A project in a temporary folder.
struct Scratch(Project);

impl Scratch {
    /// Creates a project with these specs and the shipped facts, but without facts from images.
    fn new(texts: &Texts) -> Self {
        let root = std::env::temp_dir().join(format!("etw-layouts-images-{}", std::process::id()));
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../facts");
        fs::create_dir_all(root.join("facts")).expect("a temporary folder");
        for entry in fs::read_dir(ours).expect("the facts").flatten() {
            let name = entry.file_name().into_string().expect("a name");
            if name.ends_with(tables::SNAPSHOT) && !name.contains("-images") && !name.contains("-addresses") {
                fs::copy(entry.path(), root.join("facts").join(name)).expect("a temporary file");
            }
        }
        for (path, text) in texts {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            fs::write(path, text).expect("a temporary file");
        }
        Self(Project::at(root))
    }

    /// Imports a table of images. Returns the number of new images, and the plan.
    fn import(&self, table: &str) -> Result<(Option<usize>, Option<Plan>), Error> {
        let path = self.0.root.join("images.tsv");
        fs::write(&path, table).expect("a temporary file");
        let lock = self.0.lock("import")?;
        let layouts = self.0.layouts()?;
        let request = Request { symbols: &[path], stated: &Stated::default(), added: &[], is_confirmed: false };
        let import = prepare(&self.0, &layouts, &request)?;
        let plan = import.plan()?;
        if let Some(plan) = &plan {
            import.write(&self.0, lock, plan)?;
        }
        Ok((import.images, plan))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0.root);
    }
}

/// The shipped images of some builds, as a table.
fn table(images: &[BuildTable], builds: &[u32]) -> String {
    let members = [("ETW_GUID_ENTRY", "Guid"), ("ETW_REG_ENTRY", "GuidEntry")];
    let mut text = "file\tversion\tarch\ttimestamp\tsize_of_image\tETW_GUID_ENTRY.Guid\tETW_REG_ENTRY.GuidEntry\n".to_owned();
    for image in images.iter().filter(|image| builds.contains(&image.build.number[2])) {
        let file = image.image.as_ref().expect("an image");
        let ([major, minor, number], revision) = (image.build.number, image.build.revision);
        let version = format!("{major}.{minor}.{number}.{revision}");
        let _ = write!(text, "{}\t{version}\t{}\t{:#x}\t{:#x}", file.name, image.arch, file.time_stamp, file.size);
        members.iter().for_each(|(structure, member)| {
            let _ = write!(text, "\t{:#x}", image.offsets[*structure][*member]);
        });
        text.push('\n');
    }
    text
}

#[test]
fn images_restore_borders() {
    let (texts, _) = shipped();
    let truth = layouts(&texts);
    let project = Project::at(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let mut images = project.images(&truth.spec.axis, &Wanted::All).expect("good facts");
    images.retain(|image| image.image.is_some());
    let build = |text: &str| text.parse::<Build>().expect("a build");

    // The specs before there were images: one border is later.
    let before = taken_out(&texts, &[build("10.0.17763.1075")].into());
    let scratch = Scratch::new(&before);
    let some = table(&images, &[17763]);
    let (new, plan) = scratch.import(&some).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(new, Some(some.lines().count() - 1));
    let plan = plan.expect("borders");
    assert!(plan.moved.is_empty());
    // Images show the border of one structure. Another one is assumed to change with it, because no image contradicts this.
    let facts_of: Vec<_> =
        plan.borders.iter().map(|border| (border.build, border.arch, border.shown.len(), border.along.len())).collect();
    assert_eq!(facts_of, [Arch::X64, Arch::Arm64].map(|arch| (build("10.0.17763.1075"), arch, 1, 1)));
    assert!(plan.same.is_empty());
    let (ours, theirs) = (&plan.layouts.spec.axis, &truth.spec.axis);
    let builds = |axis: &etw_layouts_codegen::axis::Axis| axis.revisions.iter().map(|kernel| kernel.build).collect::<Vec<_>>();
    assert_eq!(builds(ours), builds(theirs));
    for (target, at) in theirs.targets.iter() {
        let (build, name) = (theirs.revisions[at.revision].build, theirs.target_name(target));
        // The specs state the update for all builds and architectures. The images are of one build, and none is of x86.
        let Some(own) = find(ours, build, at.arch) else {
            assert_eq!(name, "10.0.17763.1075-x86");
            continue;
        };
        let border = plan.borders.iter().find(|border| (border.build, border.arch) == (build, at.arch));
        let is_known = |name: &String| border.is_none_or(|border| border.shown.contains(name) || border.along.contains(name));
        let facts_of =
            |layouts, target| -> Types { facts(layouts, target).into_iter().filter(|(name, _)| is_known(name)).collect() };
        assert!(facts_of(&plan.layouts, own) == facts_of(&truth, target), "{name}");
    }
    // The images are now in the facts. Importing them again, or importing all others, changes no layout.
    let (new, plan) = scratch.import(&some).unwrap_or_else(|error| panic!("{error}"));
    assert!(new == Some(0) && plan.is_none());
    let all = table(&images, &images.iter().map(|image| image.build.number[2]).collect::<Vec<_>>());
    let (new, plan) = scratch.import(&all).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(new, Some(all.lines().count() - some.lines().count()));
    let layouts = scratch.0.layouts().expect("good specs");
    assert!(plan.is_some_and(|plan| plan.moved.is_empty() && plan.new.is_empty()));
    let report = verify::shipped(&scratch.0, &layouts).expect("good facts");
    assert!(!report.differs() && report.images.len() + report.summary.skipped_images as usize == images.len());

    // An image with an offset that no revision of its build has.
    let wrong = some.replacen("\t0x18\t", "\t0x48\t", 1);
    let error = scratch.import(&wrong).err().expect("a wrong offset").to_string();
    assert!(error.contains("images.tsv: 1 image has offsets that differ from the specs: 10.0.1"), "{error}");
}
