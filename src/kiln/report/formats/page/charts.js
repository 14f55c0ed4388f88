"use strict";
// Charts as SVG. Each takes data and a width in pixels, and returns an element.

const svgNames = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(svgNames, tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  for (const child of children)
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return element;
}

function chart(width, height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);
}

function tip(element, text) {
  element.append(svg("title", {}, text));
  return element;
}

const color = (index) => `var(--c${index % 6})`;

// A provider has a shape besides its colour, for those who cannot tell colours apart.
function mark(index, x, y, size) {
  const fill = color(index);
  const shape = index % 4;
  if (shape === 0) return svg("circle", { cx: x, cy: y, r: size, fill });
  if (shape === 1) return svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, fill });
  const s = size * 1.25;
  if (shape === 2) return svg("path", { d: `M${x} ${y - s}L${x + s} ${y + s}L${x - s} ${y + s}Z`, fill });
  return svg("path", { d: `M${x} ${y - s}L${x + s} ${y}L${x} ${y + s}L${x - s} ${y}Z`, fill });
}

function short(value) {
  if (value >= 1e4 || (value < 0.01 && value > 0)) return value.toExponential(0).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

function duration(ns) {
  for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= unit) return `${Number((ns / unit).toPrecision(4))} ${name}`;
  return `${Number(ns.toPrecision(4))} ns`;
}

// Round numbers that cover low to high: about `count` of them.
function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  const result = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) result.push(value);
  return result;
}

// Powers of ten from low to high; where these are few, twice and five times them, too.
function decades(low, high) {
  const steps = Math.log10(high / low) < 3 ? [1, 2, 5] : [1];
  const result = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high) + 1e-9; ++e)
    for (const step of steps)
      if (step * 10 ** e >= low * (1 - 1e-9) && step * 10 ** e <= high * (1 + 1e-9)) result.push(step * 10 ** e);
  return result;
}

// points: {x: FLOP a byte, y: GFLOP/s, provider: index, label}. Both axes are logarithmic.
function rooflineChart(points, peaks, width) {
  const height = Math.min(420, Math.max(260, width * 0.5));
  const [left, right, top, bottom] = [56, 16, 12, 40];
  const compute = Object.entries(peaks.gflops);
  const most = Math.max(...compute.map(([, value]) => value), ...points.map((p) => p.y));
  const xLow = Math.min(0.25, ...points.map((p) => p.x / 1.5));
  const ridge = most / peaks.gb_per_s;
  const xHigh = Math.max(ridge * 4, ...points.map((p) => p.x * 1.5));
  const yLow = Math.min(xLow * peaks.gb_per_s, ...points.map((p) => p.y / 1.5));
  const yHigh = most * 1.6;
  const log = (v, low, high) => Math.log(v / low) / Math.log(high / low);
  const x = (v) => left + log(v, xLow, xHigh) * (width - left - right);
  const y = (v) => height - bottom - log(v, yLow, yHigh) * (height - top - bottom);
  const root = chart(width, height, "Roofline: speed over arithmetic intensity, both logarithmic");
  for (const v of decades(xLow, xHigh))
    root.append(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom }),
      svg("text", { class: "quiet", x: x(v), y: height - bottom + 16, "text-anchor": "middle" }, short(v)));
  for (const v of decades(yLow, yHigh))
    root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }),
      svg("text", { class: "quiet", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, short(v)));
  root.append(svg("text", { class: "quiet", x: width - right, y: height - 6, "text-anchor": "end" }, "FLOP a byte"),
    svg("text", { class: "quiet", x: left + 4, y: top + 10 }, "GFLOP/s"));
  const line = { fill: "none", stroke: "var(--text)", "stroke-width": 1.5 };
  for (const [type, peak] of compute) {
    const knee = peak / peaks.gb_per_s;
    root.append(svg("path", { ...line, d: `M${x(xLow)} ${y(xLow * peaks.gb_per_s)}L${x(knee)} ${y(peak)}L${x(xHigh)} ${y(peak)}` }),
      svg("text", { x: width - right - 4, y: y(peak) - 5, "text-anchor": "end" }, `${type}: ${short(peak)} GFLOP/s`));
  }
  root.append(svg("text", { x: x(xLow * 1.3) + 8, y: y(xLow * 1.3 * peaks.gb_per_s) + 18 }, `memory: ${short(peaks.gb_per_s)} GB/s`));
  for (const p of points) root.append(tip(mark(p.provider, x(p.x), y(p.y), 4.5), p.label));
  return root;
}

