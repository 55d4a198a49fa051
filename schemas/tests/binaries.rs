//! Compiled providers: generated resources, and resources in a file from a linker.

use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use etw_layouts_schemas::{
    Count, Event, Field, Keyword, Length, Map, MapEntry, Messages, Name, Provider, Schemas, binary, manifest, wevt,
};
use fastrand::Rng;
use test_support::folder::Folder;
use test_support::installed::{self, Program};
use test_support::wevt as kit;

/// A provider with all kinds of parts, except those that a binary does not contain.
fn provider(random: &mut Rng) -> Provider {
    let mut text = |most: usize| -> String {
        (0..random.usize(1..=most)).map(|_| random.choice(['a', 'B', '7', 'ß', '語']).unwrap()).collect()
    };
    let maps = (0..3)
        .map(|number| Map {
            name: format!("Map{number}{}", text(5)),
            kind: if number == 1 { MapKind::Flags } else { MapKind::Enumeration },
            entries: (0..number * 4).map(|value| MapEntry { value: 1 << value, name: text(9) }).collect(),
        })
        .collect();
    let keywords: Vec<_> = (0..5).map(|bit| Keyword { mask: Some(1 << (bit * 13)), name: format!("Keyword{bit}") }).collect();
    let names: Vec<_> = (0..40).map(|value| Name { value: Some(value), name: text(12) }).collect();
    let messages: Vec<_> = (0..9).map(|number| format!("Message {number} %1 {}", text(40))).collect();
    let events = (0..random.u16(1..30))
        .map(|id| {
            let mut name =
                || if random.bool() { names[random.usize(1..40)].clone() } else { Name { value: Some(0), name: String::new() } };
            let (channel, level, opcode, task) = (name(), name(), name(), name());
            // An opcode of several tasks needs an entry for each task, but the generator writes only one.
            let opcode = if task.name.is_empty() { opcode } else { Name { value: Some(0), name: String::new() } };
            let keywords: Vec<_> = keywords.iter().filter(|_| random.bool()).collect();
            Event {
                id,
                version: random.u8(..),
                channel,
                level,
                opcode: Name { name: if opcode.value == Some(0) { String::new() } else { opcode.name }, ..opcode },
                task,
                keyword_mask: Some(keywords.iter().filter_map(|keyword| keyword.mask).sum()),
                keywords: keywords.iter().map(|keyword| keyword.name.clone()).collect(),
                symbol: String::new(),
                message: if random.bool() { random.choice(&messages).unwrap().clone() } else { String::new() },
                is_classic: false,
                fields: Some(fields(random, 0, &mut 0)),
            }
        })
        .collect();
    Provider {
        guid: Uuid::from_u128(random.u128(..)),
        name: "Kit-Provider".to_owned(),
        message: "Kit".to_owned(),
        keywords,
        maps,
        events,
    }
}

fn fields(random: &mut Rng, depth: usize, number: &mut usize) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for _ in 0..random.usize(0..8) {
        *number += 1;
        let earlier = fields.iter().rev().find(|field| field.members.is_empty()).map(|field| field.name.clone());
        let mut field = Field::new(format!("Field{number}"), InType(random.u16(1..24)));
        if depth < 3 && random.u8(..5) == 0 {
            field.in_type = InType::STRUCT;
            field.members = self::fields(random, depth + 1, number);
        } else {
            field.out_type = OutType(random.u16(1..39));
            field.map = random.bool().then(|| random.usize(..3));
        }
        field.count = match (random.u8(..4), &earlier) {
            (0, _) => Count::Constant(random.u16(..)),
            (1, Some(name)) => Count::Field(name.clone().into()),
            _ => Count::One,
        };
        field.length = match (random.u8(..4), &earlier) {
            (0, _) => Length::Constant(random.u16(..)),
            (1, Some(name)) => Length::Field(name.clone().into()),
            _ => Length::Type,
        };
        fields.push(field);
    }
    fields
}

#[test]
fn compiled_providers_are_read_back() {
    let mut random = Rng::with_seed(23);
    let (mut events, mut fields) = (0, 0);
    for _ in 0..200 {
        let providers: Vec<_> = (0..random.usize(1..4)).map(|_| provider(&mut random)).collect();
        let (resource, table) = kit::compile(&providers);
        let table = kit::table(&table);
        // The messages are in the file, in the language file, or in both.
        let (with, without) = (kit::image(Some(&resource), Some(&table)), kit::image(Some(&resource), None));
        let language = kit::image(None, Some(&table));
        for schemas in [binary::read(&with, &[]), binary::read(&without, &[&language]), binary::read(&with, &[&language])] {
            let schemas = schemas.unwrap();
            assert_eq!(schemas.errors, []);
            assert_eq!(schemas.providers, providers);
        }
        events += providers.iter().map(|provider| provider.events.len()).sum::<usize>();
        fields +=
            providers.iter().flat_map(|provider| &provider.events).flat_map(|event| &event.fields).map(Vec::len).sum::<usize>();
    }
    println!("{events} events, {fields} fields");
    assert!(events > 3000 && fields > 8000);
}

/// A manifest without the parts that a binary does not contain.
fn kinds() -> Schemas {
    let mut schemas = manifest::read(include_bytes!("manifests/kinds.man")).unwrap();
    schemas.providers.iter_mut().flat_map(|provider| &mut provider.events).for_each(|event| {
        event.symbol.clear();
        // Windows defines this keyword. The generator writes only keywords of the provider.
        event.keywords.retain(|keyword| keyword != "ResponseTime");
    });
    schemas
}

#[test]
fn manifest_and_binary_are_equal() {
    let schemas = kinds();
    let (resource, table) = kit::compile(&schemas.providers);
    let mut messages = Messages::default();
    messages.add(kit::table(&table)).unwrap();
    assert_eq!(messages.len(), table.len());
    assert_eq!(wevt::read(&resource, &messages), Ok(schemas));
}

/// A file with headers and a resource directory written by LLVM.
#[test]
fn linked_by_llvm() {
    let (Some(compiler), Some(linker)) = (installed::program("llvm-rc"), installed::program("lld-link")) else { return };
    let schemas = kinds();
    let (resource, table) = kit::compile(&schemas.providers);
    let folder = Folder::new("linked-by-llvm");
    folder.file("wevt.bin", &resource);
    folder.file("messages.bin", kit::table(&table));
    let script = "1 WEVT_TEMPLATE \"wevt.bin\"\n1 11 \"messages.bin\"\n1 VERSIONINFO\nFILEVERSION 1,2,3,4\nBEGIN\nEND\n2 24 \"wevt.bin\"\n";
    folder.file("example.rc", script);
    let run = |program: &Program, arguments: &[&str]| {
        let output = program.command().args(arguments).current_dir(&folder.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&compiler, &["/FO", "example.res", "example.rc"]);
    for machine in ["x64", "x86"] {
        run(&linker, &["/dll", "/noentry", &format!("/machine:{machine}"), "/out:example.dll", "example.res"]);
        let read = binary::read(&std::fs::read(folder.0.join("example.dll")).unwrap(), &[]).unwrap();
        assert_eq!(read, schemas);
    }
}
