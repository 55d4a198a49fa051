//! The snapshot format: writing and reading keeps all facts, and any other text is an error.

use etw_layouts_symbols::snapshot::Kernel;
use etw_layouts_symbols::{
    Aggregate, AggregateKind, Arch, Enumeration, ImageFile, Integer, Member, Pdb, Snapshot, Type, TypeFacts, Uuid,
};

use std::collections::BTreeMap;

const HEAD: &str = "etw-layouts-symbols 1\nproducer by hand\nkernel 6.1.7601.24000 x86 -\n";

/// Arbitrary content, the same in every run.
struct Arbitrary(u64);

impl Arbitrary {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn number(&mut self) -> u64 {
        [0, 1, 9, 0x48, u64::from(u32::MAX), u64::MAX][self.below(6) as usize]
    }

    fn name(&mut self) -> String {
        const PARTS: [&str; 18] =
            ["Size", "_", "0", "u4", "*", "[", "]", "@", ":", ".", "#", "?", "%", " ", "\n", "\u{85}", "é", "%20"];
        (0..self.below(4)).map(|_| PARTS[self.below(PARTS.len() as u64) as usize]).collect()
    }

    fn ty(&mut self, depth: u64) -> Type {
        let inner = |this: &mut Self| Box::new(this.ty(depth + 1));
        match self.below(if depth < 5 { 11 } else { 7 }) {
            0 => Type::Void,
            1 => Type::Integer(Integer::from_c(["bool", "char", "int", "wchar_t", "long"][self.below(5) as usize]).unwrap()),
            2 => Type::Float(self.number()),
            3 => Type::Function,
            4 => Type::Aggregate(self.name()),
            5 => Type::Enumeration(self.name()),
            6 => Type::Opaque,
            7 => Type::Pointer(inner(self)),
            8 => Type::Array(inner(self), self.number()),
            9 => Type::Bits { unit: inner(self), position: self.number() as u32, width: self.number() as u32 },
            _ => Type::Unnamed(Box::new(self.definition(depth + 2))),
        }
    }

    fn definition(&mut self, depth: u64) -> TypeFacts {
        let count = self.below(4);
        if self.below(4) == 0 {
            let constants = (0..count).map(|_| (self.name(), self.number() as i64)).collect();
            return TypeFacts::Enumeration(Enumeration { size: self.number(), signed: self.below(2) == 0, constants });
        }
        let kind = [AggregateKind::Struct, AggregateKind::Union][self.below(2) as usize];
        let members = (0..count).map(|_| Member { name: self.name(), offset: self.number(), ty: self.ty(depth) }).collect();
        TypeFacts::Aggregate(Aggregate { kind, size: self.number(), members })
    }

    fn kernel(&mut self) -> Kernel {
        let build = [(); 4].map(|()| self.number() as u32);
        let guid = Uuid::from_u128(u128::from(self.number()) << 60 | 1);
        let pdb = Pdb { name: self.name() + "-", guid, age: self.number() as u32 };
        let image = ImageFile { name: self.name(), time_stamp: self.number() as u32, size: self.number() as u32 };
        let arch = [Arch::X86, Arch::X64][self.below(2) as usize];
        let (has_pdb, has_image) = (self.below(2) == 0, self.below(2) == 0);
        Kernel { build, arch, pdb: has_pdb.then_some(pdb), image: has_image.then_some(image), globals: self.places() }
    }

    fn places(&mut self) -> BTreeMap<String, u64> {
        (0..self.below(4)).map(|_| (self.name(), self.number())).collect()
    }

    fn snapshot(&mut self) -> Snapshot {
        let kernels = (0..=self.below(3)).map(|_| self.kernel()).collect();
        let types = (0..self.below(5)).map(|_| (self.name(), self.definition(1))).collect();
        let offsets = (0..self.below(3)).map(|_| (self.name(), self.places())).collect();
        Snapshot { producer: self.name(), kernels, types, offsets }
    }
}

#[test]
fn writing_and_reading_keeps_all_facts() {
    let mut arbitrary = Arbitrary(1);
    for _ in 0..3000 {
        let snapshot = arbitrary.snapshot();
        let text = snapshot.to_string();
        let parsed: Snapshot = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(parsed, snapshot, "{text}");
        assert_eq!(parsed.to_string(), text);
    }
}

