// The page of the explorer. A worker runs the program; this script shows its answers as text, never as HTML.
'use strict';
(() => {
  const at = (id) => document.getElementById(id);
  const { make, grouped, several } = etwElements;
  const hex = (number, width) => '0x' + number.toString(16).padStart(width, '0');
  // Characters that change the direction of text or cannot be seen, as escapes.
  const shown = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u2800\u3164\uffa0]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const brief = (text, most) => text.length > most ? `${text.slice(0, most)}… (${grouped(text.length)} characters)` : text;

  // No script can leave the page: only links within it, and files that are saved, are followed.
  globalThis.navigation?.addEventListener('navigate', (event) => {
    if (event.cancelable && !event.hashChange && event.downloadRequest === null) event.preventDefault();
  });
  // A content security policy does not cover WebRTC and new windows.
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'open']) globalThis[name] = undefined;
