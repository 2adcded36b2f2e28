// The figures of the explorer, for Plotly: each is {data, layout} and what it shows as `csv`.
// They draw the columns of the variant in force; see explorer_state.js for these and for the state.

const PLOTS = { cactus: () => cactus(scopeRows()), quantile, scatter };
const GRID = "#e6e6e6";
const log10 = (value) => Math.log10(value);
const scopeRows = () => everyRow.filter((row) => inScope(benchmarkOf(row)));
const solvedRows = (list) => list.filter((row) => now.outcome[row] === "solved");
const byTime = (list) => list.slice().sort((a, b) => now.seconds[a] - now.seconds[b]);

function byTool(list) {
  const groups = tools.map(() => []);
  list.forEach((row) => groups[rows.tool[row]].push(row));
  return groups;
}

const isNarrow = () => innerWidth < 800;

function layoutOf(title, height, more) {
  const rules = plain(now.name).replace(isNarrow() ? /(.{40,}?), /g : /(.{100,}?), /g, "$1,<br>");
  const t = (isNarrow() ? 95 : 75) + 13 * (rules.split("<br>").length - 1);
  return {
    title: {
      text: [data.title, title].map(plain).join(isNarrow() ? "<br>" : ": "), subtitle: { text: rules }, x: 0,
      xref: "container", xanchor: "left", pad: { l: 8 }, font: { size: 15 },
    },
    height, margin: { t, r: 15, l: 65, b: 60 }, hovermode: "closest",
    font: { family: "system-ui, DejaVu Sans, sans-serif", size: 12.5, color: "#1d2733" },
    hoverlabel: { align: "left", namelength: 0 }, ...more,
  };
}

const told = (text) => ({ text, showarrow: false, xref: "paper", yref: "paper", x: 0.5, y: 0.5 });

const secondsAxis = (title, low, high) => ({
  title: { text: title, standoff: 8 }, type: "log", dtick: 1, exponentformat: "none", zeroline: false,
  range: [log10(low * 0.8), log10(high)], gridcolor: GRID,
});

// A log axis begins at the decade of the smallest time, but not below the floor of the rules.
function lowest(times) {
  const smallest = times.filter((time) => time > 0).reduce((a, b) => Math.min(a, b), Infinity);
  if (smallest === Infinity) return now.floor_s;
  return Math.max(now.floor_s, 10 ** Math.floor(log10(smallest)));
}

// One line with some marks for each tool, from its list of points {x, time, row (or null)}.
function curves(title, points, { xTitle, endOf, none }) {
  const drawn = tools.map((tool, k) => ({ tool, own: points[k] })).filter((c) => c.own.length);
  drawn.sort((a, b) => b.own.at(-1).x - a.own.at(-1).x);
  const low = lowest(drawn.map(({ own }) => own[0].time));
  const most = drawn.reduce((top, { own }) => Math.max(top, own.at(-1).time), low * 7);
  const traces = drawn.map(({ tool, own }) => ({
    type: "scatter", mode: "lines+markers", meta: tool.id, hoverinfo: "text",
    name: plain(`${tool.short} (${endOf(own.at(-1).x)})`), visible: isShown(tool) || "legendonly",
    x: own.map((p) => p.x), y: own.map((p) => Math.max(p.time, low)),
    line: { color: tool.color, dash: tool.dash, width: 1.8 },
    marker: { symbol: tool.symbol, color: tool.color, size: 7, maxdisplayed: 12 },
    customdata: own.map((p) => p.row),
    hovertext: own.map((p) => (p.row === null ? plain(tool.name) : hoverText(p.row))),
  }));
  const height = Math.max(480, 150 + 20 * traces.length) + (isNarrow() ? 150 : 0);
  const layout = layoutOf(title, height, {
    showlegend: true, legend: isNarrow() ? { orientation: "h", y: -0.2 } : {},
    xaxis: { title: { text: xTitle, standoff: 8 }, gridcolor: GRID, zerolinecolor: "#555" },
    yaxis: secondsAxis(`time per instance [s], at least ${now.floor_s} s`, low, most * 1.6),
    annotations: traces.length ? [] : [told(none)],
  });
  const lines = drawn.filter(({ tool }) => isShown(tool)).flatMap(({ tool, own }) =>
    own.map(({ x, time, row }) =>
      [tool.id, x, time, ...(row === null ? ["", ""] : [benchmarkOf(row).id, instanceOf(row)])]));
  return { data: traces, layout, lines };
}

