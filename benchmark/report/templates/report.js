"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;
const button = document.getElementById("theme");

// The theme is that of the system, or the one that the reader chose on a page before.
const dark = matchMedia("(prefers-color-scheme: dark)");
const system = () => dark.matches ? "dark" : "light";
function store(theme) {
  try { theme === system() ? localStorage.removeItem("theme") : localStorage.setItem("theme", theme); } catch { /* no storage */ }
}
function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}
function show(theme) {
  root.dataset.theme = theme;
  button.setAttribute("aria-pressed", theme === "dark");
}
show(stored() || system());
dark.addEventListener("change", () => show(system()));
button.addEventListener("click", () => { show(root.dataset.theme === "dark" ? "light" : "dark"); store(root.dataset.theme); });
addEventListener("beforeprint", () => {
  all("figure").forEach(each => each.classList.toggle("tall", each.offsetHeight > 900)); // which no sheet holds
});

// Return the first number of a table cell; cells without a number are sorted last.
function number(text) {
  const found = text.replace(/(\d),(?=\d)/g, "$1").replace("−", "-").match(/[-+]?\d+(\.\d+)?(e[-+]?\d+)?/i);
  return found ? parseFloat(found[0]) : Infinity;
}

// What the reader chose in a section: words to filter by, the sorted column, all columns.
const tableOf = section => section.querySelector("table");
const state = section => JSON.parse(section.dataset.state || "{}");

function arrange(section, chosen) {
  const table = tableOf(section), rows = [...table.tBodies[0].rows];
  rows.forEach((row, i) => { row.dataset.rank ??= i; });
  let compare = (a, b) => a.dataset.rank - b.dataset.rank;
  all("[aria-sort]", table).forEach(head => head.removeAttribute("aria-sort"));
  if (chosen.sort) {
    const column = parseInt(chosen.sort), up = !chosen.sort.endsWith("d");
    const head = table.tHead.rows[0].cells[column];
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = row => row.cells[column].textContent.trim();
    compare = head.classList.contains("number")
      ? (a, b) => { const [x, y] = [number(text(a)), number(text(b))]; return x === y ? 0 : x === Infinity ? 1 : y === Infinity ? -1 : (up ? 1 : -1) * (x - y); }
      : (a, b) => (up ? 1 : -1) * text(a).localeCompare(text(b), "en", {numeric: true});
  }
  table.tBodies[0].append(...rows.sort(compare));
}

function filter(section, words) {
  const rows = [...tableOf(section).tBodies[0].rows];
  for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  const shown = rows.filter(row => !row.hidden);
  const count = shown.length === rows.length ? `${rows.length} rows` : `${shown.length} of ${rows.length} rows`;
  section.querySelector(".count").textContent = shown.length ? count : "no row has these words";
}

function apply(section) {
  const chosen = state(section), table = tableOf(section);
  if (!table) return;
  arrange(section, chosen);
  filter(section, (chosen.filter || "").toLowerCase().split(/\s+/).filter(Boolean));
  table.classList.toggle("whole", !!chosen.columns);
  all(".columns", section).forEach(each => each.setAttribute("aria-pressed", !!chosen.columns));
}

// The fragment of the address keeps every choice, so that a link shows the same view.
function choose(section, changes) {
  const chosen = Object.fromEntries(Object.entries({...state(section), ...changes}).filter(([, value]) => value));
  section.dataset.state = JSON.stringify(chosen);
  apply(section);
  const parameters = new URLSearchParams();
  for (const each of all("section[data-state]")) for (const [name, value] of Object.entries(state(each))) parameters.set(`${each.id}.${name}`, value);
  const fragment = parameters.toString();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

function restore() {
  const chosen = {};
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const [id, what] = name.split(".");
    if (what) (chosen[id] ??= {})[what] = value;
  }
  for (const [id, own] of Object.entries(chosen)) {
    const section = document.getElementById(id), field = section && section.querySelector(".filter");
    if (!section) continue;
    section.dataset.state = JSON.stringify(own);
    if (field) field.value = own.filter || "";
    apply(section);
    all("details", section).slice(0, section.classList.contains("folded") ? 1 : 0).forEach(each => { each.open = true; });
  }
  const target = location.hash.length > 1 && !Object.keys(chosen).length && document.getElementById(location.hash.slice(1));
  for (let place = target && target.parentElement; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  if (target) target.scrollIntoView();
}

all("section:not(#results, #wrong) thead th").forEach(head => { head.dataset.name = head.textContent.trim(); }); // on paper, which repeats no buttons
all("thead button").forEach(each => each.addEventListener("click", () => {
  const head = each.parentElement, section = head.closest("section"), column = head.cellIndex, was = state(section).sort || "";
  const orders = "down" in head.dataset ? [`${column}d`, `${column}`] : [`${column}`, `${column}d`];
  choose(section, {sort: was === orders[0] ? orders[1] : was === orders[1] ? "" : orders[0]});
}));
all(".filter").forEach(field => field.addEventListener("input", () => choose(field.closest("section"), {filter: field.value.trim()})));
all(".columns").forEach(each => each.addEventListener("click", () => choose(each.closest("section"), {columns: state(each.closest("section")).columns ? "" : "1"})));
all("details").forEach(each => each.addEventListener("toggle", () => dispatchEvent(new Event("resize")))); // pictures in it get their width
addEventListener("hashchange", restore);

if (!window.vegaEmbed) all(".picture").forEach(place => { place.lastElementChild.textContent = "The script that draws pictures is missing from this page: see the image files beside it, in the folder figures."; });
window.drawn = Promise.all((window.vegaEmbed ? all(".picture") : []).map(async place => {
  const spec = JSON.parse(place.firstElementChild.textContent);
  if (innerWidth < 640) { // on a phone, panels stand below each other, and curves are as wide as the window
    spec.columns = spec.config.legend.columns = 1;
    for (const part of spec.concat) if (!part.layer.some(layer => layer.mark.type === "image")) part.width = Math.min(part.width, innerWidth - 130);
  }
  return (await vegaEmbed(place.lastElementChild, spec, {mode: "vega-lite", renderer: "svg", actions: false, tooltip: {theme: "custom"}})).view;
})).then(drawn => { restore(); return drawn; });
