
  // The fields of pasted bytes, by the table of a version.
  function payload() {
    const form = at("payload-form");
    if (!form) return;
    const [select, pointers, input, output] = ["payload-version", "payload-pointers", "payload-bytes", "payload-fields"].map(at);
    for (const part of document.querySelectorAll(".version:has(table)")) {
      const head = part.querySelector("h3, summary"), name = part.dataset.event;
      select.append(Object.assign(new Option(`${name}, ${head.firstChild.textContent.toLowerCase()}`), { version: part }));
    }
    const sizes = { UInt8: 1, Int8: 1, AnsiChar: 1, UInt16: 2, Int16: 2, UnicodeChar: 2, UInt32: 4, Int32: 4, Float: 4, Boolean: 4, HexInt32: 4, UInt64: 8, Int64: 8, HexInt64: 8, Double: 8, FILETIME: 8, GUID: 16, SYSTEMTIME: 16 };
    const decode = (rows, bytes, wide) => {
      const view = new DataView(bytes.buffer), list = [], values = {};
      let at = 0;
      const take = (count) => {
        if (at + count > bytes.length) throw new Error(`the bytes end at ${hex(at)}, within this field`);
        return bytes.subarray(at, at += count);
      };
      const text = (unit) => {
        let end = at;
        while (end + unit <= bytes.length && (bytes[end] || unit === 2 && bytes[end + 1])) end += unit;
        const found = new TextDecoder(unit === 2 ? "utf-16le" : "latin1").decode(bytes.subarray(at, end));
        at = Math.min(end + unit, bytes.length);
        return JSON.stringify(found);
      };
      const whole = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      const sid = () => {
        if (view.getUint32(at, true) === 0) { take(4); return "none"; }
        take(wide ? 16 : 8);
        const [revision, count, ...authority] = take(8), parts = [...Array(count)].map(() => new DataView(take(4).slice().buffer).getUint32(0, true));
        return `S-${revision}-${authority.reduce((sum, byte) => sum * 256 + byte, 0)}-${parts.join("-")}`;
      };
      const value = (type, length) => {
        if (type === "UnicodeString" && !length) return text(2);
        if (type === "AnsiString" && !length) return text(1);
        if (type === "WbemSid") return sid();
        const size = type === "Pointer" || type === "SizeT" ? (wide ? 8 : 4) : sizes[type] ?? Number(values[length] ?? (length === "*" ? bytes.length - at : length ?? bytes.length - at)), own = take(size);
        if (size > 8 || !size || type === "Binary") return whole(own);
        const number = [...own].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
        return type.startsWith("Int") ? String(BigInt.asIntN(size * 8, number)) : `${hex(number)} (${number})`;
      };
      const walk = (rows, prefix) => {
        for (let index = 0; index < rows.length; index++) {
          const { depth, only, name, type } = rows[index], [, base, length, count] = type.match(/^(\w+)(?:\(([\w*]+)\))?(?:\[([\w*]+)\])?/);
          let end = index + 1;
          while (rows[end]?.depth > depth) end += 1;
          const inner = rows.slice(index + 1, end);
          index = end - 1;
          if (only && Number(only) !== (wide ? 8 : 4) || at >= bytes.length) continue;
          const start = at, times = count === undefined ? 1 : Number(values[count] ?? count), own = [];
          for (let n = 0; count === "*" ? at < bytes.length : n < times; n++) base === "Struct" ? walk(inner, `${prefix}${name}[${n}].`) : own.push(value(base, length));
          if (base === "Struct") continue;
          values[name] = own[0]?.match(/\((\d+)\)/)?.[1] ?? own[0];
          list.push([start, prefix + name, type, own.join(", ")]);
        }
      };
      let fault = "";
      try { walk(rows, ""); } catch (error) { fault = error.message; }
      return { list, fault: fault || (at < bytes.length ? `${bytes.length - at} bytes are left: ${whole(bytes.subarray(at))}` : "") };
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const digits = input.value.replace(/0x|[\s,]/gi, ""), { version: part } = select.selectedOptions[0];
      if (!/^([0-9a-f]{2})+$/i.test(digits)) { output.textContent = "not bytes: write hexadecimal digits, two for each byte"; return; }
      const rows = [...part.querySelectorAll("tbody tr")].map(({ dataset: { only }, cells: [name, , , type] }) => ({ depth: Number(name.style.getPropertyValue("--depth")), only, name: name.textContent, type: type.firstChild.textContent }));
      const { list, fault } = decode(rows, Uint8Array.from(digits.match(/../g), (byte) => parseInt(byte, 16)), pointers.value === "8");
      const line = ([offset, ...texts]) => make("tr", {}, make("td", {}, hex(offset, 2)), ...texts.map((text) => make("td", {}, text)));
      output.replaceChildren(make("table", { className: "fields" }, make("tbody", {}, ...list.map(line))), fault);
    });
  }
