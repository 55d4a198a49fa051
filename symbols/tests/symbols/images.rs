//! Tables of images: their facts are kept, images with equal facts are combined, and any other input is an error.

use etw_layouts_symbols::{Symbols, Wanted, compare_offsets, images, read};

const HEAD: &str = "file\tversion\tarch\ttimestamp\tsize_of_image";

const TABLE: &str = "file\tversion\tarch\ttimestamp\tsize_of_image\tETW_GUID_ENTRY.Guid\tETW_REG_ENTRY.GuidEntry
ntoskrnl.exe\t10.0.16299.15\tx64\t0x59cda103\t0x008cc000\t0x0018\t0x0020
ntoskrnl.exe\t10.0.17763.1075\tx64\t0x5e4a1693\t0x008a0000\t0x0028\t0x0020
ntkrla57.exe\t10.0.17763.1\tx64\t0x5e4a1693\t0x8a0000\t0x18\t0x20
ntoskrnl.exe\t10.0.16299.15\tarm64\t0x59cda103\t0x008cc001\t0x0018\t0x0020
";

/// The snapshots for the table.
const REDUCED: &str = "etw-layouts-symbols 1
producer a table of kernel images
kernel 10.0.16299.15 x64 - ntoskrnl.exe 0x59cda103 0x8cc000
kernel 10.0.17763.1 x64 - ntkrla57.exe 0x5e4a1693 0x8a0000
offsets ETW_GUID_ENTRY
 0x18 Guid
offsets ETW_REG_ENTRY
 0x20 GuidEntry

etw-layouts-symbols 1
producer a table of kernel images
kernel 10.0.17763.1075 x64 - ntoskrnl.exe 0x5e4a1693 0x8a0000
offsets ETW_GUID_ENTRY
 0x28 Guid
offsets ETW_REG_ENTRY
 0x20 GuidEntry

etw-layouts-symbols 1
producer a table of kernel images
kernel 10.0.16299.15 arm64 - ntoskrnl.exe 0x59cda103 0x8cc001
offsets ETW_GUID_ENTRY
 0x18 Guid
offsets ETW_REG_ENTRY
 0x20 GuidEntry
";

#[test]
fn equal_facts_are_combined() {
    let snapshots = images::read(TABLE, &Wanted::All).unwrap();
    assert_eq!(snapshots.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), REDUCED);
    assert_eq!(read(TABLE.replace('\n', "\r\n").as_bytes(), &Wanted::All), Ok(Symbols::Images(snapshots)));
    // The structure in which they differ is not selected here.
    let wanted = images::read(TABLE, &["ETW_REG_ENTRY"].into_iter().collect()).unwrap();
    assert_eq!(wanted.iter().map(|snapshot| snapshot.kernels.len()).collect::<Vec<_>>(), [3, 1]);
    assert!(wanted.iter().all(|snapshot| snapshot.offsets.keys().eq(["ETW_REG_ENTRY"])));
}

/// A table that identifies images by build and architecture, and has variables. The architecture of the first of three rows
/// differs.
const BY_BUILD: &str = "build\tarch\tEtwThreatIntProvRegHandle\tETW_REG_ENTRY.GuidEntry\tEtwpBootTime
10.0.14393.0\tarm64\t0\t20\t0x0
10.0.17763.1075\tx64\t35dac0\t0x20\t0
10.0.17763.107\tx64\t0x35DAC8\t020\t7
";

const BY_BUILD_REDUCED: &str = "etw-layouts-symbols 1
producer a table of kernel images by build and architecture
kernel 10.0.17763.1075 x64 -
 0x35dac0 EtwThreatIntProvRegHandle
kernel 10.0.17763.107 x64 -
 0x35dac8 EtwThreatIntProvRegHandle
offsets ETW_REG_ENTRY
 0x20 GuidEntry

etw-layouts-symbols 1
producer a table of kernel images by build and architecture
kernel 10.0.14393.0 arm64 -
offsets ETW_REG_ENTRY
 0x20 GuidEntry
";

#[test]
fn images_by_build_with_addresses() {
    let wanted = ["ETW_REG_ENTRY", "EtwThreatIntProvRegHandle"].into_iter().collect();
    let snapshots = images::read(BY_BUILD, &wanted).unwrap();
    assert_eq!(snapshots.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), BY_BUILD_REDUCED);
    assert_eq!(read(BY_BUILD.as_bytes(), &wanted), Ok(Symbols::Images(snapshots)));
    // Variables are kept only if they are selected by name, also in a table that identifies images by file.
    assert!(images::read(BY_BUILD, &Wanted::All).unwrap().iter().all(|s| s.kernels.iter().all(|k| k.globals.is_empty())));
    let named = images::read(&TABLE.replace("ETW_GUID_ENTRY.Guid", "Variable"), &["Variable"].into_iter().collect()).unwrap();
    let (image, at) = (&named[0].kernels[0].image, named[0].kernels[0].globals.get("Variable"));
    assert!(image.is_some() && at == Some(&0x18) && named[0].producer == images::PRODUCER, "{named:?}");
}

