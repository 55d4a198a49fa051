
  // Reads bytes as users paste them: digits with or without spaces, `0x`, commas, braces or `\x`, or a dump with offsets and text.
  // Returns an array, or throws an error that names the part that is not bytes.
  function pasted(text) {
    const lines = text.split(/\r?\n/).map((line) => line.replace(/\|.*$/, "").trimEnd()).filter((line) => line.trim());
    // A line of a dump: an offset of at least four digits with a colon, or before groups of two digits.
    const dump = /^\s*(?:0x)?([0-9a-f`]{4,17}):\s*(.*)$|^\s*(?:0x)?([0-9a-f`]{4,17})\s+((?:[0-9a-f?]{2})(?:[ -].*)?)$/i;
    const found = lines.map((line) => line.match(dump));
    // Many dumps end with an offset alone. A single line with one space after its first group may begin with bytes.
    const last = lines.length > 1 && found.some(Boolean) && lines.at(-1).match(/^\s*(?:0x)?([0-9a-f`]{4,17}):?$/i);
    if (last) found[lines.length - 1] = [last[0], last[1], ""];
    const isDump = found.filter(Boolean).length > 1 || /^\s*\S+(:| {2}|\t)/.test(lines[0] ?? "") && found.some(Boolean);
    const bytes = [];
    const add = (token, line) => {
      const digits = token.replace(/^(0x|\\x)/i, "").replace(/h$/i, "");
      if (!/^[0-9a-f]+$/i.test(digits)) throw new Error(`not bytes: ${token.slice(0, 40)}; write hexadecimal digits, two for each byte`);
      const isPrefixed = /^(0x|\\x)/i.test(token), isAlone = token.length === text.trim().length;
      if (isPrefixed && digits.length > 2 && !isAlone) throw new Error(`not bytes: ${token.slice(0, 40)} is a number of more than one byte; write its bytes`);
      if (digits.length % 2 && !(isPrefixed && digits.length === 1)) throw new Error(`not bytes: ${token.slice(0, 40)} has an odd number of digits`);
      const list = digits.padStart(2, "0").match(/../g).map((byte) => parseInt(byte, 16));
      line.push(...list);
    };
    if (!isDump) {
      const tokens = text.replace(/\\x/gi, " \\x").split(/[\s,;:{}\-]+/).filter(Boolean);
      for (const token of tokens) { const line = []; add(token, line); line.forEach((byte) => bytes.push(byte)); }
      return bytes;
    }
    const rows = lines.map((line, index) => ({ line, match: found[index] })), offsetOf = ([, a, , b]) => BigInt("0x" + (a ?? b).replace(/`/g, ""));
    let first = null, previous = [];
    rows.forEach(({ line, match }, index) => {
      if (line.trim() === "*") return;
      if (!match) throw new Error(`not bytes: ${line.trim().slice(0, 40)}; other lines begin with an offset`);
      const offset = offsetOf(match);
      first ??= offset;
      // An asterisk stands for more lines with the same bytes.
      const missing = Number(offset - first) - bytes.length;
      if (rows[index - 1]?.line.trim() === "*" && previous.length && missing > 0 && missing < 1 << 24) for (let n = 0; n < missing; n++) bytes.push(previous[n % previous.length]);
      else if (missing) throw new Error(missing > 0 ? `bytes are missing before ${hex(offset)}` : `the offset ${hex(offset)} is not after those before it`);
      const next = rows[index + 1]?.match, width = next ? Number(offsetOf(next) - offset) : 16;
      const own = [], unit = match[2] === undefined ? 2 : null;
      // The text of a dump begins after a gap. Some dumps also have a gap after 8 bytes.
      for (const [, gap, token] of (match[2] ?? match[4] ?? "").matchAll(/(\s*-?\s*)([^\s-]+)/g)) {
        if (own.length >= Math.min(width, 64) || own.length && gap.length > 1 && own.length !== 8) break;
        if (/^\?+$/.test(token)) throw new Error(`no byte at ${hex(offset + BigInt(own.length))}: the dump has ${token}`);
        if (!/^([0-9a-f]{2})+$/i.test(token) || (unit && token.length !== unit)) { if (own.length) break; }
        if (token.length > 4) throw new Error(`not bytes: the dump has words of ${token.length} digits; paste a dump of bytes`);
        add(token, own);
      }
      previous = own.slice(0, width);
      previous.forEach((byte) => bytes.push(byte));
    });
    return bytes;
  }

  const integer = (bytes) => [...bytes].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const spaced = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");

  // The types that a layout embeds, by name: the data and the number of the layout, or the constants of an enumeration.
  async function embeddedTypes(type, layout) {
    const constants = (text) => [...text.matchAll(/^ +(\w+) = (-?\d+),$/gm)].map(([, name, value]) => [name, value]);
    const pairs = type.layouts[layout].needs.map(async ([name, number]) =>
      [name, number < 0 ? { constants: constants(type.enumerations[-1 - number]) } : { type: await loadType(name), layout: number }]);
    return new Map(await Promise.all(pairs));
  }

  const elementOf = (type) => {
    const [, element, count] = type.replace(/ volatile\b/g, "").match(/^(.*?) ?\[([^\]]*)\](?!.*\[)$/) ?? [];
    return element === undefined ? [type.replace(/ volatile\b/g, ""), null] : [element, count];
  };
  // Structures that are one value.
  const isValue = (name) => ["GUID", "LARGE_INTEGER", "ULARGE_INTEGER"].includes(name);

  // The members of a layout, each followed by the members of the structure that it embeds.
  function expanded(known, type, layout, start = 0, depth = 0, prefix = "", list = []) {
    const rows = rowsOf(type, layout).filter(([, { name }]) => name);
    const add = (offset, depth, path, name, row, isGroup) => {
      const [element, count] = elementOf(row.type ?? ""), embeds = known.get(element), size = embeds?.type?.layouts[embeds.layout].size;
      const isOpen = size && !isValue(element), number = count === null ? 1 : Math.floor(row.size / (size || 1));
      list.push({ offset, depth, path, name, type: row.type ?? "", size: row.size, bits: row.bits, values: row.values, doc: row.doc, isPadding: !row.c, isGroup: isGroup || Boolean(isOpen), isInner: prefix !== "" });
      for (let n = 0; isOpen && n < number; n++) {
        const own = count === null ? path : `${path}[${n}]`, at = offset + n * size;
        if (count !== null) list.push({ offset: at, depth: depth + 1, path: own, name: `[${n}]`, type: element, size, isGroup: true, isInner: true });
        expanded(known, embeds.type, embeds.layout, at, depth + (count === null ? 1 : 2), own + ".", list);
      }
    };
    rows.forEach(([offset, row], index) => {
      const isGroup = (rows[index + 1]?.[1].depth ?? 0) > (row.depth ?? 0);
      add(start + offset, depth + (row.depth ?? 0), prefix + (row.path ?? row.name), row.name, row, isGroup);
    });
    return list;
  }

  // The names of a number in an enumeration, or of its bits in flags.
  function namesOf(list, isFlags, value) {
    const all = list.map(([name, number]) => [name, BigInt(number)]), exact = all.filter(([, number]) => number === value);
    if (exact.length || !isFlags || value <= 0n) return exact.length ? exact.map(([name]) => name).join(", ") : isFlags ? "no flags" : "no name";
    const bits = all.filter(([, number]) => number > 0n && (value & number) === number), rest = bits.reduce((left, [, number]) => left & ~number, value);
    return [...bits.map(([name]) => name), ...(rest ? ["unnamed bits " + hex(rest)] : [])].join(" | ");
  }

  // A number of 100 ns since 1601 as a time in UTC.
  const timeOf = (value) => value > 0n && value < 2650467744000000000n
    ? new Date(Number(value / 10000n - 11644473600000n)).toISOString().replace("T", " ").slice(0, 19) + `.${String(value % 10000000n).padStart(7, "0")} UTC` : null;

  function guidOf(bytes) {
    const part = (from, to) => integer(bytes.subarray(from, to)).toString(16).padStart((to - from) * 2, "0");
    const rest = spaced(bytes.subarray(8)).replace(/ /g, "");
    return `${part(0, 4)}-${part(4, 6)}-${part(6, 8)}-${rest.slice(0, 4)}-${rest.slice(4)}`;
  }

  // The value of a member as text. `constants` returns the constants of an enumeration or of flags, and whether they are flags.
  function valueOf(known, constants, { type, size, bits, values, doc = "" }, bytes) {
    const [element, count] = elementOf(type), isPointer = !bits && /[*]|^P[A-Z]|HANDLE$|^(U?LONG_PTR|KAFFINITY)$/.test(element);
    const one = (own) => {
      if (element === "GUID" && own.length === 16) return guidOf(own);
      if (![1, 2, 4, 8].includes(own.length)) return "no known layout";
      let value = integer(own), width = own.length * 8;
      if (bits) {
        const [low, high = low] = bits.split("-").map(Number);
        [value, width] = [(value >> BigInt(low)) & ((1n << BigInt(high - low + 1)) - 1n), high - low + 1];
      }
      const isSigned = !bits && (/^(LONG|LONGLONG|LONG64|SHORT|CHAR|SCHAR|INT|NTSTATUS|LARGE_INTEGER)$/.test(element) || known.get(element)?.constants);
      const signed = isSigned ? BigInt.asIntN(width, value) : value;
      const set = known.get(element)?.constants ? { list: known.get(element).constants, isFlags: false } : values && constants(values);
      const as = set ? set.list.map(([name, number]) => [name, BigInt.asUintN(width, BigInt(number))]) : null;
      const names = as ? [namesOf(as, set.isFlags, value)] : values ? [`${values} is not part of this page`] : element === "BOOLEAN" && !bits ? [value ? "TRUE" : "FALSE"] : [];
      const time = width === 64 && !isPointer && (/since 1601/.test(doc) || element === "LARGE_INTEGER" && value > 119600064000000000n) ? timeOf(value) : null;
      const times = time ? [/since 1601/.test(doc) ? time : `as a FILETIME ${time}`] : [];
      const text = isPointer ? hex(value, own.length * 2) : value < 10n ? String(value) : `${signed} (${hex(value)})`;
      return [text, ...names, ...times].join(", ");
    };
    if (count === null) return one(bytes);
    if (/^(CHAR|WCHAR)$/.test(element)) {
      const text = new TextDecoder(element === "WCHAR" ? "utf-16le" : "latin1").decode(bytes), end = text.indexOf("\0");
      return JSON.stringify(end < 0 ? text : text.slice(0, end));
    }
    const sizes = { UCHAR: 1, USHORT: 2, SHORT: 2, ULONG: 4, LONG: 4, ULONGLONG: 8, LONGLONG: 8, ULONG64: 8, GUID: 16, LARGE_INTEGER: 8 };
    const unit = sizes[element] ?? (Number(count) ? size / Number(count) : bytes.length);
    if (element === "UCHAR" || !bytes.length) return `${bytes.length} bytes`;
    const list = Array.from({ length: Math.floor(bytes.length / unit) }, (_, n) => one(bytes.subarray(n * unit, (n + 1) * unit)));
    return list.slice(0, 64).join("; ") + (list.length > 64 ? `; … ${list.length} values` : "");
  }

  // Decodes bytes with a layout. Returns a row for each member that begins within the bytes, and sentences about the ends.
  function decoded(lines, known, constants, bytes, size) {
    const within = lines.filter(({ offset, size }) => offset < bytes.length || !size && offset === bytes.length), beyond = lines.filter((line) => !within.includes(line) && !line.isPadding);
    const rows = within.map((line) => {
      const own = bytes.subarray(line.offset, line.offset + line.size), isCut = own.length < line.size;
      const value = line.isGroup ? "" : isCut ? `the input ends at ${hex(bytes.length)}, within this member` : line.isPadding ? "" : valueOf(known, constants, line, own);
      return { ...line, value, bytes: line.isGroup ? "" : spaced(own.subarray(0, 16)) + (own.length > 16 ? ` … ${own.length} bytes` : "") };
    });
    const notes = bytes.length < size ? [`The input ends at ${hex(bytes.length)}; the structure has ${hex(size)} bytes.`] : [];
    if (beyond.length) notes.push(`${beyond.length} members from ${beyond[0].path} (${hex(beyond[0].offset, 4)}) on are beyond the end of the input.`);
    if (bytes.length > size) notes.push(`${hex(bytes.length - size)} bytes of the input, from ${hex(size)}, are beyond the structure.`);
    return { rows, notes };
  }

  // The form for bytes on the page of a structure. `selection` returns the selected build, and the data of the structure.
  function bytesForm(selection) {
    const form = at("bytes-form"), [input, file, from, note, output] = ["bytes-input", "bytes-file", "bytes-from", "bytes-note", "bytes-members"].map(at);
    const most = 4096;
    const read = async (size) => {
      const start = from.value.trim() ? number(from.value) : 0n, one = file.files[0];
      if (start === null || start < 0n) throw new Error(`not an offset: ${from.value.trim()}`);
      if (!one && !input.value.trim()) throw new Error("no bytes: paste them, or choose a file");
      const all = one && !input.value.trim() ? one.size : null;
      if (all === null) return { bytes: Uint8Array.from(pasted(input.value)).subarray(Number(start)), rest: 0 };
      const bytes = new Uint8Array(await one.slice(Number(start), Number(start) + size).arrayBuffer());
      return { bytes, rest: Math.max(0, all - Number(start) - size) };
    };
    const show = async () => {
      output.replaceChildren();
      const { builds, type, found, sure, error } = await selection();
      if (error) { note.textContent = error; return; }
      const layout = type.of[found.index], { size } = type.layouts[layout], known = await embeddedTypes(type, layout);
      // A page of its own has no constants of flags.
      const compared = await load("compare.js", () => window.atlasCompare).catch(() => null);
      const constants = (name) => {
        let left = found.index;
        const run = compared?.layouts[name]?.find(([, count]) => (left -= count) < 0);
        return run && run[0] >= 0 ? { list: compared.values[run[0]], isFlags: builds.types[name] === "flags" } : null;
      };
      const { bytes, rest } = await read(size), lines = expanded(known, type, layout), { rows, notes } = decoded(lines.slice(0, most), known, constants, bytes, size);
      if (!bytes.length) throw new Error("no bytes after this offset");
      if (rest) notes.push(`${hex(rest)} bytes of the file, after these, are beyond the structure.`);
      if (lines.length > most) notes.push(`Only the first ${most} of ${lines.length} members are shown.`);
      note.textContent = [`${hex(bytes.length)} bytes, decoded with the layout of ${found.name} (${sure}).`, ...notes].join(" ");
      const cells = ({ offset, bits, depth, path, name, type, bytes, value, isPadding }) => make("tr", { className: isPadding ? "padding" : "" },
        make("td", {}, hex(offset, 4) + (bits ? ":" + bits : "")), make("th", { scope: "row", style: `--depth:${depth}`, title: path }, name), make("td", {}, value), make("td", {}, bytes), make("td", {}, type));
      const head = make("thead", {}, make("tr", {}, ...["Offset", "Member", "Value", "Bytes", "Type"].map((text) => make("th", { scope: "col" }, text))));
      output.replaceChildren(make("table", { className: "decoded" }, head, make("tbody", {}, ...rows.map(cells))));
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      show().catch(({ message }) => { note.textContent = message; });
    });
    file.addEventListener("change", () => { if (file.files[0]) input.value = ""; });
    input.addEventListener("input", () => { file.value = ""; });
  }
