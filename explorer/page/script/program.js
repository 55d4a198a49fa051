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
  const isReady = call('start', at('program').textContent);
  at('program').remove();

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
