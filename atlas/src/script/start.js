// Search, filters, decoders, the layout of any build, and comparisons. All pages are readable without the script. It shows the data
// files of the atlas, and loads nothing else.
"use strict";
(() => {
  const root = document.body.dataset.root, at = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");

  const loading = {};
  // Data that is embedded in the page needs no file.
  const load = (file, value) => loading[file] ??= value() ? Promise.resolve(value()) : new Promise((done, failed) => {
    const script = Object.assign(document.createElement("script"), { src: root + file, onload: () => done(value()) });
    script.onerror = () => failed(new Error(file + " cannot be read"));
    document.head.append(script);
  });
  const loadBuilds = () => load("builds.js", () => window.atlasBuilds);
  const loadConfidence = () => load("confidence.js", () => window.atlasConfidence);
  const loadType = (name) => load(`type/${name}.js`, () => window.atlasTypes?.[name]);

  const make = (tag, properties, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };
  const link = (text, href) => make("a", { href }, text);
  const hex = (value, width = 0) => "0x" + value.toString(16).padStart(width, "0");
  // Parses a number as users write it.
  const number = (text) => {
    text = text.trim().replace(/^\+/, "").replace(/_/g, "");
    return /^(0x[0-9a-f]+|-?\d+)$/i.test(text) ? BigInt(text) : /^[0-9a-f]+h$/i.test(text) ? BigInt("0x" + text.slice(0, -1)) : null;
  };
  // The state in the fragment of the URL.
  const readState = () => location.hash.includes("=") ? Object.fromEntries(new URLSearchParams(location.hash.slice(1))) : {};
  const writeState = (state) => {
    const known = Object.entries(state).filter(([, value]) => value);
    history.replaceState(null, "", known.length ? "#" + new URLSearchParams(known) : location.pathname + location.search);
  };
  // A text in which type names are links to their pages. In sentences, words of up to four letters, such as GUID, are words.
  const linked = (text, { types }, least = 4) => text.split(/(\w+)/).filter(Boolean).map((word) => word.length >= least && word in types ? link(word, `${root}type/${word}.html`) : word);
  const follow = (read) => { addEventListener("hashchange", read); read(); };
