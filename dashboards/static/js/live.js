// Logs as they arrive. The server sends each as a row that it drew itself; a row that comes again moves to the top.
(() => {
  'use strict';
  const MOST = 200;
  const rows = document.querySelector('#live-rows'), pause = document.querySelector('#pause'), state = document.querySelector('#live-state');
  let held = [], paused = false;

  function add(html) {
    const one = document.createElement('template');
    one.innerHTML = html;
    const row = one.content.querySelector('tr');
    if (!row) return;
    document.getElementById(row.id)?.remove();
    rows.prepend(row);
    while (rows.rows.length > MOST) rows.rows[MOST].remove();
    document.querySelector('#live-none')?.remove();
  }

  const say = text => { state.textContent = text; };
  const source = new EventSource('/live/events');
  source.addEventListener('open', () => say(paused ? 'Paused.' : 'Watching.'));
  // The browser asks again by itself, as slowly as the server told it; what came in between stands behind Reload.
  source.addEventListener('error', () => {
    say(source.readyState === EventSource.CLOSED ? 'Not watching any more: reload the page.' : 'Interrupted; reload to see what was missed.');
  });
  source.addEventListener('log', event => {
    if (!paused) return add(event.data);
    held = [...held, event.data].slice(-MOST);
    say(`Paused; ${held.length} came meanwhile.`);
  });

  pause.addEventListener('click', () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    pause.textContent = paused ? 'Go on' : 'Pause';
    if (!paused) held.splice(0).forEach(add);
    say(paused ? 'Paused.' : 'Watching.');
  });
  addEventListener('pagehide', () => source.close());
})();
