// The tables of the explorer, DataTables over lists of items, and its views.

const shownTables = {};

// `columns`: {title, text, number?, node?, className?}; all but the title are functions of an item.
function fillTable(id, columns, list, { search = null, ...options } = {}) {
  const cell = ({ text, number, node }) => (item, kind) => {
    if (kind === "display") return node ? node(item) : document.createTextNode(text(item));
    if (kind === "sort" && number) return number(item) ?? Infinity;
    return plain(text(item)); // as DataTables searches it: with entities
  };
  shownTables[id] ??= new DataTable(element(id), {
    columns: columns.map((c) => ({
      title: plain(c.title), data: cell(c), type: c.number ? "num" : "string",
      className: c.number ? "number" : c.className ?? "short",
    })),
    order: [], autoWidth: false, pageLength: 25, searching: search !== null, ...options,
    language: { info: "Rows _START_ to _END_ of _TOTAL_", infoEmpty: "No rows", infoFiltered: "",
                emptyTable: "none", zeroRecords: "none", lengthMenu: "_MENU_ rows a page",
                search: "Search" },
  }).on("search.dt", () => {
    const found = shownTables[id]?.search() ?? "";
    if (search && state.view === search.view && found !== state[search.key])
      go({ [search.key]: found }, { replace: true });
  });
  const table = shownTables[id];
  table.clear().rows.add(list);
  if (search && table.search() !== state[search.key]) table.search(state[search.key]);
  table.draw();
}

// The items that a table shows, on all its pages, in its order.
const listed = (id) =>
  shownTables[id].rows({ search: "applied", order: "applied" }).data().toArray();

const benchmarkColumn = { title: "Benchmark", text: ({ benchmark }) => benchmark.name };
const instanceColumn = {
  title: "Instance", className: "name", text: ({ name }) => name,
  node: ({ benchmark, name }) => instanceLink(benchmark, name),
};
const toolColumn = (toolOfItem) => ({
  title: "Tool", className: "tool", text: (item) => toolOfItem(item).name,
  node: (item) => toolNode(toolOfItem(item)),
});
const wordColumn = (title, word) => ({
  title, text: word, node: (item) => make("span", word(item), { className: word(item) }),
});
const numberColumn = (title, number, text = String) =>
  ({ title, number, text: (item) => text(number(item)) });
const seconds = (value) => fixed(value, 2);

const itemOfInstance = (k) => ({
  k, benchmark: benchmarks[instances.benchmark[k]], name: instances.name[k], index: instances.index[k],
});
const items = everyRow.map((row) => ({ row, ...itemOfInstance(rows.instance[row]) }));
const instanceItems = instances.name.map((_, k) => itemOfInstance(k));

// ---- Views: each can show itself, and give its csv and its picture ----

const VIEWS = {
  overall: {
    pictured: "a bar chart of the scores",
    show: showOverall,
    csv: () => [["track", "rank", "tool", "score"],
                ...records(now.overall).map((r) => [r.track, r.rank, r.tool, r.score])],
    picture: () => scoreBars(tracksRanked()),
  },
  benchmarks: {
    pictured: "the cactus plot",
    show() {
      element("facts").textContent = factsOfScope();
      fillTable("scores", scoreColumns, scoreLines(), { paging: false, info: false });
      draw("benchmark-plot", cactus(scopeRows()));
    },
    csv: () => [scoreNames, ...listed("scores").map((line) => scoreNames.map((name) => line[name]))],
    picture: () => cactus(scopeRows()),
  },
  plots: {
    pictured: "this plot",
    show: () => draw("plot", PLOTS[state.plot]()),
    csv: () => PLOTS[state.plot]().csv,
    picture: () => PLOTS[state.plot](),
  },
  instances: {
    pictured: "a cactus plot of the rows listed",
    show: showInstances,
    csv: () => [
      ["benchmark", "index", "instance", "tool", "result", "truth", "verdict", "points", "run_s",
       "corrected_s", "reason"],
      ...listed("instance-table").map(({ row, benchmark, index, name }) =>
        [benchmark.id, index, name, rowTool(row).id, now.result[row], now.truth[row], now.verdict[row],
         now.points[row], now.run_s[row], now.seconds[row], now.reason[row]]),
    ],
    picture: () => cactus(listed("instance-table").map((item) => item.row), "of the rows listed"),
  },
  differing: {
    pictured: "a cactus plot of the instances listed",
    show: () => fillTable("differing-table", differingColumns,
      now.differing.map((k) => instanceItems[k]).filter((item) => inScope(item.benchmark)),
      { search: { view: "differing", key: "searchDiffering" } }),
    csv: () => [
      ["benchmark", "index", "instance", ...compared.map((tool) => tool.id)],
      ...listed("differing-table").map((item) => [item.benchmark.id, item.index, item.name,
        ...compared.map((tool) => side(tool, item.k).time ?? side(tool, item.k).outcome)]),
    ],
    picture: () => cactus(
      listed("differing-table").flatMap(({ k }) => Object.values(rowAt[k])), "of the instances listed"),
  },
  conflicting: {
    pictured: "bars of the answers to the instances listed",
    show: () => fillTable("conflicting-table", conflictColumns,
      records(now.conflicts).map((conflict) => ({ ...instanceItems[conflict.instance], ...conflict }))
        .filter((item) => inScope(item.benchmark)),
      { search: { view: "conflicting", key: "searchConflicting" } }),
    csv: () => [
      ["benchmark", "index", "instance", "unsat", "sat", "truth", "incorrect"],
      ...listed("conflicting-table").map((item) => [item.benchmark.id, item.index, item.name,
        idsOf(item.unsat), idsOf(item.sat), item.truth, idsOf(item.incorrect)]),
    ],
    picture: () => conflictBars(listed("conflicting-table")),
  },
};