#[test]
fn errors_name_the_line() {
    let with = |body: &str| format!("{HEAD}{body}");
    let member = |ty: &str| with(&format!("struct A 0x4\n 0x0 a {ty}\n"));
    let cases = [
        (String::new(), 1, "expected `etw-layouts-symbols 1` in the first line"),
        (HEAD.replace("symbols 1", "symbols 2"), 1, "expected `etw-layouts-symbols 1` in the first line"),
        ("etw-layouts-symbols 1\n".to_owned(), 2, "expected `producer` and a name"),
        ("etw-layouts-symbols 1\nproducer x\n".to_owned(), 3, "expected a `kernel` line"),
        (HEAD.replace("6.1.", "6."), 3, "expected `kernel`"),
        (HEAD.replace("24000", "24000.1"), 3, "expected `kernel`"),
        (HEAD.replace("24000", "+4"), 3, "expected `kernel`"),
        (HEAD.replace("x86", "arm"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 ntoskrnl.exe 12 1"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 - 1"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 - ntoskrnl.exe 0x1"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 - ntoskrnl.exe 0x1 2"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 - ntoskrnl.exe 0x1 0x123456789"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", "x86 - ntoskrnl.exe 0x1 0x2 0x3"), 3, "expected `kernel`"),
        (HEAD.replace("x86 -", &format!("x86 ntoskrnl.exe {:032} 1", 0)), 3, "expected `kernel`"),
        (with(" 0x8 b\n 0x4 a\n"), 5, "`a` is out of order or duplicate: variables are sorted by name"),
        (with(" 0x8 a b\n"), 4, "expected `struct` or `union`"),
        (with(" 8 a\n"), 4, "expected `struct` or `union`"),
        (with("kernel\n"), 4, "expected `struct` or `union`"),
        (with("\n"), 4, "expected `struct` or `union`"),
        (with("class A 0x4\n"), 4, "expected `struct` or `union`"),
        (with("struct A 4\n"), 4, "expected `struct` or `union`"),
        (with("struct A 0x4 0x4\n"), 4, "expected `struct` or `union`"),
        (with("struct A%41 0x4\n"), 4, "expected `struct` or `union`"),
        (with("enum A 4\n"), 4, "expected `struct` or `union`"),
        (with("struct A 0x4\n  0x0 a u4\n"), 5, "expected `struct` or `union`"),
        (with("struct A 0x4\n 0x0 a u4\n  0x0 b u4\n"), 6, "expected `struct` or `union`"),
        (with("struct B 0x4\nstruct A 0x4\n"), 5, "`A` is out of order"),
        (with("struct A 0x4\nstruct A 0x4\n"), 5, "`A` is out of order"),
        (with("struct A 0x4\n 4 a u4\n"), 5, "expected an offset"),
        (with("struct A 0x4\n 0x0\n"), 5, "expected an offset"),
        (member(""), 5, "unknown type ``"),
        (member("u3"), 5, "unknown type `u3`"),
        (member("u4 "), 5, "unknown type `u4 `"),
        (member("LIST"), 5, "unknown type `LIST`"),
        (member(".A B"), 5, "unknown type `.A B`"),
        (member("."), 5, "unknown type `.`"),
        (member("4[u4"), 5, "unknown type `4[u4`"),
        (member("4"), 5, "unknown type `4`"),
        (member("99999999999999999999[u4]"), 5, "unknown type `99999999999999999999[u4]`"),
        (member("3@:u4"), 5, "unknown type `3@:u4`"),
        (member("*x"), 5, "unknown type `x`"),
        (member("struct 8"), 5, "unknown type `struct 8`"),
        (member(&"*".repeat(100_000)), 5, "types nest deeper than 64"),
        (with("offsets\n"), 4, "expected `struct` or `union`"),
        (with("offsets A B\n"), 4, "expected `offsets`"),
        (with("offsets A\n 4 a\n"), 5, "expected `offsets`"),
        (with("offsets A\n 0x4 a u4\n"), 5, "expected `offsets`"),
        (with("offsets A\n 0x4 b\n 0x8 a\n"), 6, "`a` is out of order"),
        (with("offsets A\noffsets A\n"), 5, "`A` is out of order"),
        (with("offsets A\nstruct B 0x4\n"), 5, "expected `offsets`"),
        (with("enum A i4\n 0\n"), 5, "expected a value and a name"),
        (with("enum A i4\n +1 a\n"), 5, "expected a value and a name"),
        (with("enum A i4\n 1 a b\n"), 5, "expected a value and a name"),
    ];
    for (text, line, reason) in cases {
        let error = Snapshot::parse(&text).expect_err(&text);
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.reason.starts_with(reason), "{error}\n{text}");
        assert!(error.to_string().ends_with("; correct the line, or create the snapshot again from its table"));
    }
    assert!(Snapshot::parse(HEAD).is_ok());
}

#[test]
fn no_damage_panics() {
    let mut arbitrary = Arbitrary(2);
    let text: String = (0..20).map(|_| arbitrary.snapshot().to_string()).max_by_key(String::len).unwrap();
    for at in 0..text.len() {
        for byte in *b" \n%0@[x" {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = byte;
            let _ = Snapshot::parse(&String::from_utf8_lossy(&damaged));
        }
    }
}
