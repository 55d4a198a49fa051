// Beside the page of the explorer, which is in a frame: opens files, uses the page as a reader does, and sends the outcome to the test.
const wait = (time) => new Promise((done) => setTimeout(done, time));
const frame = Object.assign(document.createElement('iframe'), { src: 'explorer.html', width: 1240, height: 860 });
let page = null, blob = null;
const wrong = [];
const at = (id) => page.document.getElementById(id);
const until = async (is) => {
  for (let n = 0; n < 6000 && !is(); n++) await wait(10);
  if (!is()) throw new Error('not in time: ' + is);
};
const idle = () => until(() => !page.document.body.classList.contains('busy'));
const give = async (...files) => {
  const data = new DataTransfer();
  files.forEach((file) => data.items.add(file));
  at('files').files = data.files;
  at('files').dispatchEvent(new Event('change'));
  await idle();
};
const file = async (name) => new File([await (await fetch(server + name)).arrayBuffer()], name);
const open = async (...names) => give(...await Promise.all(names.map(file)));
const openBytes = (name, bytes) => give(new File([bytes], name));
const show = async (view) => { at('show-' + view).click(); await until(() => !at(view).hidden); };
const filter = async (words) => {
  at('filter-words').value = words;
  at('filter-form').requestSubmit();
  await idle();
};
// Selects an event with the keyboard, from the first one.
const select = async (index) => {
  const key = (key) => at('table').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  at('detail').replaceChildren();
  key('Home');
  for (let n = 0; n < index; n++) key('ArrowDown');
  await until(() => at('detail').querySelector('h2'));
};
const pairs = () => Object.fromEntries([...at('detail').querySelectorAll('table')[0].tBodies[0].rows].map((row) => [row.cells[0].textContent, row.cells[1].textContent]));
const saved = async (format) => {
  blob = null;
  at('save-format').value = format;
  at('save-form').requestSubmit();
  await until(() => blob);
  await idle();
  return blob;
};
const save = async (format) => (await saved(format)).text();
const run = async (task) => {
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  page = frame.contentWindow;
  page.addEventListener('error', (event) => wrong.push(event.message));
  page.addEventListener('unhandledrejection', (event) => wrong.push(String(event.reason)));
  const create = page.URL.createObjectURL;
  page.URL.createObjectURL = (of) => { blob = of; return create.call(page.URL, of); };
  let outcome = null;
  try { outcome = await task(); } catch (error) { wrong.push(String(error)); }
  await fetch(server + 'outcome', { method: 'POST', body: JSON.stringify([wrong, outcome]) });
};