const tracksRanked = () => [...new Set(now.overall.track)];
const rankingOf = (track) => records(now.overall).filter((line) => line.track === track);

function scoreBars(tracks) {
  const inTrack = (track) => (data.tracks.length > 1 ? `, track ${track}` : "");
  const parts = tracks.map((track) => {
    const lines = rankingOf(track);
    const stack = {
      name: "", values: lines.map((line) => line.score),
      texts: lines.map((line) => fixed(line.score, 1)),
      color: lines.map((line) => toolOf[line.tool].color),
    };
    const names = lines.map((line) => toolOf[line.tool].short);
    return { title: `score${inTrack(track)}`, names, stacks: [stack] };
  });
  return bars(`overall score${tracks.length === 1 ? inTrack(tracks[0]) : ""}`, parts);
}

function rankingTable(track) {
  const table = make("table", "", { className: "plain" });
  const cell = (tag, text, isNumber) => make(tag, text, { className: isNumber ? "number" : "" });
  const head = table.createTHead().insertRow();
  head.append(cell("th", "#", true), cell("th", "Tool"), cell("th", "Score", true));
  const body = table.createTBody();
  rankingOf(track).forEach(({ rank, tool, score }) => {
    const named = cell("td", "");
    named.append(toolNode(toolOf[tool]));
    body.insertRow().append(cell("td", rank, true), named, cell("td", fixed(score, 1), true));
  });
  return table;
}

function showOverall() {
  const tracks = tracksRanked();
  const parts = tracks.flatMap((track, k) => {
    const part = make("div", "", { className: "pair" });
    part.append(rankingTable(track), make("div", "", { id: `bars-${k}`, className: "plot" }));
    return data.tracks.length > 1 ? [make("h2", `Track ${track}`), part] : [part];
  });
  const none = make("p", "None of these benchmarks is scored.");
  element("rankings").replaceChildren(...(parts.length ? parts : [none]));
  tracks.forEach((track, k) => draw(`bars-${k}`, scoreBars([track])));
}

const scoreNames = Object.keys(data.variants[0].scores).filter((name) => name !== "worth");
const scoreColumns = [
  { title: "Benchmark", text: (line) => benchmarkWith(line.benchmark).name },
  numberColumn("#", (line) => line.rank),
  toolColumn((line) => toolOf[line.tool]),
  ...["verified", "falsified", "fastest", "incorrect"].map((name) =>
    numberColumn(name[0].toUpperCase() + name.slice(1), (line) => line[name])),
  numberColumn("Score", (line) => line.points),
  numberColumn("Percent", (line) => line.percent, percent),
  numberColumn("Solved [%]", (line) => line.solved_percent, (value) => fixed(value, 1)),
];
const benchmarkWith = (id) => benchmarks.find((b) => b.id === id);
const scoreLines = () => records(now.scores).filter((line) => inScope(benchmarkWith(line.benchmark)));

