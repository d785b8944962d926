"""Reads the charts of a page in a browser: what their marks and lines say."""

# A chart: its title, data.labels (categories or rows) and data.datasets. A dataset has a label, a colour, its point shape, whether it
# is dashed, and data: points with x, y (null without a value), the record, and all facts of the mark. In a chart of rows, x is the
# value and y the row's name.
_CHART = """((figure) => {{
    const names = [...figure.querySelectorAll('.legend > li')].map((entry) => entry.textContent);
    const number = (text) => (text === '' ? null : Number.isNaN(Number(text)) ? text : Number(text));
    const point = (mark) => {{
      const facts = {{ ...mark.dataset, record: tbench.records[mark.dataset.case], mark: mark.dataset.y === '' ? mark.dataset.status : undefined }};
      return mark.dataset.row === undefined ? {{ ...facts, x: number(mark.dataset.x), y: number(mark.dataset.y) }} : {{ ...facts, x: number(mark.dataset.y), y: mark.dataset.x }};
    }};
    const datasets = [...figure.querySelectorAll('g.series')].map((group, i) => {{
      const marks = [...group.querySelectorAll('[data-y]:not(.gone)')];
      const line = group.querySelector('.line');
      const values = line?.dataset.values?.split(',').map((one) => one.split(' ').map(Number)).map(([px, y, x]) => ({{ x: x ?? px, y: x === undefined ? y : y }}));
      const shown = marks.find((mark) => mark.matches('.point, .bar'));
      return {{ label: names[i] ?? '', data: values ?? marks.map(point), borderColor: shown ? getComputedStyle(shown)[shown.matches('.open') ? 'stroke' : 'fill'] : line ? getComputedStyle(line).stroke : '',
        shape: marks[0]?.getAttribute('d')?.replace(/^M[^m]+/, ''), dashed: Boolean(line?.classList.contains('dashed')) }};
    }}).filter((set) => set.data.length > 0 || set.dashed);
    const rows = [...figure.querySelectorAll('text[data-row]:not(.gone)')].map((text) => text.textContent);
    const categories = [...new Set(datasets.flatMap((set) => set.data.map((p) => p.x)))];
    return {{ title: figure.querySelector('figcaption').textContent, data: {{ labels: rows.length ? rows : categories, datasets }} }};
  }})"""

# The chart in a node. Use CHART.format(node).
CHART = _CHART + "({}.querySelector('figure'))"
# The charts of a plot. Use CHARTS.format(id).
CHARTS = "[...document.querySelectorAll('#{} figure:not([hidden])')].map(" + _CHART + ")"
TITLES = "[...document.querySelectorAll('#{} figure:not([hidden]) figcaption')].map((caption) => caption.textContent)"


def ready(browser):
    """Waits until the charts are in the page and the filters have been applied to them."""
    browser.evaluate("tbench.charts.ready.then(() => new Promise((done) => setTimeout(done, 50)))")


def settled(browser, milliseconds=300):
    """Waits for filters that were just changed."""
    browser.evaluate(f"new Promise((done) => setTimeout(done, {milliseconds}))")
