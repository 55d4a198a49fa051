// The worker: runs the program, and reads files for it by position.
'use strict';
const files = new Map(), reader = new FileReaderSync();
// Size limit of a dump, in bytes: it is read as a whole.
const MAX_DUMP = 64 * 2 ** 20;
let parts = [], program = null, count = 0;

globalThis.readFile = (file, offset, length) => {
  try { return new Uint8Array(reader.readAsArrayBuffer(files.get(file).slice(offset, offset + length))); } catch { return new Uint8Array(); }
};
globalThis.putPart = (bytes) => parts.push(new Blob([bytes]));

const start = async (text) => {
  const packed = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  wasm_bindgen.initSync({ module: await WebAssembly.compile(bytes) });
  program = new wasm_bindgen.Program();
};

const open = (given) => {
  const whole = (file) => new Uint8Array(reader.readAsArrayBuffer(file)), first = count;
  program.begin();
  for (const { file, kind } of given) {
    if (kind === 'schemas') program.add_schemas(file.name, whole(file));
    else if (kind === 'dump') {
      if (file.size > MAX_DUMP) throw new Error(`${file.name}: dump too large: ${Math.round(file.size / 1e6)} MB, and a minidump of the kernel has a few; save its sessions with \`etw dump save -o DIR ${file.name}\`, and drop the trace files here`);
      program.add_dump(file.name, whole(file));
    }
    else {
      files.set(count, file);
      program.add_trace(file.name, count++, file.size);
    }
  }
  const summary = program.open();
  // The files of the trace before are closed.
  for (const number of files.keys()) if (number < first) files.delete(number);
  return summary;
};

const save = (format) => {
  parts = [];
  try {
    const words = program.save(format);
    return { blob: new Blob(parts), words };
  } finally { parts = []; }
};

const calls = {
  start, open, save,
  options: () => wasm_bindgen.filter_options(),
  report: () => program.report(),
  select: (words) => program.select(words),
  rows: (start, count) => program.rows(start, count),
  event: (index) => program.event(index),
};

// Calls are answered one after the other.
let last = Promise.resolve();
onmessage = ({ data: { call, name, values } }) => {
  last = last.then(() => calls[name](...values)).then((value) => postMessage({ call, value }), (fault) => postMessage({ call, fault: String(fault?.message ?? fault) }));
};
