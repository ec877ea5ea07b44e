// Bringing logs with comfort: files dropped anywhere on the page, how far the upload is, errors in words. The form works without.
(() => {
  'use strict';
  const form = document.querySelector('#bring');
  if (!form) return;
  const [button, complaint, progress] = ['button', '.complaint', '.progress'].map(own => form.querySelector(own));
  const [bar, status] = ['progress', '[role=status]'].map(own => progress.querySelector(own));
  const target = document.querySelector('.drop-here');
  let request = null;

  function rest(why = '') {
    request = null;
    button.disabled = false;
    progress.hidden = true;
    complaint.hidden = !why;
    complaint.textContent = why;
  }

  function tell(words, share) {
    status.textContent = words;
    if (share === undefined) bar.removeAttribute('value');
    else bar.value = share;
  }

  const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

  function send(files, text) {
    if (request) return;
    if (!files.length && !text.trim()) { rest('There is nothing to read: choose a file, or paste a log.'); return; }
    const data = new FormData();
    for (const file of files) data.append('file', file, file.name);
    if (text.trim()) data.append('file', new File([text], 'pasted.log'));
    rest();
    request = new XMLHttpRequest();
    request.open('POST', '/api/v1/reports');
    request.responseType = 'json';
    request.setRequestHeader('x-csrf-token', form.elements.csrf.value);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      const share = lengthComputable && total ? Math.round(100 * loaded / total) : undefined;
      tell(share === undefined ? 'Sending …' : `Sending … ${share} %`, share);
    });
    request.upload.addEventListener('load', () => tell('Reading …'));
    request.addEventListener('load', event => {
      const { status: code, response } = event.target;
      if (code === 201 && response?.url) { tell('Read.', 100); location.assign(response.url); return; }
      if (code === 401) { rest('You are no longer signed in. Nothing was kept: load the page again, and sign in.'); return; }
      rest(`${sentence(response?.detail ?? `the server answered with the status ${code}`)} Nothing was kept.`);
    });
    // A folder that a browser takes for a file fails here too.
    request.addEventListener('error', () => rest('The upload broke off: the server is away, or a file cannot be read. Nothing was kept: try again.'));
    request.addEventListener('abort', () => rest());
    button.disabled = true;
    progress.hidden = false;
    tell('Sending …', 0);
    request.send(data);
  }

  form.addEventListener('submit', event => {
    event.preventDefault();
    send([...form.elements.file.files], form.elements.text.value);
  });

  // What is dropped may be a folder.
  const entries = reader => new Promise((done, failed) => reader.readEntries(done, failed));
  async function walk(entry) {
    if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
    const reader = entry.createReader(), files = [];
    for (let some = await entries(reader); some.length; some = await entries(reader)) {
      for (const own of some) files.push(...await walk(own));
    }
    return files;
  }

  const holds = (event, kind) => [...event.dataTransfer?.types ?? []].includes(kind);
  const taken = event => holds(event, 'Files') || (holds(event, 'text/plain') && event.target !== form.elements.text);
  let depth = 0;
  function show(on) { target.hidden = !on; if (!on) depth = 0; }
  document.addEventListener('dragenter', event => { if (taken(event)) { depth += 1; show(true); } });
  document.addEventListener('dragleave', event => { if (taken(event)) { depth -= 1; if (depth <= 0) show(false); } });
  document.addEventListener('dragover', event => { if (taken(event)) event.preventDefault(); });
  document.addEventListener('drop', async event => {
    if (!taken(event)) return;
    event.preventDefault();
    show(false);
    // Asked before anything is awaited: what was dropped is gone then.
    const text = holds(event, 'Files') ? '' : event.dataTransfer.getData('text/plain');
    const dropped = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files];
    try {
      const files = dropped.length ? (await Promise.all(dropped.map(walk))).flat() : plain;
      send(files, text);
    } catch {
      rest('What was dropped cannot be read. Nothing was sent.');
    }
  });

  // Back from the report: the page stands as it was left.
  addEventListener('pageshow', event => { if (event.persisted) rest(); });
})();
