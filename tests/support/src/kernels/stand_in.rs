//! Layouts of structures that a kernel has, and the specs do not.

use etw_layouts::runtime::meta::{Layout, Member, Members, Type};
use etw_layouts::{Arch, Build, structures};

static NONE: Members = Members { name: "", names: &[] };

/// The consumers of 6.0, whose symbols do not hold them: the members that are known by name, in their order, and not at their places.
pub fn layouts(build: Build, arch: Arch) -> Vec<&'static Layout> {
    const CONSUMER: &str = "ETW_REALTIME_CONSUMER";
    let consumer = structures::ALL.iter().find(|structure| structure.name == CONSUMER);
    let is_known = consumer.is_some_and(|consumer| consumer.select(build, arch).is_ok());
    let Ok(list) = structures::LIST_ENTRY.select(build, arch) else { return Vec::new() };
    if is_known || build.number < [6, 0, 0] {
        return Vec::new();
    }
    let links = list.layout.size;
    let member = |name, offset, size, ty| Member { name, offset, size, bits: None, c: "", ty };
    let members = vec![
        member("Links", 0, links, Type::Layout(list.layout)),
        member("BuffersLost", links, 4, Type::Unsigned),
        member("EmptyBuffersCount", links + 4, 4, Type::Unsigned),
    ];
    let members = Vec::leak(members);
    let layout = Layout { name: CONSUMER, size: links + 8, align: links / 2, members, of: &NONE, places: &[] };
    vec![Box::leak(Box::new(layout))]
}
