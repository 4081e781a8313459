// What agents used, over time and in all.

const SERIES = 6;

function tokens() {
  const uses = page.uses.map(([name, input, output, cached, growth]) => ({ name, input, output, cached, growth, sum: input + output + cached }));
  if (!uses.length) return;
  byId("tokens").hidden = false;
  const total = uses.reduce((sum, use) => sum + use.sum, 0);
  byId("tokens-says").textContent = `${number(total)} in all, by ${many(uses.length, "agent")}; as recorded, with what came from a cache.`;
  const shown = uses.slice(0, uses.length > SERIES ? SERIES - 1 : SERIES);
  byId("use").append(chart(shown, uses.slice(shown.length), total), usage(uses, shown.length, total));
}

/** What each had used at a moment, for every moment at which that changed. */
function levels(shown, others) {
  const steps = [];
  [...shown, ...others].forEach((use, n) => {
    let before = 0;
    for (let i = 0; i < use.growth.length; i += 2) {
      steps.push([use.growth[i], Math.min(n, shown.length), use.growth[i + 1] - before]);
      before = use.growth[i + 1];
    }
  });
  steps.sort((one, other) => one[0] - other[0]);
  const now = new Array(shown.length + (others.length ? 1 : 0)).fill(0);
  const found = [[range.begin, [...now]]];
  for (const [moment, series, more] of steps) {
    now[series] += more;
    if (found[found.length - 1][0] === moment) found[found.length - 1][1] = [...now];
    else found.push([moment, [...now]]);
  }
  found.push([range.end, [...now]]);
  return found;
}

function chart(shown, others, total) {
  const found = levels(shown, others);
  const drawn = svg("svg", { viewBox: "0 0 1000 240", preserveAspectRatio: "none", "aria-hidden": "true" });
  const x = (moment) => (place(moment) * 10).toFixed(1);
  const y = (sum) => (240 - (236 * sum) / (total || 1)).toFixed(1);
  for (let series = found[0][1].length - 1; series >= 0; series -= 1) {
    const sumTo = (values) => values.slice(0, series + 1).reduce((sum, value) => sum + value, 0);
    let path = `M0 240`;
    let height = "240";
    for (const [moment, values] of found) {
      path += `L${x(moment)} ${height}L${x(moment)} ${(height = y(sumTo(values)))}`;
    }
    drawn.append(svg("path", { d: `${path}L1000 240Z`, class: `s${series}` }));
  }
  const made = el("div", { class: "chart" }, drawn);
  for (const part of [1, 0.5]) {
    const line = el("span", { class: "grid", "aria-hidden": "true" }, short(Math.round(total * part)));
    line.style.bottom = `${(98.3 * part).toFixed(1)}%`;
    made.append(line);
  }
  return el("figure", { role: "img", "aria-label": `How the use of tokens grew to ${number(total)}; the table has the sums` }, made, axis());
}

function usage(uses, own, total) {
  const head = ["Agent", "Input", "Output", "Cached", "Share"];
  const rows = uses.map((use, n) => {
    const share = total ? (100 * use.sum) / total : 0;
    const bar = el("i", { class: `s${Math.min(n, own)}` });
    bar.style.width = `${share}%`;
    return el("tr", {},
      el("th", { scope: "row" }, el("i", { class: `swatch s${Math.min(n, own)}`, "aria-hidden": "true" }), el("bdi", {}, brief(use.name || "unnamed", 60))),
      ...[use.input, use.output, use.cached].map((count) => el("td", {}, number(count))),
      el("td", { class: "share" }, el("span", { "aria-hidden": "true" }, bar), `${share < 1 && share > 0 ? "<1" : Math.round(share)} %`),
    );
  });
  const body = el("tbody", {});
  const [, more] = some(rows, (row) => row, body, 12);
  const sums = el("table", {}, el("thead", {}, el("tr", {}, ...head.map((word) => el("th", { scope: "col" }, word)))), body);
  return el("div", { class: "scroll" }, sums, more);
}
