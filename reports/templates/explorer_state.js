// The glue of the explorer: the address says what is shown, DataTables and Plotly show it.
// Scores, points, verdicts and times come from the page's data (vnnanalysis/explorer_data.py).
// One module in four files, in this order: explorer_state, _figures, _views, explorer.

const data = JSON.parse(element("data").textContent);
const source = JSON.parse(element("table-module").textContent);
const { default: DataTable } = await import(
  URL.createObjectURL(new Blob([source], { type: "text/javascript" }))
);

function element(id) {
  return document.getElementById(id);
}

// ---- Data: the columns of one rule variant, words in place of their numbers ----

const { instances, rows, tools, benchmarks } = data;
const toolOf = Object.fromEntries(tools.map((tool) => [tool.id, tool]));
const everyRow = rows.tool.map((_, row) => row);
const rowAt = instances.name.map(() => ({})); // [instance][tool]: row
everyRow.forEach((row) => (rowAt[rows.instance[row]][rows.tool[row]] = row));

function column(name, place) {
  const form = data.columns[name][place];
  if (form.like === undefined) return form.values;
  const values = column(name, form.like).slice();
  form.rows.forEach((row, k) => (values[row] = form.values[k]));
  return values;
}

function withColumns(variant) {
  const decoded = Object.entries(variant.columns).map(([name, place]) => {
    const words = data.words[name];
    const values = column(name, place);
    return [name, words ? values.map((code) => words[code]) : values];
  });
  return { ...variant, run_s: column("seconds", 0), ...Object.fromEntries(decoded) };
}

const variants = new Map();
function variantOf(id) {
  const found = data.variants.find((variant) => variant.id === id) ?? data.variants[0];
  if (!variants.has(found.id)) variants.set(found.id, withColumns(found));
  return variants.get(found.id);
}

const benchmarkOf = (row) => benchmarks[instances.benchmark[rows.instance[row]]];
const instanceOf = (row) => instances.name[rows.instance[row]];
const rowTool = (row) => tools[rows.tool[row]];

// A table given as columns, as a list of objects.
function records(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, k) => Object.fromEntries(names.map((n) => [n, columns[n][k]])));
}

// ---- State: all of it is in the address ----

const DEFAULTS = {
  view: "overall", rules: data.variants[0].id, scope: "", plot: "cactus", x: data.pair[0],
  y: data.pair[1], tool: "", result: "", verdict: "", of: "", instance: "", search: "",
  searchDiffering: "", searchConflicting: "",
};
let state;
let now; // the variant in force

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const read = Object.entries(DEFAULTS).map(([key, value]) => [key, given.get(key) ?? value]);
  const found = { ...Object.fromEntries(read), hide: given.getAll("hide") };
  const ids = tools.map((tool) => tool.id);
  const known = {
    view: Object.keys(VIEWS), plot: Object.keys(PLOTS), scope: scopes.map(([value]) => value),
    x: ids, y: ids, tool: ids, result: data.words.result, verdict: data.words.verdict,
  };
  Object.keys(known).forEach((key) => {
    if (!known[key].includes(found[key])) found[key] = DEFAULTS[key];
  });
  if (found.view === "plots" && found.plot === "quantile" && !found.scope && data.tracks.length > 1)
    found.scope = `track:${data.tracks[0]}`; // scores of two tracks are not added up
  return found;
}

function address(changes) {
  const next = { ...state, ...changes };
  const set = Object.keys(DEFAULTS).filter((key) => next[key] !== DEFAULTS[key]);
  const pairs = [...set.map((key) => [key, next[key]]), ...next.hide.map((tool) => ["hide", tool])];
  return `#${new URLSearchParams(pairs)}`;
}

function go(changes, { replace = false } = {}) {
  if (replace) location.replace(address(changes));
  else location.hash = address(changes);
}

const scopes = [
  ["", "all benchmarks"],
  ...(data.tracks.length > 1 ? data.tracks.map((t) => [`track:${t}`, `track ${t}`]) : []),
  ...benchmarks.map((b) => [`benchmark:${b.id}`, b.name]),
];
const scopeName = () => scopes.find(([value]) => value === state.scope)[1];
const inScope = (b) => ["", `track:${b.track}`, `benchmark:${b.id}`].includes(state.scope);
const isShown = (tool) => !state.hide.includes(tool.id);

// ---- Texts ----

// Rounds as Python does: of two equally near numbers toFixed takes the upper, Python the even one.
function fixed(value, digits) {
  if (value === null) return "–";
  const text = value.toFixed(digits);
  const isTie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  if (!isTie || !/[13579]$/.test(text)) return text;
  return (value - Math.sign(value) * 10 ** -digits / 4).toFixed(digits);
}

const percent = (value) => (value === 0 ? "0%" : `${fixed(value, 1)}%`);
// Plotly reads a little HTML in its texts; names have none.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function make(tag, text, attributes = {}) {
  const node = Object.assign(document.createElement(tag), attributes);
  node.textContent = text;
  return node;
}

function toolNode(tool) {
  const node = make("span", tool.name);
  const swatch = make("span", "", { className: "swatch" });
  swatch.style.background = tool.color;
  node.prepend(swatch);
  return node;
}

const instanceLink = (benchmark, name) =>
  make("a", name, { href: address({ view: "instances", of: benchmark.id, instance: name }) });

function hoverText(row) {
  const said = `${rowTool(row).name}: ${fixed(now.seconds[row], 2)} s, ${now.result[row]}`;
  return [instanceOf(row), benchmarkOf(row).name, said].map(plain).join("<br>");
}

// ---- Files ----

function csvText(table) {
  const quoted = (value) =>
    /[",\r\n]/.test(value ?? "") ? `"${value.replace(/"/g, '""')}"` : `${value ?? ""}`;
  return table.map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

const fileName = () =>
  [data.label, now.id, state.view, ...(state.view === "overall" ? [] : [scopeName()])]
    .join("-").replace(/[^\w.-]+/g, "-");

function saveCsv() {
  const blob = new Blob([csvText(VIEWS[state.view].csv())], { type: "text/csv" });
  const link = make("a", "", { href: URL.createObjectURL(blob), download: `${fileName()}.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function savePicture() {
  const { data: traces, layout } = VIEWS[state.view].picture();
  const size = { width: 1000, height: layout.height };
  await Plotly.downloadImage(
    { data: traces, layout: { ...layout, autosize: false, ...size } },
    { format: "svg", filename: fileName(), ...size },
  );
}