function factsOfScope() {
  const chosen = benchmarks.filter(inScope);
  const inside = instanceItems.filter((item) => inScope(item.benchmark));
  const limits = inside.map(({ k }) => instances.limit_s[k]).filter((limit) => limit !== null);
  const [low, high] = [Math.min, Math.max].map((pick) => limits.reduce((a, b) => pick(a, b), limits[0]));
  const range = low === high ? `${low} s` : `${low} to ${high} s`;
  const some = limits.length < inside.length ? `, known for ${limits.length} instances` : "";
  const unscored = chosen.filter((b) => !b.is_scored).map((b) => b.name).join(", ");
  const where = chosen.length === 1 ? `benchmark ${chosen[0].name}` : `${chosen.length} benchmarks`;
  return [
    `${inside.length} instances in ${where}.`,
    limits.length ? `Time limits: ${range}${some}.` : "Time limits are not known.",
    unscored && `Not part of the overall score: ${unscored}.`,
  ].join(" ");
}

const instanceColumns = [
  benchmarkColumn, instanceColumn, toolColumn((item) => rowTool(item.row)),
  wordColumn("Result", ({ row }) => now.result[row]),
  wordColumn("Verdict", ({ row }) => now.verdict[row]),
  numberColumn("Time [s]", ({ row }) => now.seconds[row], seconds),
  numberColumn("Points", ({ row }) => now.points[row]),
  { title: "Reason", className: "reason", text: ({ row }) => now.reason[row] },
];

function showInstances() {
  element("one-instance").hidden = !state.instance;
  const [name, benchmark] = element("one-instance").querySelectorAll("b");
  [name.textContent, benchmark.textContent] = [state.instance, benchmarkWith(state.of)?.name ?? state.of];
  element("one-instance").querySelector("a").href = address({ of: "", instance: "" });
  const isChosen = (wanted, found) => !wanted || wanted === found;
  const list = items.filter(({ row, benchmark: b, name: n }) =>
    (state.instance ? b.id === state.of && n === state.instance : inScope(b)) &&
    isChosen(state.tool, rowTool(row).id) && isChosen(state.result, now.result[row]) &&
    isChosen(state.verdict, now.verdict[row]));
  fillTable("instance-table", instanceColumns, list, { search: { view: "instances", key: "search" } });
}

const compared = tools.filter((tool) => tool.is_listed);
const differingColumns = [
  benchmarkColumn, instanceColumn,
  ...compared.map((tool) => ({
    title: tool.short, number: ({ k }) => side(tool, k).time, text: ({ k }) => cellOf(side(tool, k)),
    node: ({ k }) => make("span", cellOf(side(tool, k)), { className: side(tool, k).outcome }),
  })),
];
function cellOf({ time, outcome }) {
  if (time !== null) return seconds(time);
  return outcome === "did not take part" ? "–" : outcome;
}

const namesOf = (list) => list.map((k) => tools[k].name).join(", ");
const idsOf = (list) => list.map((k) => tools[k].id).join(", ");
const conflictColumns = [
  benchmarkColumn, instanceColumn,
  { title: "Said unsat", className: "name", text: ({ unsat }) => namesOf(unsat) },
  { title: "Said sat", className: "name", text: ({ sat }) => namesOf(sat) },
  { title: "Truth", text: ({ truth }) => truth },
  {
    title: "Incorrect", className: "name", text: ({ incorrect }) => namesOf(incorrect),
    node: ({ incorrect }) => make("span", namesOf(incorrect), { className: "incorrect" }),
  },
];

// What became of the answers to the instances listed, by tool.
function conflictBars(list) {
  const kinds = [["correct", "solved", "#0173b2"], ["undecided", "undecided", "#b5b5b5"],
                 ["incorrect", "incorrect", "#d55e00"]];
  const counts = kinds.map(([, kind]) => compared.map((tool) =>
    list.filter(({ k }) => side(tool, k).outcome === kind).length));
  const stacks = kinds.map(([name, , color], i) => ({
    name, color, values: counts[i], texts: counts[i].map((count) => (count ? String(count) : "")),
  }));
  const part = { title: "answers to the instances listed", names: compared.map((tool) => tool.short), stacks };
  return bars(`answers to ${list.length} conflicting instances`, [part], { showlegend: true });
}
