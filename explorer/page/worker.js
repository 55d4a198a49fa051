// The worker: runs the program, and reads files for it by position.
'use strict';
const files = new Map(), reader = new FileReaderSync();
// Size limit of a dump, in bytes: it is read as a whole.
const MAX_DUMP = 64 * 2 ** 20;
let parts = [], bindings = null, module = null, program = null, panic = '', count = 0;

// Frees the memory of a buffer at once: garbage would stay until the next collection, and each part of a file that is read is a new buffer. A closed port
// drops what is sent to it.
const sink = new MessageChannel();
sink.port2.close();
const free = (buffer) => sink.port1.postMessage(null, [buffer]);
globalThis.readFile = (file, offset, bytes) => {
  let buffer;
  try { buffer = reader.readAsArrayBuffer(files.get(file).slice(offset, offset + bytes.length)); } catch { return false; }
  const isWhole = buffer.byteLength === bytes.length;
  if (isWhole) bytes.set(new Uint8Array(buffer));
  free(buffer);
  return isWhole;
};
globalThis.notePanic = (text) => { panic = text; };
globalThis.putPart = (bytes) => parts.push(new Blob([bytes]));

const start = async (packed) => {
  const bytes = await new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  module = await WebAssembly.compile(bytes);
  free(bytes);
  renew();
};

// A program without files, with memory of its own.
const renew = () => {
  bindings = newBindings();
  bindings.initSync({ module });
  program = new bindings.Program();
};

// What to show for an error. After an error of the program, such as a panic, its memory cannot be used any more.
const problem = (error) => {
  if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) return String(error?.message ?? error);
  renew();
  const cause = panic || error.message;
  panic = '';
  return `error of the program: ${cause}; all files are closed: open them again, without the corrupt ones`;
};

const open = (given) => {
  const whole = (file) => new Uint8Array(reader.readAsArrayBuffer(file)), first = count;
  program.begin();
  for (const { file, kind } of given) {
    if (kind === 'dump') {
      if (file.size > MAX_DUMP) throw new Error(`${file.name}: dump too large: ${Math.round(file.size / 1e6)} MB, and a minidump of the kernel has a few; save its sessions with \`etw dump save -o DIR ${file.name}\`, and drop the trace files here`);
      program.add_dump(file.name, whole(file));
    }
    else {
      files.set(count, file);
      program[kind === 'schemas' ? 'add_schemas' : 'add_trace'](file.name, count++, file.size);
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
  options: () => bindings.filter_options(),
  report: () => program.report(),
  select: (words) => program.select(words),
  rows: (start, count) => program.rows(start, count),
  event: (index) => program.event(index),
};

// Calls are answered one after the other.
let last = Promise.resolve();
onmessage = ({ data: { call, name, values } }) => {
  last = last.then(() => calls[name](...values)).then((value) => postMessage({ call, value }), (error) => postMessage({ call, fault: problem(error) }));
};