function cactus(list, what = scopeName()) {
  const points = byTool(solvedRows(list)).map((own) =>
    byTime(own).map((row, k) => ({ x: k + 1, time: now.seconds[row], row })));
  const { lines, ...figure } = curves(`instances solved within a time, ${what}`, points, {
    xTitle: "instances solved", endOf: String, none: "Nothing was solved here.",
  });
  drawLimit(figure.layout, list);
  return { ...figure, csv: [["tool", "solved", "corrected_s", "benchmark", "instance"], ...lines] };
}

// The time limit, where all instances have the same.
function drawLimit(layout, list) {
  const limits = new Set(list.map((row) => instances.limit_s[rows.instance[row]]));
  const [limit] = limits;
  if (limits.size !== 1 || limit === null) return;
  const line = { color: "#555", width: 1, dash: "dot" };
  layout.shapes = [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: limit, y1: limit, line }];
  layout.annotations.push({
    text: `limit ${limit} s`, showarrow: false, xref: "paper", x: 0, xanchor: "left",
    y: log10(limit), yanchor: "bottom",
  });
  layout.yaxis.range[1] = Math.max(layout.yaxis.range[1], log10(limit * 2));
}

// Points times what a point of the tool counts on the benchmark, as in curves.quantile_points.
function quantile() {
  const worth = new Map();
  records(now.scores).forEach((line) => worth.set(`${line.benchmark}\n${line.tool}`, line.worth));
  const countOf = (row) =>
    now.points[row] * (worth.get(`${benchmarkOf(row).id}\n${rowTool(row).id}`) ?? 0);
  const points = byTool(scopeRows()).map((own) => {
    const gained = byTime(own.filter((row) => countOf(row) > 0));
    let x = own.reduce((sum, row) => sum + Math.min(countOf(row), 0), 0);
    if (!gained.length && !x) return [];
    const first = { x, time: gained.length ? now.seconds[gained[0]] : 0, row: null };
    return [first, ...gained.map((row) => ({ x: (x += countOf(row)), time: now.seconds[row], row }))];
  });
  const { lines, ...figure } = curves(`score gathered within a time, ${scopeName()}`, points, {
    xTitle: "accumulated score, from the sum of the penalties", endOf: (x) => fixed(x, 1),
    none: "No score here: none of these benchmarks is scored, or nobody has points.",
  });
  return { ...figure, csv: [["tool", "score", "corrected_s", "benchmark", "instance"], ...lines] };
}

// What a tool did not solve lies on a rail beyond the times, never dropped, as in scatter.py.
const RAILS = ["timeout", "no answer", "undecided", "left out", "incorrect"];
const KINDS = [
  ["solved by both", "circle", "#0173b2", (rails) => !rails[0] && !rails[1]],
  ["solved by one", "circle", "#737373", (rails) => rails.join("") && !rails.includes("incorrect")],
  ["the other is incorrect", "x", "#d55e00", (rails) => rails.includes("incorrect")],
];

function side(tool, instance) {
  const row = rowAt[instance][tools.indexOf(tool)];
  const outcome = row === undefined ? "did not take part" : now.outcome[row];
  const time = outcome === "solved" ? now.seconds[row] : null;
  const rail = time !== null ? "" : RAILS.includes(outcome) ? outcome : "no answer";
  const said = time === null ? outcome : `${fixed(time, 2)} s, ${now.result[row]}`;
  return { row, outcome, time, rail, hover: `${tool.name}: ${said}` };
}

