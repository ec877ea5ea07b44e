// What every page can do with scripts and does without: keys, copying, the reader's own time.
(() => {
  'use strict';
  const rows = () => [...document.querySelectorAll('[data-row]')];

  // `/` searches, `j` and `k` move, Enter opens: as in a terminal.
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, [contenteditable]')) return;
    const search = document.querySelector('[data-search]');
    if (event.key === '/' && search) {
      event.preventDefault();
      search.closest('details')?.setAttribute('open', '');
      search.focus();
    } else if (event.key === 'j' || event.key === 'k') {
      const all = rows();
      const at = all.findIndex(row => row.contains(document.activeElement));
      const next = all[event.key === 'j' ? at + 1 : Math.max(at - 1, 0)];
      next?.querySelector('a, summary')?.focus();
    }
  });

  document.addEventListener('click', async event => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    const source = button.dataset.copy;
    const text = source.startsWith('#') ? document.querySelector(source).textContent : await (await fetch(source)).text();
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed here: select and copy';
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });

  // Moments of the server in the reader's zone; what a log said itself stays as it is.
  function times() {
    for (const time of document.querySelectorAll('time[datetime]:not([title])')) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      time.title = time.textContent;
      time.textContent = moment.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
    }
  }
  // Another answer in the place of the page: whoever listens to it hears where it begins.
  document.addEventListener('htmx:after:swap', () => {
    times();
    if (document.activeElement === document.body) document.querySelector('main').focus({ preventScroll: true });
  });
  times();

  // An address holds what was chosen, and no empty fields.
  document.addEventListener('formdata', event => {
    if (event.target.method !== 'get') return;
    for (const [name, value] of [...event.formData]) {
      const kept = event.formData.getAll(name).filter(own => own !== '');
      if (value !== '') continue;
      event.formData.delete(name);
      for (const own of kept) event.formData.append(name, own);
    }
  });
})();
