//! Each event is searched for once in the libraries.

use super::found::FoundEvents;
use etw_layouts_payload::Uuid;
use etw_layouts_payload::packed::EventKey;

/// If there are far fewer events than slots, nearly all are searched for once. If there are more, each lookup still gives its own event.
#[test]
fn found_events() {
    for (count, hits) in [(4_096, 4_060..=4_096), (16_384, 8_000..=8_192)] {
        let mut random = fastrand::Rng::with_seed(8);
        let providers: Vec<_> = (0..count / 64).map(|_| Uuid::from_u128(random.u128(..))).collect();
        let events: Vec<_> =
            providers.iter().flat_map(|provider| (0..64).map(|id| (*provider, EventKey::from_id(id, 0)))).collect();
        let found = FoundEvents::default();
        let searched = |provider, key| {
            let mut searched = false;
            let _ = found.get(provider, key, || {
                searched = true;
                None
            });
            searched
        };
        assert!(events.iter().all(|(provider, key)| searched(*provider, *key)), "the first lookup of an event does not search");
        let known = events.iter().filter(|(provider, key)| !searched(*provider, *key)).count();
        assert!(hits.contains(&known), "{known} of {count}");
        assert_eq!(format!("{found:?}"), format!("FoundEvents({known})"));
    }
}
