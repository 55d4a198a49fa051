//! Providers, their registrations, and a group.

use super::put::{Provider, Registration};
use super::{Kit, module};

/// Makes providers with registrations of the kernel and of processes. If the kernel has groups, one provider is in a group, and
/// the group is the last element.
pub fn providers(kit: &mut Kit) -> Vec<Provider> {
    const ENTRY: &str = "ETW_GUID_ENTRY";
    const REGISTRATION: &str = "ETW_REG_ENTRY";
    if kit.layout(ENTRY).is_none() {
        return Vec::new();
    }
    let group = kit.place(REGISTRATION, 0, "GroupRegList").is_some().then(|| kit.make(ENTRY));
    let group_guid = core::array::from_fn(|byte| byte as u8 ^ 0xE7);
    const SLOT: u32 = 3;
    let has_last = kit.place(ENTRY, 0, "LastEnable").is_some();
    let mut providers = Vec::new();
    for index in 0..5_u8 {
        let guid: [u8; 16] =
            core::array::from_fn(|byte| (byte as u8).wrapping_mul(37).wrapping_add(index.wrapping_mul(91)) ^ 0x5C);
        let at = kit.make(ENTRY);
        let enabled: Vec<(u32, u32, u8, u64)> = match index {
            0 => vec![(0, 5, 4, 0x8000_0000_0000_0001), (2, 2, 255, u64::MAX), (7, 31, 1, 2)],
            1 => vec![(1, 31, 5, 0)],
            _ => Vec::new(),
        };
        let mask = enabled.iter().fold(0, |mask, (slot, ..)| mask | 1 << slot);
        let registrations: Vec<Registration> = (0..index)
            .map(|number| {
                let at = kit.make(REGISTRATION);
                let callback = module(kit.arch).0 + 0x2000 + u64::from(number) * 16;
                let owner = if number % 2 == 0 { Ok(kit.room(0x10, 16)) } else { Err(callback) };
                let mask = if number == 0 { mask } else { 0 };
                let group = group.filter(|_| index == 3);
                let group_mask = kit.place(REGISTRATION, at, "GroupEnableMask").map(|_| u64::from(group.is_some()) << SLOT);
                let has_traits = kit.layout("ETW_PROVIDER_TRAITS").is_some() && number == 0;
                let traits = has_traits.then(|| (format!("Provider.{index}"), group.map(|_| group_guid)));
                Registration { at, owner, mask, group, group_mask, traits }
            })
            .collect();
        // The second provider has an empty LastEnable.
        let has_last = has_last && index != 1;
        let last = has_last.then_some((index % 2 == 0, 31, 5, 0x8000_0000_0000_0010 | u64::from(index)));
        providers.push(Provider { at, guid, kind: 0, bucket: bucket(&guid), enabled, last, registrations });
    }
    if let Some(at) = group {
        let (guid, last, registrations) = (group_guid, Some((true, 5, 4, 1)), Vec::new());
        providers.push(Provider {
            at,
            guid,
            kind: 2,
            bucket: bucket(&guid),
            enabled: vec![(SLOT, 5, 4, 1)],
            last,
            registrations,
        });
    }
    providers.iter().for_each(|provider| write_provider(kit, provider));
    providers
}

/// The low six bits of the words of a GUID, combined by exclusive or.
fn bucket(guid: &[u8; 16]) -> u32 {
    let low = |word: usize| u32::from(guid[word * 4]);
    (low(0) ^ low(1) ^ low(2) ^ low(3)) & 0x3F
}

/// The traits of a provider: their size, its name, and its group as a trait of type 1.
fn traits(kit: &mut Kit, name: &str, group: Option<&[u8; 16]>) -> u64 {
    const TRAITS: &str = "ETW_PROVIDER_TRAITS";
    let mut bytes = [&[0; 2], name.as_bytes(), &[0]].concat();
    if let Some(group) = group {
        bytes.extend([19, 0, 1]);
        bytes.extend(group);
    }
    let size = u16::try_from(bytes.len()).unwrap();
    bytes[..2].copy_from_slice(&size.to_le_bytes());
    let start = kit.place(TRAITS, 0, "Traits").unwrap();
    let at = kit.room(start as usize + bytes.len(), 16);
    kit.write(at + start, &bytes);
    at
}

