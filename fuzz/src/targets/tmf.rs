//! Trace message format files, and payloads of WPP events.

use etw_layouts_payload::PointerSize;
use etw_layouts_schemas::tmf;

/// The input is a file, a zero byte, and a payload.
pub fn run(input: &[u8]) {
    let (file, payload) = input.iter().position(|byte| *byte == 0).map_or((input, &[][..]), |end| input.split_at(end));
    let (messages, errors) = tmf::read(file);
    assert!(messages.len() <= file.len() / 8 && errors.len() <= file.len());
    for message in messages.iter().take(100) {
        for pointers in [PointerSize::Bits32, PointerSize::Bits64] {
            let text = message.text(payload, pointers);
            assert!(text.rest <= payload.len());
            assert!(text.undecoded.is_none_or(|index| index < message.arguments.len()));
        }
    }
}

/// Messages with arguments of every kind, with a payload.
pub fn seeds() -> Vec<Vec<u8>> {
    const KINDS: [&str; 22] = [
        "ItemChar",
        "ItemUShort",
        "ItemLong",
        "ItemULongLong",
        "ItemPtr",
        "ItemDouble",
        "ItemString",
        "ItemWString",
        "ItemPString",
        "ItemPWString",
        "ItemHEXDump",
        "ItemGuid",
        "ItemTimestamp",
        "ItemTimeDelta",
        "ItemNTSTATUS",
        "ItemIPAddr",
        "ItemIPV6Addr",
        "ItemPort",
        "ItemMACAddr",
        "ItemSid",
        "ItemListByte(no,yes)",
        "ItemSetLong(READ,WRITE)",
    ];
    let head = "//PDB:  a.pdb\nee01de89-cf3f-2d13-2be7-f6a1a3f9b94d example // SRC=a.c MJ= MN=\n";
    let messages = KINDS.iter().enumerate().map(|(number, kind)| {
        let format = ["%0%!FUNC! %10!s! %%", "%0%10!-08.3x! %1", "%0[%10!I64d!|%11!s!]"][number % 3];
        format!("#typev a_c{number} {number} \"{format}\" // LEVEL=INFO FLAGS=ALL FUNC=f\n{{\na, {kind} -- 10\nb, ItemLong -- 11\n}}\n")
    });
    let text = head.to_owned() + &messages.collect::<String>();
    let payload: Vec<u8> = (0..64).collect();
    vec![text.clone().into_bytes(), [text.as_bytes(), &payload].concat()]
}
