// The page: an overview, the roofline, and one problem at a time, so that thousands of rows stay quick.

const data = JSON.parse(document.getElementById("data").textContent);
const mostDistributions = 16;

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const rawOf = (cell) => (Array.isArray(cell) ? cell[0] : cell);
const textOf = (cell) => (cell === null ? "" : String(Array.isArray(cell) ? cell[1] : cell));
const column = (name) => data.columns.findIndex((c) => c.name === name);
const providers = [...new Set(data.problems.flatMap((p) => p.rows.map((r) => r.provider)))].sort(
  (a, b) => (b === "kiln") - (a === "kiln") || a.localeCompare(b));
const providerIndex = (name) => providers.indexOf(name);
const speed = (problem, row) => (row.ns > 0 ? problem.flops / row.ns : 0);
const fine = (row) => row.ok && row.ns > 0;
const fastest = (rows) => rows.reduce((best, row) => (best && best.ns <= row.ns ? best : row), null);
const shortName = (text) => text.replace(/^tile_config_/, "");

// A long name may be broken behind its underscores.
function breakable(text) {
  const parts = text.split(/(?<=_)/);
  return parts.flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
}

// A sentence whose parts in backquotes are code.
const sentence = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

function compare(a, b) {
  const empty = (v) => v === null || v === undefined || v === "";
  if (empty(a) || empty(b)) return { order: empty(a) - empty(b), fixed: true }; // what is missing is always last
  return { order: typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)), fixed: false };
}