#[test]
fn errors_name_the_place() {
    let row = |row: &str| format!("{HEAD}\tA.B\n{row}\n");
    let good = "ntoskrnl.exe\t10.0.16299.15\tarm64\t0x59cda103\t0x008cc000\t0x0018";
    let cases = [
        (String::new(), 1, Some(1), "expected `file`"),
        (HEAD.replace("arch", "machine") + "\tA.B", 1, Some(3), "expected `arch`"),
        (HEAD.to_owned(), 1, None, "expected 1 to 64 members"),
        (HEAD.to_owned() + &"\tA.B".repeat(65), 1, None, "expected 1 to 64 members"),
        (HEAD.to_owned() + "\t7A", 1, Some(6), "expected STRUCTURE.MEMBER or VARIABLE, not `7A`"),
        (HEAD.to_owned() + "\tA.B\tA.u.C", 1, Some(7), "expected STRUCTURE.MEMBER or VARIABLE, not `A.u.C`"),
        (HEAD.to_owned() + "\tA\tA", 1, Some(7), "duplicate column `A`"),
        ("build\tmachine\tA".to_owned(), 1, Some(2), "expected `arch`"),
        ("build\tarch".to_owned(), 1, None, "expected 1 to 64 members or variables after `build arch`"),
        ("build\tarch\tA\n10.0.1.1\tx64\n".to_owned(), 2, None, "expected 3 columns"),
        ("build\tarch\tA\n10.0.1\tx64\t1\n".to_owned(), 2, Some(1), "`10.0.1` is not a version such"),
        ("build\tarch\tA\n10.0.1.1\tarm\t1\n".to_owned(), 2, Some(2), "`arm` is not a known architecture"),
        ("build\tarch\tA\n10.0.1.1\tx64\t\n".to_owned(), 2, Some(3), "`` is not a hexadecimal number"),
        ("build\tarch\tA\n10.0.1.1\tx64\t0x1g\n".to_owned(), 2, Some(3), "`0x1g` is not a hexadecimal number"),
        ("build\tarch\tA\n10.0.1.1\tx64\t1\n10.0.01.1\tx64\t2\n".to_owned(), 3, None, "duplicate of the image in line 2"),
        (HEAD.to_owned() + "\tA.B\tA.B", 1, Some(7), "duplicate column `A.B`"),
        (HEAD.to_owned() + "\tA.B", 2, None, "table has no images"),
        (row(""), 2, None, "expected 6 columns"),
        (row(&format!("{good}\t0x1")), 2, None, "expected 6 columns"),
        (row(&good.replace("ntoskrnl", "..\\ntoskrnl")), 2, Some(1), "`..\\\\ntoskrnl.exe` is not a file name"),
        (row(&good.replace("0.16299", "0")), 2, Some(2), "`10.0.15` is not a version such"),
        (row(&good.replace("arm64", "arm")), 2, Some(3), "`arm` is not a known architecture"),
        (row(&good.replace("0x59cda103", "1506648323")), 2, Some(4), "`1506648323` is not a number"),
        (row(&good.replace("0x008cc000", "0x1008cc0000")), 2, Some(5), "`0x1008cc0000` is not a number"),
        (row(&good.replace("0x0018", "-0x18")), 2, Some(6), "`-0x18` is not a hexadecimal number"),
        (row(&good.replace("0x0018", &"\u{1b}".repeat(100))), 2, Some(6), "`\\u{1b}"),
        (row(&format!("{good}\n{}", good.replace("0x0018", "0x0028"))), 3, None, "duplicate of the image in line 2"),
    ];
    for (text, line, column, reason) in cases {
        let error = images::read(&text, &Wanted::All).expect_err(&text);
        assert_eq!((error.line, error.column), (line, column), "{error}\n{text}");
        assert!(error.reason.starts_with(reason), "{error}\n{text}");
        assert!(error.to_string().len() < 400 && error.to_string().ends_with("; correct the line, or download the table again"));
    }
    let many: String = (0..=images::MAX_IMAGES).map(|n| good.replace("0x59cda103", &format!("{n:#x}")) + "\n").collect();
    let error = images::read(&row(&many), &Wanted::All).unwrap_err();
    assert_eq!((error.line, &error.reason[..]), (images::MAX_IMAGES + 2, "more than 65536 images"));
}

/// Only facts that a table states are compared. All others are neither equal nor different.
#[test]
fn only_stated_facts_are_compared() {
    let ours: etw_layouts_symbols::Snapshot = "etw-layouts-symbols 1\nproducer us\nkernel 10.0.1.1 x64 -\nenum E i4\n 0 Guid\nstruct ETW_GUID_ENTRY 0x190\n 0x10 RefCount i8\n 0x18 Guid .GUID\n"
        .parse()
        .unwrap();
    let compared = |table: &str| {
        let snapshots = images::read(&format!("{HEAD}\t{table}"), &Wanted::All).unwrap();
        let reports = compare_offsets(&ours.types, &snapshots[0].offsets);
        let lines = |report: &etw_layouts_symbols::StructureReport| {
            report.differences.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        reports.iter().map(|report| (report.name.clone(), report.equal, lines(report))).collect::<Vec<_>>()
    };
    let row = "\nntoskrnl.exe\t10.0.1.1\tx64\t0x1\t0x1\t";
    assert_eq!(compared(&format!("ETW_GUID_ENTRY.Guid\tOTHER.Guid{row}0x18\t0x0")), [("ETW_GUID_ENTRY".into(), 1, vec![])]);
    let differs =
        ["Guid offset: the spec has 0x18, the symbols have 0x28", "Lock extra: the spec has none, the symbols have 0x8"];
    let differs = differs.map(str::to_owned).to_vec();
    assert_eq!(
        compared(&format!("ETW_GUID_ENTRY.Guid\tETW_GUID_ENTRY.Lock\tETW_GUID_ENTRY.RefCount{row}0x28\t0x8\t0x10")),
        [("ETW_GUID_ENTRY".into(), 1, differs)]
    );
    assert_eq!(compared(&format!("E.Guid{row}0x0"))[0].1, 0);
}
