//! Tasks of readers on the page of a structure, in a browser: questions about members at a build.

use crate::atlas::specs;
use crate::atlas_browser::Atlas;
use etw_layouts_codegen::axis::Arch;
use etw_layouts_project::Choice;
use etw_layouts_project::members::members;
use serde_json::{Value, json};

/// Enters a build and a member or an offset on the page of a structure.
const ASK: &str = "const ask = async (build, member) => {
    document.getElementById('ask-build').value = build;
    document.getElementById('ask-member').value = member;
    const answer = document.getElementById('ask-answer');
    answer.textContent = '';
    document.getElementById('ask-form').requestSubmit();
    await until(() => answer.textContent);
    return answer.textContent;
};";

#[test]
fn readers_can_ask_for_members_in_a_browser() {
    let Some(atlas) = Atlas::open() else { return };
    atlas.an_offset_at_a_build();
    atlas.an_ambiguous_label();
    atlas.when_a_member_moved();
    atlas.a_declaration_to_copy();
    atlas.a_link_to_a_member();
    atlas.confidence_is_that_of_the_library();
}

impl Atlas {
    /// A build has several names. The address follows the selection.
    fn an_offset_at_a_build(&self) {
        let script = format!(
            "{ASK} const said = [];
            for (const build of ['1703', '15063', '10.0.15063-x64', 'KB4016251']) said.push(await ask(build, '0x398'));
            said.push(await ask('5.1.2600', 'LoggerMode'), await ask('19041.1415-x64', 'loggermode'), location.hash);
            for (const build of ['21H2', 'vista', '10-22H2', '1.2.3']) said.push(await ask(build, ''));
            return said;"
        );
        let said = self.run("type/WMI_LOGGER_CONTEXT.html", &script);
        let said: Vec<&str> = said.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (layouts, _) = specs();
        let target = layouts.spec.axis.find("1703-x64").expect("a target").target;
        let rows = members(layouts, "WMI_LOGGER_CONTEXT", target);
        let own = |row: &&_| matches!(row, etw_layouts_project::members::Member { offset, size, .. } if (*offset..offset + size).contains(&0x398));
        let row = rows.iter().find(own).expect("something at that offset");
        let start = format!("{} {:#06x}", row.path.as_deref().unwrap_or("padding"), row.offset);
        for (answer, build) in said[..4].iter().zip(["10.0.15063-x64", "10.0.15063-x64", "10.0.15063-x64", "10.0.15063."]) {
            assert!(answer.starts_with(&start) && answer.contains(build), "{answer}; {start}");
        }
        assert!(said[4].starts_with("LoggerMode 0x00c8, ULONG at 5.1.2600-x86: inferred from "), "{}", said[4]);
        assert!(
            said[5].starts_with("LoggerMode 0x000c, ULONG at 10.0.19041.1415-x64: verified against the symbols"),
            "{}",
            said[5]
        );
        assert_eq!(said[6], "#build=19041.1415-x64&member=loggermode");
        let starts = [
            "ambiguous release `21H2`; write `10-21H2` or `11-21H2`",
            "6.0.6000.16386-x64: ",
            "10.0.19045.2130-x64: ",
            "unknown build 1.2.3 for x64;",
        ];
        for (answer, start) in said[7..].iter().zip(starts) {
            assert!(answer.starts_with(start), "{answer}");
        }
    }

    /// An ambiguous label asks which release is meant, and leaves no layout of another build.
    fn an_ambiguous_label(&self) {
        let script = format!(
            "{ASK} const said = [await ask('19041.1415', ''), await ask('22H2', '')], now = document.querySelector('.panel.x64 .now');
            said.push(getComputedStyle(now).display);
            document.querySelector('#ask-answer button').click();
            await until(() => getComputedStyle(now).display !== 'none');
            said.push(document.getElementById('ask-build').value, getComputedStyle(now).display === 'none', now.querySelector('.which').textContent);
            return said;"
        );
        let said = self.run("type/WMI_LOGGER_CONTEXT.html", &script);
        assert!(
            said[1].as_str().is_some_and(|text| text.starts_with("ambiguous release `22H2`; write `10-22H2` or `11-22H2`")),
            "{said}"
        );
        assert_eq!((&said[2], &said[3], &said[4]), (&json!("none"), &json!("10-22H2"), &json!(false)), "{said}");
        assert!(said[5].as_str().is_some_and(|text| text.contains("19045")), "{said}");
        let compared = self.run(
            "compare.html#a=22H2&b=1709",
            "await until(() => document.getElementById('way').textContent); return [document.getElementById('way').textContent, document.querySelectorAll('#tables section').length];",
        );
        assert!(
            compared[0].as_str().is_some_and(|text| text.starts_with("ambiguous release `22H2`")) && compared[1] == 0,
            "{compared}"
        );
    }

