//! Every kind of difference, every rule, and the counting of facts.

use etw_layouts_symbols::compare::{DifferenceKind, Status};
use etw_layouts_symbols::{Rule, Rules, StructureReport, compare};
use serde_json::{Value, json};
use test_support::isf::{array, bits, changed, named, pointer, read, table};

/// Compares the types of the fixture with those of the fixture after changes.
fn against(changes: &[(&str, Value)], rules: Rules) -> Vec<StructureReport> {
    let ours = read(&table()).unwrap().types;
    let theirs = read(&changed(changes)).unwrap().types;
    compare(&ours, &theirs, rules)
}

/// The differences as text, each after the name of its type.
fn differences(reports: &[StructureReport]) -> Vec<String> {
    let lines = |report: &StructureReport| {
        let name = report.name.clone();
        report.differences.iter().map(move |difference| format!("{name} {difference}")).collect::<Vec<_>>()
    };
    reports.iter().flat_map(lines).collect()
}

fn equal(reports: &[StructureReport]) -> u64 {
    reports.iter().map(|report| report.equal).sum()
}

#[test]
fn a_table_agrees_with_itself() {
    let reports = against(&[], Rules::Faithful);
    let names: Vec<_> = reports.iter().map(|report| (report.name.as_str(), report.status, report.equal)).collect();
    let expected = [
        // The size, then offset and type of each member.
        ("LIST", Status::Equal, 1 + 4 * 2),
        // Also two bit fields, a union of two members with a structure of two in it, and an enumeration of one constant.
        ("LOGGER", Status::Equal, (1 + 20 * 2) + 2 + (1 + 2 * 2) + (1 + 2 * 2) + (1 + 1)),
        ("MODE", Status::Equal, 1 + 1),
        ("STATE", Status::Equal, 1 + 4),
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_kind_of_difference() {
    let ty = |member: &str| format!("/user_types/_LOGGER/fields/{member}/type");
    let u = "/user_types/__anonymous_10db";
    let s = "/user_types/__unnamed_3";
    let cases = [
        ("/user_types/_LOGGER/size".to_owned(), json!(0x98), "LOGGER size: the spec has 0x90, the symbols have 0x98"),
        ("/user_types/_LOGGER/kind".to_owned(), json!("union"), "LOGGER kind: the spec has struct, the symbols have union"),
        (
            "/user_types/_LOGGER/fields/Id".to_owned(),
            Value::Null,
            "LOGGER Id missing: the spec has unsigned long at offset 0x0, the symbols have none",
        ),
        (
            "/user_types/_LOGGER/fields/New".to_owned(),
            json!({"offset": 16, "type": pointer(pointer(named("base", "void")))}),
            "LOGGER New extra: the spec has none, the symbols have void ** at offset 0x10",
        ),
        ("/user_types/_LOGGER/fields/Id/offset".to_owned(), json!(2), "LOGGER Id offset: the spec has 0x0, the symbols have 0x2"),
        (
            ty("Id"),
            named("base", "unsigned short"),
            "LOGGER Id type: the spec has unsigned long, the symbols have unsigned short",
        ),
        (ty("Id"), named("base", "long"), "LOGGER Id type: the spec has unsigned long, the symbols have long"),
        (ty("Id"), named("base", "unsigned int"), "LOGGER Id type: the spec has unsigned long, the symbols have unsigned int"),
        (
            ty("Ratio"),
            named("base", "unsigned long long"),
            "LOGGER Ratio type: the spec has double, the symbols have unsigned long long",
        ),
        (
            ty("Thread"),
            pointer(named("struct", "_PROCESS")),
            "LOGGER Thread type: the spec has THREAD *, the symbols have PROCESS *",
        ),
        (ty("Thread"), pointer(named("base", "void")), "LOGGER Thread type: the spec has THREAD *, the symbols have void *"),
        (
            ty("Clock"),
            named("base", "unsigned long long"),
            "LOGGER Clock type: the spec has function *, the symbols have unsigned long long",
        ),
        (
            ty("Hidden"),
            pointer(named("struct", "_THREAD")),
            "LOGGER Hidden type: the spec has unnamed type *, the symbols have THREAD *",
        ),
        (
            ty("Grid"),
            array(2, array(8, named("base", "unsigned char"))),
            "LOGGER Grid type: the spec has unsigned char [2][4], the symbols have unsigned char [2][8]",
        ),
        (
            ty("Kind"),
            bits(0, 4, named("base", "unsigned long long")),
            "LOGGER Kind bits: the spec has unsigned long long : 3 at bit 0, the symbols have unsigned long long : 4 at bit 0",
        ),
        (
            ty("Kind"),
            bits(0, 3, named("base", "unsigned long")),
            "LOGGER Kind type: the spec has unsigned long long : 3 at bit 0, the symbols have unsigned long : 3 at bit 0",
        ),
        (
            ty("Kind"),
            named("base", "unsigned long long"),
            "LOGGER Kind type: the spec has unsigned long long : 3 at bit 0, the symbols have unsigned long long",
        ),
        (ty("State"), named("enum", "MODE"), "LOGGER State type: the spec has enum STATE, the symbols have enum MODE"),
        (ty("State"), named("base", "long"), "LOGGER State type: the spec has enum STATE, the symbols have long"),
        (format!("{u}/size"), json!(16), "LOGGER u size: the spec has 0x8, the symbols have 0x10"),
        (format!("{u}/kind"), json!("struct"), "LOGGER u type: the spec has unnamed union, the symbols have unnamed struct"),
        (format!("{u}/fields/s/offset"), json!(4), "LOGGER u.s offset: the spec has 0x0, the symbols have 0x4"),
        (
            "/enums/__unnamed_9/constants/Left".to_owned(),
            json!(7),
            "LOGGER Sides.Left constant: the spec has 1, the symbols have 7",
        ),
        (
            "/enums/_STATE/constants/StateFree".to_owned(),
            json!(5),
            "STATE StateFree constant: the spec has 0, the symbols have 5",
        ),
        (
            "/enums/_STATE/constants/StateLast".to_owned(),
            Value::Null,
            "STATE StateLast constant: the spec has 1, the symbols have none",
        ),
        (
            "/enums/_STATE/constants/StateNew".to_owned(),
            json!(1),
            "STATE StateNew constant: the spec has none, the symbols have 1",
        ),
        (
            "/enums/MODE/base".to_owned(),
            json!("int"),
            "MODE size: the spec has 4 bytes, unsigned, the symbols have 4 bytes, signed",
        ),
    ];
    for (place, value, expected) in cases {
        let reports = against(&[(&place, value)], Rules::Faithful);
        assert_eq!(differences(&reports), [expected], "{place}");
        assert!(reports.iter().all(|report| report.accepted.is_empty()));
        assert_eq!(reports.iter().filter(|report| report.status == Status::Differs).count(), 1, "{place}");
    }
    // An unnamed type that is used twice: its difference is reported at each place.
    let reports = against(&[(&format!("{s}/fields/Low/type"), named("base", "char"))], Rules::Faithful);
    let expected = [
        "LIST Low type: the spec has unsigned short, the symbols have char",
        "LOGGER u.s.Low type: the spec has unsigned short, the symbols have char",
    ];
    assert_eq!(differences(&reports), expected);
}

#[test]
fn types_of_another_kind_and_absent_ones() {
    let state = json!({"kind": "struct", "size": 4, "fields": {}});
    let reports =
        against(&[("/enums/_STATE", Value::Null), ("/user_types/_STATE", state), ("/enums/MODE", Value::Null)], Rules::Faithful);
    assert_eq!(differences(&reports), ["STATE kind: the spec has enum, the symbols have struct"]);
    assert_eq!(reports[2].status, Status::Absent);
    assert_eq!((reports[2].name.as_str(), reports[2].equal), ("MODE", 0));
}

/// Differences that never count, because compilers and tables differ in them without meaning.
#[test]
fn equal_without_a_rule() {
    let ty = |member: &str| format!("/user_types/_LOGGER/fields/{member}/type");
    let cases = [
        (ty("Text"), pointer(named("base", "unsigned short"))),
        (ty("Result"), named("base", "long")),
        (ty("Thread"), pointer(named("enum", "_THREAD"))),
        (ty("Hidden"), pointer(named("enum", "__unnamed_9"))),
    ];
    for (place, value) in cases {
        assert!(differences(&against(&[(&place, value)], Rules::Faithful)).is_empty(), "{place}");
    }
}

/// Each rule accepts its difference only in a converted table, and is counted.
#[test]
fn every_rule() {
    let ty = |member: &str| format!("/user_types/_LOGGER/fields/{member}/type");
    let whole = equal(&against(&[], Rules::Faithful));
    let lost = json!({"base": "int", "size": 4, "constants": {"StateFree": 0, "StateLast": 1, "StateBad": -1}});
    let cases = [
        (vec![(ty("Clock"), pointer(named("base", "void")))], Rule::FunctionPointer, 1, whole - 1),
        (vec![(ty("Letters"), array(4, named("base", "unsigned char")))], Rule::Char, 1, whole - 1),
        (vec![(ty("Count"), named("base", "unsigned long"))], Rule::Int, 1, whole - 1),
        (vec![("/enums/_STATE/constants/StateBusy".to_owned(), Value::Null)], Rule::SharedValue, 1, whole - 1),
        // The constants of an enumeration that lost its name are compared in the member, and not as the type `STATE` with its
        // five facts.
        (
            vec![(ty("State"), named("enum", "__unnamed_enum_X")), ("/enums/__unnamed_enum_X".to_owned(), lost.clone())],
            Rule::EnumerationName,
            1,
            whole - 5 - 1 + 4,
        ),
        (vec![("/user_types/__anonymous_10db/kind".to_owned(), json!("struct"))], Rule::Kind, 1, whole - 1),
    ];
    assert_eq!(cases.len(), Rule::ALL.len());
    for (changes, rule, times, expected) in cases {
        let changes: Vec<_> = changes.iter().map(|(place, value)| (place.as_str(), value.clone())).collect();
        let reports = against(&changes, Rules::Converted);
        assert_eq!(differences(&reports), [""; 0], "{rule:?}");
        let accepted: u64 = reports.iter().filter_map(|report| report.accepted.get(&rule)).sum();
        assert_eq!((accepted, equal(&reports)), (times, expected), "{rule:?}");
        assert!(!differences(&against(&changes, Rules::Faithful)).is_empty(), "{rule:?}");
    }
}

#[test]
fn rules_accept_nothing_more() {
    let ty = |member: &str| format!("/user_types/_LOGGER/fields/{member}/type");
    let cases = [
        (ty("Clock"), named("base", "unsigned long long")),
        (ty("Context"), pointer(json!({"kind": "function"}))),
        (ty("Letters"), array(4, named("base", "bool8"))),
        (ty("Number"), named("base", "long")),
        (ty("Id"), named("base", "unsigned int")),
        (ty("State"), named("base", "long")),
        (ty("List"), named("union", "__anonymous_10db")),
        ("/enums/_STATE/constants/StateFree".to_owned(), Value::Null),
        ("/enums/_STATE/constants/StateNew".to_owned(), json!(1)),
    ];
    for (place, value) in cases {
        let reports = against(&[(&place, value)], Rules::Converted);
        assert_eq!(differences(&reports).len(), 1, "{place}");
        assert!(reports.iter().all(|report| report.accepted.is_empty()), "{place}");
    }
    // If members do not overlap, a union is a guess; if they overlap, it is certain.
    let kind = |changes: &[(&str, Value)]| {
        let reports = against(changes, Rules::Converted);
        differences(&reports).iter().filter(|difference| difference.contains("kind:")).count()
    };
    let union = ("/user_types/_LIST/kind", json!("union"));
    let fields = table()["user_types"]["_LIST"]["fields"].as_object().expect("members").keys().cloned().collect::<Vec<_>>();
    let places: Vec<String> = fields.iter().map(|name| format!("/user_types/_LIST/fields/{name}/offset")).collect();
    let mut changes = vec![union.clone()];
    assert_eq!(kind(&changes), 0);
    changes.extend(places.iter().map(|place| (place.as_str(), json!(0))));
    assert_eq!(kind(&changes), 1);
}

#[test]
fn rules_follow_the_producer() {
    assert_eq!(Rules::for_producer("converted from Volatility 2 profile Win7"), Rules::Converted);
    assert_eq!(Rules::for_producer("volatility3"), Rules::Faithful);
    let words: std::collections::BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(words.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| rule.description().ends_with('.')));
}

/// A table can have two members with the same name, which C forbids: the second one is reported.
#[test]
fn duplicate_members() {
    let ours = read(&table()).unwrap().types;
    let mut theirs = ours.clone();
    let etw_layouts_symbols::TypeFacts::Aggregate(list) = theirs.get_mut("LIST").unwrap() else { panic!() };
    list.members.push(list.members[0].clone());
    let twice = |ours, theirs| compare(ours, theirs, Rules::Converted)[0].differences[0].kind;
    assert_eq!(twice(&ours, &theirs), DifferenceKind::Extra);
    assert_eq!(twice(&theirs, &ours), DifferenceKind::Missing);
}
