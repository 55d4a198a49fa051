// Uses the page of the explorer as a reader does.
let blob = null;
const at = (id) => document.getElementById(id);
const idle = () => until(() => !document.body.classList.contains('busy'));
const give = async (...files) => {
  const data = new DataTransfer();
  files.forEach((file) => data.items.add(file));
  at('files').files = data.files;
  at('files').dispatchEvent(new Event('change'));
  await idle();
};
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
const create = URL.createObjectURL;
URL.createObjectURL = (of) => { blob = of; return create.call(URL, of); };
