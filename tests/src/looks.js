// What is wrong with how a page looks: texts that overlap, and texts that are cut. Answers a list of sentences.
(() => {
  const found = [];
  const said = (text, box) => `${JSON.stringify(text.trim().slice(0, 60))} at ${Math.round(box.x)},${Math.round(box.y)}`;
  // For screen readers only.
  const silent = element => { for (; element; element = element.parentElement) if (getComputedStyle(element).clipPath !== 'none') return true; return false; };
  const hidden = element => silent(element) || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || element.closest('.unseen, .skip, [aria-hidden=true]');
  // What is left of a text inside a part that scrolls.
  const seen = (box, parent) => {
    let { left, top, right, bottom } = box;
    for (let around = parent; around && around !== document.body; around = around.parentElement) {
      if (!['auto', 'scroll'].includes(getComputedStyle(around).overflowX)) continue;
      const edge = around.getBoundingClientRect();
      left = Math.max(left, edge.left); right = Math.min(right, edge.right);
    }
    return new DOMRect(left, top, Math.max(0, right - left), bottom - top);
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || !parent || parent.closest('script, style, option, .picture') || hidden(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const whole of range.getClientRects()) {
      const box = seen(whole, parent);
      if (box.width > 1 && box.height > 1) texts.push({ text: node.data, parent, box });
    }
  }
  // By rows from the top, so that each text is held against its neighbours only.
  texts.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < texts.length; i++) {
    const a = texts[i];
    for (let j = i + 1; j < texts.length && texts[j].box.top < a.box.bottom - 3; j++) {
      const b = texts[j];
      // A heading that sticks to the edge lies over what scrolls below it.
      if (a.parent === b.parent || a.parent.closest('thead') || b.parent.closest('thead')) continue;
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 2 && down > 4) found.push(`${said(a.text, a.box)} overlaps ${said(b.text, b.box)}`);
    }
  }
  for (const { text, parent, box } of texts) {
    for (let around = parent; around && around !== document.body; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const edge = around.getBoundingClientRect();
      const scrolls = ['auto', 'scroll'].includes(style.overflowX);
      if ((!scrolls && box.right > edge.right + 1) || box.bottom > edge.bottom + 1 && style.overflowY === 'hidden') found.push(`${said(text, box)} is cut by <${around.localName} class="${around.className}">`);
      break;
    }
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.push(`the page is ${wide} px wider than its screen`);
  return found.slice(0, 20);
})()