// columns: {header, right, docs, long}; rows: {cells, element: called with the table row}. Sorts itself in place.
function sortableTable(columns, rows, caption) {
  const body = make("tbody");
  const heads = columns.map((c, index) => {
    const head = make("th", { scope: "col", class: c.right ? "right" : "" });
    head.append(make("button", { type: "button", title: c.docs || "", onclick: () => sort(index) }, c.header));
    return head;
  });
  const lines = rows.map((row) => {
    const line = make("tr", { class: row.kind || "" });
    row.cells.forEach((cell, i) => {
      const parts = breakable(textOf(cell));
      const text = row.links && row.links[i] ? [make("a", { href: row.links[i] }, ...parts)] : parts;
      const kind = columns[i].right ? "right" : textOf(cell).length > 60 ? "long" : parts.length > 3 ? "parts" : "";
      line.append(make("td", { class: kind }, ...text));
    });
    return { line, row };
  });
  function sort(index) {
    const ascending = heads[index].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[index].setAttribute("aria-sort", ascending ? "ascending" : "descending");
    lines.sort((a, b) => {
      const { order, fixed } = compare(rawOf(a.row.cells[index]), rawOf(b.row.cells[index]));
      return fixed || ascending ? order : -order;
    });
    body.append(...lines.map((l) => l.line));
  }
  body.append(...lines.map((l) => l.line));
  const table = make("table", { "aria-label": caption }, make("thead", {}, make("tr", {}, ...heads)), body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

function legend() {
  const list = make("div", { class: "legend" });
  providers.forEach((name, i) => {
    const icon = svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(i, 7, 7, 5));
    list.append(make("span", {}, icon, name));
  });
  return list;
}

// Which run a problem's rows are of, where there are several.
const runOf = (problem) => (data.runs.length > 1 ? `run ${problem.run} of ${problem.date}${problem.tags ? `, tags ${problem.tags}` : ""}` : "");

function showRuns() {
  const place = document.getElementById("runs");
  for (const run of data.runs)
    place.append(make("div", { class: "run" }, `Run ${run.key}, ${run.started}, ${run.cache || "?"} cache`
      + `${run.tags ? `, tags ${run.tags}` : ""}${run.data ? `, data ${run.data}` : ""}${run.version ? `, Kiln ${run.version}` : ""}: `, make("code", {}, run.command)),
      run.warning ? make("p", { class: "note" }, ...sentence(`When ${data.runs.length > 1 ? `run ${run.key}` : "it"} began: ${run.warning}`)) : "");
  if (data.notes.length)
    place.append(make("ul", { class: "quiet" }, ...data.notes.map((note) => make("li", {}, note))));
  if (data.unfinished.length)
    place.append(make("p", { class: "bad" }, `Not finished, and not ranked: ${data.unfinished.join(", ")}`));
  if (data.notBegun)
    place.append(make("p", { class: "bad" }, `Problems of the sweep that were never begun: ${data.notBegun}`));
}

// The fields of a family's problems in which they differ: what a reader looks for in their names.
function fieldsOf(problems) {
  const names = [...new Set(problems.flatMap((p) => p.fields.map(([name]) => name)))];
  const valueOf = (problem, name) => (problem.fields.find(([key]) => key === name) || [name, ""])[1];
  return names.filter((name) => new Set(problems.map((p) => valueOf(p, name))).size > 1)
    .map((name) => ({ header: name, cell: (problem) => {
      const value = valueOf(problem, name);
      return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
    } }));
}

function familyTable(family) {
  const problems = data.problems.filter((p) => p.family === family);
  const fields = problems.length > 1 ? fieldsOf(problems) : [];
  const numeric = (field) => problems.every((p) => typeof field.cell(p) === "number");
  // Of several runs it is what tells rows apart, and stands first.
  const several = data.runs.length > 1;
  const runColumns = [{ header: "Run" }, { header: "Date" }, { header: "Tags" }];
  const columns = [
    { header: "Problem" }, ...(several ? runColumns : []), { header: "Best Kiln", right: true, docs: "Median time of the fastest right configuration" },
    { header: "Best library", right: true }, { header: "%best", right: true, docs: "Kiln's speed, of the fastest library's" },
    { header: "Noise", docs: data.columns[column("noise")].docs },
    { header: "GFLOP/s", right: true }, { header: "Right?", docs: data.columns[column("checked")].docs }, { header: "Failed", right: true }, { header: "Configuration" }, { header: "Library" },
    ...fields.map((f) => ({ header: f.header, right: numeric(f) })), ...(several ? [] : runColumns.slice(0, 1))];
  const configuration = column("configuration"), time = column("call_median_ns"), gflops = column("GFLOPs");
  const rows = problems.map((problem) => {
    const good = problem.rows.filter(fine);
    const kiln = fastest(good.filter((r) => r.provider.startsWith("kiln")));
    const vendor = fastest(good.filter((r) => !r.provider.startsWith("kiln") && !r.provider.startsWith("reference")));
    const failed = problem.rows.filter((r) => !r.ok && textOf(r.cells[column("outcome")]) !== "unsupported").length;
    return {
      cells: [problem.name, ...(several ? [problem.run, problem.date, problem.tags] : []), kiln ? kiln.cells[time] : null, vendor ? vendor.cells[time] : null,
        kiln ? kiln.cells[column("best_percent")] : null,
        [kiln, vendor].map((r) => (r ? textOf(r.cells[column("noise")]) : "")).find(Boolean) || null, kiln ? kiln.cells[gflops] || "n/a" : null,
        kiln ? kiln.cells[column("checked")] : null, failed,
        kiln ? shortName(textOf(kiln.cells[configuration])) : null, vendor ? vendor.provider : null, ...fields.map((f) => f.cell(problem)),
        ...(several ? [] : [problem.run])],
      links: [`#${data.problems.indexOf(problem)}`],
    };
  });
  // A family that no library knows has no columns of libraries.
  const used = columns.map((c, i) => i).filter((i) => rows.some((row) => row.cells[i] !== null && textOf(row.cells[i]) !== ""));
  return sortableTable(used.map((i) => columns[i]), rows.map((row) => ({ ...row, cells: used.map((i) => row.cells[i]) })), family);
}

// Families have fields of their own, so each has a table of its own.
function showOverview() {
  const place = document.getElementById("overview");
  const total = data.problems.reduce((sum, p) => sum + p.rows.length, 0);
  const families = [...new Set(data.problems.map((p) => p.family))];
  place.append(make("h2", {}, "All problems"), make("p", { class: "quiet" }, `${counted(data.problems.length, "problem")}, ${counted(total, "row")}`));
  for (const family of families) {
    if (families.length > 1) place.append(make("h3", {}, family));
    place.append(familyTable(family));
  }
}

function showRoofline() {
  const place = document.getElementById("roofline");
  place.replaceChildren(make("h2", {}, "Roofline"));
  if (!data.peaks.gb_per_s || !Object.keys(data.peaks.gflops).length) {
    place.append(make("p", { class: "quiet" }, "This machine's ceilings are not known; kiln calibrate measures them."));
    return;
  }
  const points = [];
  for (const problem of data.problems)
    for (const provider of providers) {
      const best = fastest(problem.rows.filter((r) => fine(r) && r.provider === provider));
      if (best && problem.bytes > 0 && problem.flops > 0)
        points.push({ x: problem.flops / problem.bytes, y: speed(problem, best), provider: providerIndex(provider),
          label: `${problem.name}\n${runOf(problem) ? `${runOf(problem)}\n` : ""}${provider} ${shortName(textOf(best.cells[column("configuration")]))}\n`
            + `${short(speed(problem, best))} GFLOP/s, ${duration(best.ns)}` });
    }
  const without = data.problems.filter((p) => !p.flops).length;
  if (!points.length) {
    place.append(make("p", { class: "quiet" }, "No row has both a time and a known number of operations."));
    return;
  }
  place.append(make("p", { class: "quiet" }, "The fastest row of each provider for each problem, below this machine's measured ceilings."
    + (without ? ` ${without} problem${without > 1 ? "s" : ""} of unknown arithmetic ${without > 1 ? "are" : "is"} not in it.` : "")),
    legend(), rooflineChart(points, data.peaks, place.clientWidth));
}

const state = { problem: 0, provider: "", failed: true, all: false };

function problemControls() {
  const select = make("select", { onchange: (e) => { location.hash = e.target.value; } });
  data.problems.forEach((p, i) => select.append(make("option", { value: i, selected: i === state.problem }, runOf(p) ? `${p.name} (${runOf(p)})` : `${p.name} (${p.run})`)));
  const provider = make("select", { onchange: (e) => { state.provider = e.target.value; showProblem(); } });
  for (const name of ["", ...providers]) provider.append(make("option", { value: name, selected: name === state.provider }, name || "all"));
  const check = (text, key) => make("label", {}, make("input", { type: "checkbox", checked: state[key],
    onchange: (e) => { state[key] = e.target.checked; showProblem(); } }), text);
  return make("div", { class: "controls" }, make("label", {}, "Problem", select), make("label", {}, "Provider", provider),
    check("rows without a time", "failed"), check("all columns", "all"));
}

function problemTable(rows) {
  const used = data.columns.map((c, i) => i).filter((i) => rows.some((r) => textOf(r.cells[i]) !== "")
    && (state.all || data.columns[i].shown));
  return sortableTable(used.map((i) => data.columns[i]), rows.map((row, at) => ({
    cells: used.map((i) => {
      const cell = row.cells[i];
      return data.columns[i].name === "configuration" && cell ? [rawOf(cell), shortName(textOf(cell))] : cell;
    }),
    kind: at === 0 ? "first" : "",
  })), "Candidates");
}

// What has no time says why, in words.
function failureTable(rows) {
  const cell = (row, name) => textOf(row.cells[column(name)]);
  return sortableTable(["Outcome", "Provider", "Configuration", "Why", "Row"].map((header) => ({ header })), rows.map((row) => ({
    cells: [cell(row, "outcome"), row.provider, shortName(cell(row, "configuration")), row.why || "", cell(row, "row")],
  })), "Candidates without a time");
}

// The fastest configuration of each tile of that kind, "cache" or "register"; nothing where there is but one tile.
function heatMapOf(kind, problem, rows, width) {
  const best = new Map();
  for (const row of rows.filter((r) => r.tiles && r.tiles[kind] && fine(r))) {
    const key = row.tiles[kind].join("x");
    if (!best.has(key) || best.get(key).ns > row.ns) best.set(key, row);
  }
  if (best.size < 2) return null;
  const axes = kind === "cache" ? "m \\ n" : "r \\ c";
  return heatMap([...best.values()].map((row) => ({ m: row.tiles[kind][0], n: row.tiles[kind][1], value: speed(problem, row),
    label: `${shortName(textOf(row.cells[column("configuration")]))}: ${short(speed(problem, row))} GFLOP/s` })), width, axes);
}

function showHeatMaps(place, problem, rows) {
  if (!rows.some((r) => r.tiles && fine(r))) return;
  place.append(make("h3", {}, "Tiles"));
  const maps = make("div", { class: "maps" });
  const half = place.clientWidth > 1000 ? (place.clientWidth - 32) / 2 : place.clientWidth;
  const missing = [];
  for (const [kind, name] of [["cache", "Cache tiles m x n"], ["register", "Register tiles, rows x columns"]]) {
    const map = problem.flops ? heatMapOf(kind, problem, rows, half) : null;
    if (map) maps.append(make("figure", { style: `max-width: ${half}px` }, make("figcaption", {}, name), map));
    else missing.push(kind);
  }
  if (maps.childElementCount)
    place.append(make("p", { class: "quiet" }, "GFLOP/s of the fastest configuration of each tile; the best is framed."), maps);
  if (missing.length)
    place.append(make("p", { class: "quiet" }, problem.flops ? `No map of ${missing.join(" and ")} tiles: there is but one size of them.`
      : "No map: the number of operations is not known."));
}

function showDistributions(place, rows) {
  const sampled = rows.filter((r) => r.samples);
  if (!sampled.length) {
    if (rows.some(fine)) place.append(make("h3", {}, "Samples"), make("p", { class: "quiet" }, "The store holds no samples of these rows."));
    return;
  }
  const shown = sampled.slice(0, mostDistributions).map((r) => ({ name: [r.provider, shortName(textOf(r.cells[column("configuration")]))].join(" "),
    provider: providerIndex(r.provider), quantiles: r.samples.q, rounds: r.samples.r, low: r.low, high: r.high, median: r.ns }));
  place.append(make("h3", {}, "Samples"), make("p", { class: "quiet" },
    `Time of a call${wideRange(shown) ? ", on a logarithmic axis" : ""}: thin from the fastest to the 98th percentile, thick over the middle 80 %, a tick at the median; dots are medians of rounds.`
    + (sampled.length > shown.length ? ` The first ${shown.length} of ${sampled.length} rows.` : "")), legend(), distributionChart(shown, place.clientWidth));
}

function showProblem() {
  const place = document.getElementById("problem");
  const problem = data.problems[state.problem];
  if (!problem) { place.replaceChildren(); return; }
  const rows = problem.rows.filter((r) => (!state.provider || r.provider === state.provider) && (state.failed || r.ok));
  place.replaceChildren(make("h2", { id: "one" }, problem.name), problemControls(),
    runOf(problem) ? make("p", { class: "run" }, `Of ${runOf(problem)}`) : "",
    make("p", { class: "quiet" }, problem.work + (problem.status === "finished" ? "" : `; ${problem.status}: nothing is concluded`)),
    make("p", { class: "quiet" }, problem.fields.map(([name, value]) => `${name} ${value}`).join(", ")));
  if (!rows.length) { place.append(make("p", {}, "No rows.")); return; }
  if (problem.warning) place.append(make("p", { class: "note" }, ...sentence(problem.warning)));
  for (const text of [problem.default, problem.clock, problem.cut]) if (text) place.append(make("p", { class: "note" }, ...sentence(text)));
  const timed = rows.filter(fine), told = rows.filter((r) => !fine(r));
  if (timed.length) place.append(problemTable(timed));
  if (told.length) place.append(make("h3", {}, "Without a time"), failureTable(told));
  showHeatMaps(place, problem, rows);
  showDistributions(place, rows);
}

function choose(scroll) {
  const index = Number(location.hash.slice(1));
  state.problem = Number.isInteger(index) && index >= 0 && index < data.problems.length ? index : 0;
  showProblem();
  if (scroll) document.getElementById("problem").scrollIntoView();
}

showRuns();
showOverview();
showRoofline();
choose(false);
addEventListener("hashchange", () => choose(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showProblem());
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  showRoofline();
  showProblem();
});
