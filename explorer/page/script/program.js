  // Calls of the program in the worker. Calls are answered in order.
  const url = URL.createObjectURL(new Blob([at('worker').textContent], { type: 'text/javascript' }));
  const worker = new Worker(url), waiting = new Map();
  let calls = 0;
  const call = (name, ...values) => new Promise((done, failed) => {
    waiting.set(++calls, { done, failed });
    worker.postMessage({ call: calls, name, values });
  });
  worker.onmessage = ({ data: { call, value, fault } }) => {
    const { done, failed } = waiting.get(call);
    waiting.delete(call);
    if (fault === undefined) done(value); else failed(new Error(fault));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    const fault = new Error(`the program stopped: ${event.message}; reload the page`);
    for (const { failed } of waiting.values()) failed(fault);
    waiting.clear();
  };
  // The program is read in parts, and its text is freed at once: as a string of the script it would stay in memory.
  const text = at('program').firstChild, PART = 1 << 16, parts = [];
  for (let start = 0; start < text.length; start += PART) {
    const part = text.substringData(start, PART);
    parts.push(Uint8Array.fromBase64?.(part) ?? Uint8Array.from(atob(part), (c) => c.charCodeAt(0)));
  }
  text.data = '';
  const isReady = call('start', new Blob(parts));

  const fail = (error) => { at('fault').textContent = shown(error.message); };
  const during = async (words, work) => {
    at('fault').textContent = '';
    at('state').textContent = words;
    document.body.classList.add('busy');
    try { return await work(); } catch (error) { fail(error); } finally {
      at('state').textContent = '';
      document.body.classList.remove('busy');
    }
  };