fn write_provider(kit: &mut Kit, provider: &Provider) {
    const ENTRY: &str = "ETW_GUID_ENTRY";
    const REGISTRATION: &str = "ETW_REG_ENTRY";
    let guid = kit.place(ENTRY, provider.at, "Guid").unwrap();
    kit.write(guid, &provider.guid);
    let slots = kit.place(ENTRY, provider.at, "EnableInfo").unwrap();
    let (size, count) = kit.elements(ENTRY, "EnableInfo").unwrap();
    for &(slot, session, level, any) in &provider.enabled {
        assert!((slot as usize) < count);
        let at = slots + u64::from(slot) * size as u64;
        for (member, value) in [
            ("IsEnabled", 1),
            ("Level", level.into()),
            ("LoggerId", session.into()),
            ("MatchAnyKeyword", any),
            ("MatchAllKeyword", 3),
        ] {
            assert!(kit.set("TRACE_ENABLE_INFO", at, member, value));
        }
    }
    kit.set(ENTRY, provider.at, "ProviderEnableInfo.IsEnabled", u64::from(!provider.enabled.is_empty()));
    if let Some((enabled, session, level, flags)) = provider.last {
        let values =
            [("EnableFlags.QuadPart", flags), ("LoggerId", session), ("Level", level.into()), ("Enabled", enabled.into())];
        for (member, value) in values {
            assert!(kit.set(ENTRY, provider.at, &format!("LastEnable.{member}"), value));
        }
    }
    for registration in &provider.registrations {
        let at = registration.at;
        assert!(kit.set(REGISTRATION, at, "GuidEntry", provider.at));
        match registration.owner {
            Ok(process) => {
                kit.set(REGISTRATION, at, "Process", process);
                // Before 6.2 it is a flag. The number is from the published reference.
                let named = kit.set(REGISTRATION, at, "DbgUserRegistration", 1);
                assert!(named || kit.set(REGISTRATION, at, "Flags", 0x2002));
            }
            Err(callback) => {
                kit.set(REGISTRATION, at, "Callback", callback);
                kit.set(REGISTRATION, at, "CallbackContext", 0x77);
                let named = kit.set(REGISTRATION, at, "DbgKernelRegistration", 1);
                assert!(named || kit.set(REGISTRATION, at, "Flags", 0x2001));
            }
        }
        kit.set(REGISTRATION, at, "EnableMask", registration.mask);
        kit.set(REGISTRATION, at, "GroupEntry", registration.group.unwrap_or(0));
        kit.set(REGISTRATION, at, "GroupEnableMask", registration.group_mask.unwrap_or(0));
        if let Some((name, group)) = &registration.traits {
            let traits = traits(kit, name, group.as_ref());
            assert!(kit.set(REGISTRATION, at, "Traits", traits));
        }
    }
    let head = kit.place(ENTRY, provider.at, "RegListHead").unwrap();
    let links: Vec<u64> = provider.registrations.iter().map(|one| kit.place(REGISTRATION, one.at, "RegList").unwrap()).collect();
    if provider.kind == 0 {
        kit.double(head, &links);
    }
    let members: Vec<u64> = provider.registrations.iter().filter(|one| one.group.is_some()).map(|one| one.at).collect();
    if let Some(group) = provider.registrations.iter().find_map(|one| one.group) {
        let head = kit.place(ENTRY, group, "RegListHead").unwrap();
        let links: Vec<u64> = members.iter().map(|at| kit.place(REGISTRATION, *at, "GroupRegList").unwrap()).collect();
        kit.double(head, &links);
    }
}
