// A demo fills while somebody looks: the line counts on, and once all is there the page is asked for anew, unless its reader is in
// the middle of something.
(() => {
  'use strict';
  const EVERY_MS = 2000;
  const line = document.querySelector('#filling');

  const isBusy = () => scrollY > 0 || document.querySelector('main details[open]') !== null
    || document.activeElement?.matches('input, select, textarea, button') === true;

  // What the page would say now; undefined when nobody answers.
  async function ask() {
    try {
      const answer = await fetch(location.href);
      return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#filling') : undefined;
    } catch {
      return undefined;
    }
  }

  async function look() {
    const news = document.hidden ? undefined : await ask();
    if (news === null) {
      if (!isBusy()) return location.reload();
      const again = document.createElement('a');
      again.href = location.href;
      again.textContent = 'show them';
      return line.replaceChildren('Demo: all machines are here, ', again);
    }
    if (news) line.replaceChildren(...news.childNodes);
    setTimeout(look, EVERY_MS);
  }
  setTimeout(look, EVERY_MS);
})();
