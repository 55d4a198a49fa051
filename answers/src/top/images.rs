//! Images that were loaded.

use super::key::{Key, KeyValue, Subject};
use super::sums::{Amounts, Sums, number};
use etw_layouts_trace::etl::Uuid;
use etw_layouts_trace::kernel::{TypedEvent, image::Load};
use etw_layouts_trace::providers::KERNEL_PROCESS;
use etw_layouts_trace::{Error, Event, EventKind};

/// Loads; images that were loaded before the trace are not counted.
pub struct Loads;

const IMAGE: Uuid = <Load>::CLASS;

impl<'t> Amounts<'t> for Loads {
    fn add(&mut self, event: &Event<'t>, kind: EventKind, sums: &mut Sums<'t, '_>) -> Result<(), Error> {
        if !matches!(kind, (IMAGE, 10) | (KERNEL_PROCESS, 5)) {
            return Ok(());
        }
        let Some(decoded) = event.decode() else { return Ok(()) };
        sums.count_relevant(event);
        // The event is about the process with the image. Without one, as in version 0, it is that of the header.
        let who = event.who();
        let party = if who.about.process.is_some() { who.about } else { who.by };
        let path = ["FileName", "ImageFileName", "ImageName"].iter().find_map(|name| decoded.get(name));
        let path = path.map_or(KeyValue::Unknown, |path| KeyValue::text(&*event.session().user_path(&path.to_string())));
        let bytes = number(&decoded, &["ImageSize", "ModuleSize"]).unwrap_or_default();
        sums.add(&Subject::of(event, party).with(Key::File, path), &[1, bytes])?;
        Ok(())
    }
}
