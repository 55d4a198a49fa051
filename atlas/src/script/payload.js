
  // Decodes bytes with the rows of a version. Returns the fields, and the error in the bytes if there is one.
  function fields(rows, bytes, isWide) {
    const sizes = { UInt8: 1, Int8: 1, AnsiChar: 1, UInt16: 2, Int16: 2, UnicodeChar: 2, UInt32: 4, Int32: 4, Float: 4, Boolean: 4, HexInt32: 4, UInt64: 8, Int64: 8, HexInt64: 8, Double: 8, FILETIME: 8, GUID: 16, SYSTEMTIME: 16, Pointer: isWide ? 8 : 4, SizeT: isWide ? 8 : 4 };
    const list = [], values = {};
    let at = 0;
    const take = (count) => {
      if (at + count > bytes.length) throw new Error(`the bytes end at ${hex(at)}, within this field`);
      return bytes.subarray(at, at += count);
    };
    const text = (unit) => {
      const start = at;
      while (at + unit <= bytes.length && integer(bytes.subarray(at, at + unit))) at += unit;
      const found = new TextDecoder(unit === 2 ? "utf-16le" : "latin1").decode(bytes.subarray(start, at));
      at = Math.min(at + unit, bytes.length);
      return JSON.stringify(found);
    };
    const sid = () => {
      if (!integer(bytes.subarray(at, at + 4))) { take(4); return "none"; }
      take(isWide ? 16 : 8);
      const [revision, count, ...authority] = take(8), parts = Array.from({ length: count }, () => integer(take(4)));
      return `S-${revision}-${[integer(authority.reverse()), ...parts].join("-")}`;
    };
    const value = (type, length) => {
      if (type === "WbemSid") return sid();
      if (/^(Unicode|Ansi)String$/.test(type) && !length) return text(type === "UnicodeString" ? 2 : 1);
      const size = sizes[type] ?? Number(values[length] ?? (length === "*" ? bytes.length - at : length ?? bytes.length - at)), own = take(size);
      if (size > 8 || !size || type === "Binary") return spaced(own);
      return type.startsWith("Int") ? String(BigInt.asIntN(size * 8, integer(own))) : `${hex(integer(own))} (${integer(own)})`;
    };
    const walk = (rows, prefix) => {
      for (let index = 0, end; index < rows.length; index = end) {
        const { depth, only, name, type } = rows[index], [, base, length, count] = type.match(/^(\w+)(?:\(([\w*]+)\))?(?:\[([\w*]+)\])?/);
        for (end = index + 1; rows[end]?.depth > depth;) end += 1;
        if (only && Number(only) !== sizes.Pointer || at >= bytes.length) continue;
        const inner = rows.slice(index + 1, end), start = at, times = count === undefined ? 1 : Number(values[count] ?? count), own = [];
        for (let n = 0; count === "*" ? at < bytes.length : n < times; n++) base === "Struct" ? walk(inner, `${prefix}${name}[${n}].`) : own.push(value(base, length));
        if (base === "Struct") continue;
        values[name] = own[0]?.match(/\((\d+)\)/)?.[1] ?? own[0];
        list.push([start, prefix + name, type, own.join(", ")]);
      }
    };
    try { walk(rows, ""); } catch ({ message }) { return { list, fault: message }; }
    return { list, fault: at < bytes.length ? `bytes after the last field: ${spaced(bytes.subarray(at))}` : "" };
  }

  function payload() {
    const form = at("payload-form"), [select, pointers, input, output] = ["payload-version", "payload-pointers", "payload-bytes", "payload-fields"].map(at);
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      let bytes;
      try { bytes = Uint8Array.from(pasted(input.value)); } catch ({ message }) { output.textContent = message; return; }
      if (!bytes.length) { output.textContent = "no bytes: paste them"; return; }
      const version = document.querySelectorAll(".version:has(table)")[select.selectedIndex];
      const rows = [...version.querySelectorAll("tbody tr")].map(({ dataset: { only }, cells: [name, , , type] }) => ({ depth: Number(name.style.getPropertyValue("--depth")), only, name: name.textContent, type: type.firstChild.textContent }));
      const { list, fault } = fields(rows, bytes, pointers.value === "8");
      const line = ([offset, ...texts]) => make("tr", {}, ...[hex(offset, 2), ...texts].map((text) => make("td", {}, text)));
      output.replaceChildren(make("table", { className: "fields" }, make("tbody", {}, ...list.map(line))), fault);
    });
  }
