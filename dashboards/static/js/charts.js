// Draws the pictures of a page. The server says what (an option of ECharts in a data block), the theme says in which colours.
(() => {
  'use strict';
  const drawn = new Map();
  const calm = matchMedia('(prefers-reduced-motion: reduce)');

  const colour = word => getComputedStyle(document.documentElement).getPropertyValue(`--${word.slice(1)}`).trim();
  const isColour = key => /color$/i.test(key);

  // A copy of the option with the colours of the theme. Only keys of colours are touched: a name may start with an @ too.
  function themed(value, key = '') {
    if (Array.isArray(value)) return value.map(item => themed(item, key));
    if (value && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([own, item]) => [own, themed(item, own)]));
    }
    return isColour(key) && typeof value === 'string' && value.startsWith('@') ? colour(value) : value;
  }

  // Below this there is no room for long names beside a picture.
  const NARROW_PX = 560;
  const LEGEND_WORD_PX = 164, LEGEND_ROW_PX = 23;

  function option(figure, width) {
    const own = themed(JSON.parse(figure.querySelector('script[type="application/json"]').textContent));
    const ink = colour('@ink'), quiet = colour('@quiet'), rule = colour('@rule'), paper = colour('@paper');
    const font = getComputedStyle(document.body).fontFamily;
    const axis = one => ({
      axisLine: { lineStyle: { color: rule } }, nameTextStyle: { color: quiet }, splitLine: { lineStyle: { color: rule } },
      ...one, axisLabel: { color: quiet, hideOverlap: true, ...one.axisLabel },
    });
    for (const name of ['xAxis', 'yAxis']) {
      if (own[name]) own[name] = [].concat(own[name]).map(axis);
    }
    if (own.legend) {
      // As many words as there are take as many rows as they need.
      const rows = Math.ceil(own.series.length / Math.max(Math.floor(width / LEGEND_WORD_PX), 1));
      own.legend.type = 'plain';
      if (own.grid) own.grid.top = Math.max(own.grid.top ?? 0, 12 + rows * LEGEND_ROW_PX);
    }
    if (width < NARROW_PX) {
      for (const one of own.yAxis ?? []) if (one.axisLabel.width) one.axisLabel.width = width / 3;
      for (const one of own.xAxis ?? []) if (one.axisLabel.width) Object.assign(one.axisLabel, { rotate: 60, width: one.position === 'top' ? 144 : 96, overflow: 'truncate' });
      for (const series of own.series.filter(each => each.type === 'sankey')) {
        Object.assign(series, { right: width / 4, label: { ...series.label, width: width / 4, fontSize: 10 } });
      }
    }
    for (const series of own.series) {
      series.cursor = 'pointer';
      series.label = { color: ink, textBorderWidth: 0, ...series.label };
    }
    return {
      animation: false, textStyle: { color: ink, fontFamily: font }, aria: { decal: { show: false } }, ...own,
      legend: own.legend && { ...own.legend, textStyle: { color: ink } },
      // As text in the picture: a tooltip of HTML would need inline styles, which the policy forbids.
      tooltip: own.tooltip && {
        confine: true, renderMode: 'richText', transitionDuration: calm.matches ? 0 : 0.1, backgroundColor: paper, borderColor: quiet,
        textStyle: { color: ink, fontFamily: font }, formatter: own.tooltip.trigger === 'item' ? item => said(item) : undefined, ...own.tooltip,
      },
    };
  }

  function said({ data, name }) {
    if (data?.what) return data.what;
    if (data?.count !== undefined) return `${data.count} logs, ${data.value[2]} %`;
    return data?.label?.formatter ?? name;
  }

  // Out of the frame of another page: only the picture may stand there.
  function lead(href) {
    if (document.querySelector('base[target]')) open(href, '_blank', 'noopener'); else location.assign(href);
  }

  function draw(figure) {
    const box = figure.querySelector('.picture');
    let chart = drawn.get(figure);
    if (!chart) {
      chart = echarts.init(box, null, { renderer: 'svg' });
      chart.on('click', ({ data }) => { if (data?.href) lead(data.href); });
      let before = box.clientWidth;
      new ResizeObserver(() => {
        chart.resize();
        if ((before < NARROW_PX) !== (box.clientWidth < NARROW_PX)) chart.setOption(option(figure, box.clientWidth), true);
        before = box.clientWidth;
      }).observe(box);
      drawn.set(figure, chart);
    }
    chart.setOption(option(figure, box.clientWidth), true);
    figure.dataset.drawn = 'yes';
  }

  function all() {
    for (const [figure, chart] of drawn) {
      if (!figure.isConnected) { chart.dispose(); drawn.delete(figure); }
    }
    document.querySelectorAll('figure.chart').forEach(draw);
  }

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', all);
  document.addEventListener('htmx:after:swap', all);
  addEventListener('beforeprint', all);
  all();
})();
