// The page of the explorer: draws the view that the address asks for, and hears the reader.

function draw(id, { data: traces, layout }) {
  const target = element(id);
  const isNew = !target.on;
  const modeBarButtons = [["zoom2d", "pan2d", "resetScale2d"]];
  Plotly.react(target, traces, layout, { responsive: true, displaylogo: false, modeBarButtons });
  if (!isNew) return;
  target.on("plotly_click", ({ points: [point] }) => {
    const row = point.customdata;
    if (!Number.isInteger(row)) return; // the start of a curve
    go({ view: "instances", of: benchmarkOf(row).id, instance: instanceOf(row) });
  });
  const hidable = (event) => event.data[event.curveNumber].meta;
  target.on("plotly_legendclick", (event) => (hidable(event) ? toggle(hidable(event)) : true));
  target.on("plotly_legenddoubleclick", (event) => {
    const alone = tools.filter((tool) => tool.id !== hidable(event)).map((tool) => tool.id);
    go({ hide: alone.every((id) => state.hide.includes(id)) ? [] : alone }, { replace: true });
    return false;
  });
}

function toggle(id) {
  const others = state.hide.filter((other) => other !== id);
  const hide = state.hide.includes(id) ? others : [...others, id];
  go({ hide }, { replace: true });
  return false; // the plot follows the address
}

function fillList(list, texts) {
  list.replaceChildren(...texts.map((text) => make("li", text)));
}

function showRules() {
  const isChosen = now.id === data.variants[0].id;
  element("other-rules").hidden = isChosen;
  element("other-rules").querySelector("span").textContent = data.variants[0].name;
  element("caveats").hidden = !now.caveats.length;
  fillList(element("caveats"), now.caveats);
  fillList(element("rules-in-words").querySelector("ul"), now.rules);
  fillList(element("notes").querySelector("ul"), now.notes);
}

function render() {
  const before = state?.view;
  state = readAddress();
  now = variantOf(state.rules);
  document.title = `${data.title}: ${state.view}`;
  showRules();
  element("views").querySelectorAll("a").forEach((link) => {
    link.href = address({ view: link.dataset.view });
    link.ariaCurrent = link.dataset.view === state.view ? "page" : null;
  });
  document.querySelectorAll("section").forEach((part) => {
    part.hidden = part.dataset.view !== state.view;
  });
  document.querySelectorAll("[data-in]").forEach((part) => {
    const { in: views, plot } = part.dataset;
    const isHere = views.split(" ").includes(state.view);
    const isPlot = state.view !== "plots" || !plot || plot.split(" ").includes(state.plot);
    part.hidden = !isHere || !isPlot;
  });
  element("one-instance").hidden = true;
  element("csv").title = "Save what is listed or drawn here, in full precision";
  element("picture").title = `Save ${VIEWS[state.view].pictured} as svg`;
  element("rules").value = now.id;
  element("fields").querySelectorAll("select").forEach((field) => (field.value = state[field.name]));
  element("tools").querySelectorAll("input").forEach((box) => {
    box.checked = !state.hide.includes(box.value);
  });
  VIEWS[state.view].show();
  const isElsewhere = before && before !== state.view;
  if (isElsewhere && !element("views").contains(document.activeElement)) element("main").focus();
}

function fillFields() {
  const options = (select, pairs) =>
    select.replaceChildren(...pairs.map(([value, text]) => make("option", text, { value })));
  const field = (name) => element("fields").elements[name];
  const words = (name) => [["", "all"], ...data.words[name].map((word) => [word, word])];
  const names = compared.map((tool) => [tool.id, tool.name]);
  options(element("rules"), data.variants.map((variant) => [variant.id, variant.name]));
  options(field("scope"), scopes);
  options(field("x"), names);
  options(field("y"), names);
  options(field("tool"), [["", "all"], ...names]);
  options(field("result"), words("result"));
  options(field("verdict"), words("verdict"));
  element("tools").querySelector("div").append(...compared.map((tool) => {
    const label = make("label", "");
    label.append(make("input", "", { type: "checkbox", value: tool.id }), toolNode(tool));
    return label;
  }));
}

fillFields();
element("rules").addEventListener("change", ({ target }) => go({ rules: target.value }));
element("fields").addEventListener("change", ({ target }) => go({ [target.name]: target.value }));
element("fields").addEventListener("submit", (event) => event.preventDefault());
element("tools").addEventListener("change", ({ target }) => toggle(target.value));
element("csv").addEventListener("click", saveCsv);
element("picture").addEventListener("click", savePicture);
element("skip").addEventListener("click", (event) => {
  event.preventDefault(); // its own address would be another state
  element("main").focus();
});
addEventListener("hashchange", render);
render();
element("loading").remove();