// cells: {m, n, value: GFLOP/s, label}: the best of each tile; `axes` names rows and columns. Darker is faster; the best is framed.
function heatMap(cells, width, axes) {
  const ms = [...new Set(cells.map((c) => c.m))].sort((a, b) => a - b);
  const ns = [...new Set(cells.map((c) => c.n))].sort((a, b) => a - b);
  const left = 64, top = 30, row = 34;
  const column = Math.min(96, (width - left) / ns.length);
  const height = top + row * ms.length + 4;
  const values = cells.map((c) => c.value);
  const low = Math.min(...values), high = Math.max(...values);
  const name = (v) => (v === 0 ? "all" : v);
  // From here on the ground's colour reads better on the cell than the text's.
  const turn = matchMedia("(prefers-color-scheme: dark)").matches ? 0.5 : 0.7;
  const root = chart(width, height, "Speed in GFLOP/s by tile: rows are m, columns are n");
  root.append(svg("text", { class: "quiet", x: 0, y: 18 }, axes));
  ns.forEach((n, j) => root.append(svg("text", { class: "quiet", x: left + column * (j + 0.5), y: 18, "text-anchor": "middle" }, name(n))));
  ms.forEach((m, i) => root.append(svg("text", { class: "quiet", x: left - 8, y: top + row * (i + 0.5) + 4, "text-anchor": "end" }, name(m))));
  // What is framed comes last, so that nothing lies over its frame.
  for (const cell of [...cells].sort((a, b) => a.value - b.value)) {
    const part = high > low ? (cell.value - low) / (high - low) : 1;
    const x = left + column * ns.indexOf(cell.n), y = top + row * ms.indexOf(cell.m);
    const best = cell.value === high;
    root.append(tip(svg("g", {},
      svg("rect", { x: x + 1, y: y + 1, width: column - 2, height: row - 2, rx: 3,
        style: `fill: color-mix(in oklab, var(--heat1) ${Math.round(part * 100)}%, var(--heat0))`,
        stroke: best ? "var(--text)" : "none", "stroke-width": 2 }),
      column < 34 ? "" : svg("text", { x: x + column / 2, y: y + row / 2 + 4, "text-anchor": "middle",
        style: `fill: ${part > turn ? "var(--ground)" : "var(--text)"}` }, short(cell.value))), cell.label));
  }
  return root;
}

// Whether times are so far apart that a linear axis would show only the slowest.
const wideRange = (rows) => Math.max(...rows.map((r) => r.quantiles[49])) > 8 * Math.min(...rows.map((r) => r.quantiles[0]));

// rows: {name, provider: index, quantiles, rounds, low, high, median}. A thin line from the fastest call to the 98th
// percentile, a thick one over the middle 80 %, a tick at the median, and a dot for each round's median below.
function distributionChart(rows, width) {
  const narrow = width < 640;
  const left = narrow ? 8 : Math.min(330, width * 0.4), right = 14, top = 8, step = narrow ? 50 : 34, bottom = 26;
  const height = top + rows.length * step + bottom;
  const low = Math.max(1e-3, Math.min(...rows.map((r) => r.quantiles[0])));
  const high = Math.max(low, ...rows.map((r) => r.quantiles[49]));
  const logarithmic = wideRange(rows);
  const part = (v) => (logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low || 1));
  const x = (v) => left + part(Math.min(Math.max(v, low), high)) * (width - left - right);
  const marks = logarithmic ? decades(low, high) : ticks(low, high, narrow ? 4 : 6);
  const root = chart(width, height, "Distribution of samples of each candidate");
  for (const v of marks)
    root.append(svg("line", { class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom }),
      svg("text", { class: "quiet", x: x(v), y: height - 8, "text-anchor": x(v) > width - 40 ? "end" : x(v) < 30 ? "start" : "middle" }, duration(v)));
  rows.forEach((r, i) => {
    const y = top + i * step + (narrow ? 28 : 13);
    const stroke = color(r.provider);
    const label = narrow ? svg("text", { x: 0, y: y - 12 }, r.name)
      : svg("text", { x: left - 10, y: y + 5, "text-anchor": "end" }, r.name.length > 44 ? `${r.name.slice(0, 43)}…` : r.name);
    const [a, b] = [x(r.quantiles[5]), x(r.quantiles[45])];
    const group = svg("g", {}, label,
      svg("line", { x1: x(r.quantiles[0]), x2: x(r.quantiles[49]), y1: y, y2: y, stroke, "stroke-width": 1 }),
      svg("rect", { x: a, y: y - 4, width: Math.max(b - a, 1), height: 8, rx: 2, fill: stroke, "fill-opacity": 0.45 }),
      svg("rect", { x: x(r.quantiles[25]) - 1.5, y: y - 8, width: 3, height: 16, fill: stroke }));
    for (const median of r.rounds)
      group.append(svg("circle", { cx: x(median), cy: y + 12, r: 1.6, fill: stroke, "fill-opacity": 0.7 }));
    root.append(tip(group, `${r.name}: median ${duration(r.median)} (${duration(r.low)} to ${duration(r.high)}), `
      + `10 % below ${duration(r.quantiles[5])}, 10 % above ${duration(r.quantiles[45])}, ${r.rounds.length} rounds`));
  });
  return root;
}