    fn when_a_member_moved(&self) {
        let said = self.run(
            "type/WMI_LOGGER_CONTEXT.html",
            "document.querySelector('.panel.x64 .now a[href=\"#RelativeTimerDueTime\"], .panel.x64 .now a[href=\"#LoggerStatus\"]').click();
            await until(() => document.querySelector('#ask-answer li'));
            return [...document.querySelectorAll('#ask-answer li')].map((item) => item.textContent);",
        );
        let first = said[0].as_str().unwrap_or_default();
        let end = ": moved since 10.0.20348.";
        assert!(first.starts_with("0x0028 NTSTATUS, Windows 11 version 21H2 (22000.1) to ") && first.contains(end), "{said}");
        assert!(first.ends_with(", the first build of the previous release"), "{said}");
        let update = said.as_array().into_iter().flatten().filter_map(Value::as_str).any(|line| line.contains(", KB"));
        let by_update = self.run(
            "type/WMI_LOGGER_CONTEXT.html#PeriodicCaptureStateContext",
            "await until(() => document.getElementById('ask-answer').textContent); return document.getElementById('ask-answer').textContent;",
        );
        assert!(update || by_update.as_str().is_some_and(|text| text.contains(", KB")), "no update is named: {said} {by_update}");
    }

    fn a_declaration_to_copy(&self) {
        let script = "const [own, whole] = document.querySelectorAll('.panel.x64 .copy');
            own.click(); whole.click();
            await until(() => own.dataset.copied && whole.dataset.copied);
            return [own.dataset.copied, whole.dataset.copied, document.querySelector('.panel.x64 pre.code').textContent];";
        let copied = self.run("type/ETW_GUID_ENTRY.html", script);
        assert_eq!(copied[0], copied[2]);
        let text = copied[0].as_str().unwrap_or_default();
        assert!(text.starts_with("typedef struct _ETW_GUID_ENTRY {\n/* 0x000 */     LIST_ENTRY GuidList;\n"), "{text}");
        let whole = copied[1].as_str().unwrap_or_default();
        let places =
            ["typedef struct _LIST_ENTRY {", "} LIST_ENTRY;", "typedef struct _ETW_GUID_ENTRY {"].map(|part| whole.find(part));
        assert!(places.iter().all(Option::is_some) && places.is_sorted() && whole.contains(text), "{places:?}\n{whole}");
    }

    fn a_link_to_a_member(&self) {
        let script = "await until(() => document.querySelector('.panel.x86 .now tr.hit') && document.getElementById('ask-answer').textContent);
            const row = document.querySelector('.panel.x86 .now tr.hit'), at = row.getBoundingClientRect();
            return [document.getElementById('ask-answer').textContent, row.cells[0].textContent, document.querySelector('[name=arch]:checked').className,
                at.top >= 0 && at.bottom <= innerHeight];";
        let said = self.run("type/WMI_LOGGER_CONTEXT.html#build=14393&arch=x86&member=LoggerMode", script);
        assert!(said[0].as_str().is_some_and(|text| text.starts_with("LoggerMode 0x000c, ULONG at 10.0.14393-x86: ")), "{said}");
        assert_eq!((&said[1], &said[2], &said[3]), (&json!("0x000c"), &json!("x86"), &json!(true)));
        // The history of an architecture has its own address, and the switches change the address.
        let script = "const isPast = () => document.querySelector('.panel.x86 .past').checkVisibility();
            await until(isPast);
            const isSeen = isPast(), before = location.hash;
            document.getElementById('view-layout').click();
            await until(() => location.hash !== before);
            return [isSeen, before, location.hash];";
        let said = self.run("type/WMI_LOGGER_CONTEXT.html#arch=x86&view=history", script);
        assert_eq!(said, json!([true, "#arch=x86&view=history", "#arch=x86"]));
        // A member that the newest build lacks.
        let gone = self.run(
            "type/WMI_LOGGER_CONTEXT.html#BufferSpinLock",
            "await until(() => document.getElementById('ask-answer').textContent); return document.getElementById('ask-answer').textContent;",
        );
        assert!(
            gone.as_str().is_some_and(|text| text.starts_with("BufferSpinLock does not exist at this build at 10.0.28000")),
            "{gone}"
        );
    }

    /// The script shows the same sentences as the library.
    fn confidence_is_that_of_the_library(&self) {
        let (layouts, registry) = specs();
        let axis = &layouts.spec.axis;
        let builds = "10.0.19041.985 10.0.19041.1415 10.0.19045.1415 10.0.19045.5011 10.0.19041.1466 10.0.22000.400 10.0.22621.3000 10.0.26100.1742 \
            10.0.17763.2000 10.0.17763.2452 10.0.14393.5000 6.1.7601.20000 6.1.7601.24100 6.3.9600.17415 10.0.20348.300 10.0.10240.18000";
        let builds: Vec<&str> = builds.split(' ').collect();
        for name in ["WMI_LOGGER_CONTEXT", "ETW_REG_ENTRY", "WMI_BUFFER_HEADER", "EVENT_HEADER"] {
            let script = format!(
                "{ASK} const said = []; for (const build of {}) said.push(await ask(build + '-x64', '')); return said;",
                json!(builds)
            );
            let said = self.run(&format!("type/{name}.html"), &script);
            for (index, build) in builds.iter().enumerate() {
                let choice = Choice::of(layouts, registry, axis.find_build(build, Arch::X64).expect("a build"), Some(name));
                let text = said[index].as_str().and_then(|text| text.split_once(": ")).map_or("", |(_, said)| said);
                assert_eq!(text, choice.sentence(axis), "{name} at {build}");
            }
        }
    }
}