function scatter() {
  const pair = [toolOf[state.x], toolOf[state.y]];
  const points = instances.name
    .map((name, k) => ({ name, benchmark: benchmarks[instances.benchmark[k]], k }))
    .filter((p) => inScope(p.benchmark))
    .map((p) => ({ ...p, sides: pair.map((tool) => side(tool, p.k)) }))
    .filter((p) => p.sides.some((s) => s.time !== null));
  const times = points.flatMap((p) => p.sides.map((s) => s.time)).filter((time) => time !== null);
  const low = lowest(times), high = times.reduce((a, b) => Math.max(a, b), low * 10);
  const beyond = (k) => high * 1.55 ** (k + 1.7);
  const at = (s) => (s.time === null ? beyond(RAILS.indexOf(s.rail)) : Math.max(s.time, low));
  const traces = KINDS.map(([name, symbol, color, test]) => {
    const own = points.filter((p) => test(p.sides.map((s) => s.rail)));
    return {
      type: "scatter", mode: "markers", name: `${name} (${own.length})`, hoverinfo: "text",
      x: own.map((p) => at(p.sides[0])), y: own.map((p) => at(p.sides[1])),
      marker: { symbol, color, size: 7, opacity: 0.55 },
      customdata: own.map((p) => p.sides[0].row ?? p.sides[1].row),
      hovertext: own.map((p) =>
        [p.name, p.benchmark.name, ...p.sides.map((s) => s.hover)].map(plain).join("<br>")),
    };
  });
  const decades = [0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6].filter((d) => low <= d && d <= high);
  const axis = (i) => {
    const alone = points.filter(({ sides }) => sides[1 - i].time === null);
    const both = points.filter(({ sides }) => sides.every((s) => s.time !== null));
    const faster = both.filter(({ sides }) => sides[i].time < sides[1 - i].time);
    const title = `${plain(pair[i].short)} [s]: ${faster.length} faster, ${alone.length} solved alone`;
    return {
      ...secondsAxis(title, low, beyond(RAILS.length - 0.4)), tickangle: i ? 0 : -45,
      tickvals: [...decades, ...RAILS.map((_, k) => beyond(k))],
      ticktext: [...decades.map(String), ...RAILS],
    };
  };
  const line = { color: "#555", width: 1 };
  const layout = layoutOf(`${points.length} instances solved by at least one, ${scopeName()}`, isNarrow() ? 560 : 780, {
    xaxis: { ...axis(0), constrain: "domain", constraintoward: "left", automargin: true }, showlegend: true,
    yaxis: { ...axis(1), scaleanchor: "x", constraintoward: "top", automargin: true },
    legend: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom" },
    shapes: [{ type: "line", x0: low, y0: low, x1: high, y1: high, line }],
    margin: { t: isNarrow() ? 150 : 130, r: 15, l: 60, b: 60 },
    annotations: points.length ? [] : [told("Neither solved anything here.")],
  });
  const lines = points.map(({ benchmark, name, sides: [x, y] }) =>
    [benchmark.id, name, x.time, x.rail, y.time, y.rail]);
  const header = ["benchmark", "instance", "x_s", "x_rail", "y_s", "y_rail"];
  return { data: traces, layout, csv: [header, ...lines] };
}

// Horizontal bars, a frame for each of `parts`: {title, names, stacks: [{name, values, texts, color}]}.
function bars(title, parts, more = {}) {
  const sizes = parts.map((part) => part.names.length + 2.5);
  const all = sizes.reduce((a, b) => a + b, 0);
  const shown = { showlegend: false, barmode: "stack", bargap: 0.25, ...more };
  const layout = layoutOf(title, 110 + 24 * all, shown);
  let top = 1;
  const traces = parts.flatMap((part, k) => {
    const n = k ? k + 1 : "", bottom = top - sizes[k] / all;
    const places = part.names.map((_, i) => i);
    layout[`yaxis${n}`] = {
      domain: [bottom + 1.6 / all, top - 0.6 / all], anchor: `x${n}`, autorange: "reversed",
      tickvals: places, ticktext: part.names.map(plain), automargin: true,
    };
    const axisTitle = { text: plain(part.title), standoff: 4 };
    layout[`xaxis${n}`] = { anchor: `y${n}`, title: axisTitle, gridcolor: GRID };
    top = bottom;
    return part.stacks.map(({ name, values, texts, color }) => ({
      type: "bar", orientation: "h", y: places, x: values, name, hoverinfo: "text", text: texts,
      hovertext: part.names.map((tool, i) => plain(`${tool}: ${texts[i]} ${name}`)),
      marker: { color }, xaxis: `x${n}`, yaxis: `y${n}`, textposition: "auto",
      cliponaxis: false, constraintext: "none",
    }));
  });
  return { data: traces, layout };
}
