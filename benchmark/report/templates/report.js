"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;
const button = document.getElementById("theme");

function show(theme) {
  root.dataset.theme = theme;
  button.textContent = theme === "dark" ? "light" : "dark";
}
const dark = matchMedia("(prefers-color-scheme: dark)");
show(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => show(dark.matches ? "dark" : "light"));
button.addEventListener("click", () => show(root.dataset.theme === "dark" ? "light" : "dark"));
let before;
addEventListener("beforeprint", () => { before = root.dataset.theme; show("light"); });
addEventListener("afterprint", () => show(before));

// Return the first number of a table cell; cells without a number are sorted last.
function number(text) {
  const found = text.replace(/(\d),(?=\d)/g, "$1").match(/[-+]?\d+(\.\d+)?(e[-+]?\d+)?/i);
  return found ? parseFloat(found[0]) : Infinity;
}

function sort(heading) {
  const table = heading.closest("table"), body = table.tBodies[0], column = heading.cellIndex;
  const up = heading.getAttribute("aria-sort") !== "ascending";
  const text = row => row.cells[column].textContent.trim();
  const compare = heading.classList.contains("number")
    ? (a, b) => { const [x, y] = [number(text(a)), number(text(b))]; return x === y ? 0 : x === Infinity ? 1 : y === Infinity ? -1 : (up ? 1 : -1) * (x - y); }
    : (a, b) => (up ? 1 : -1) * text(a).localeCompare(text(b), "en", {numeric: true});
  all("[aria-sort]", table).forEach(other => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...[...body.rows].sort(compare));
}
all("thead button").forEach(each => each.addEventListener("click", () => sort(each.parentElement)));

all(".filter").forEach(field => field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.getElementById(field.getAttribute("aria-controls")).tBodies[0].rows];
  for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  const shown = rows.filter(row => !row.hidden).length;
  field.closest(".tools").querySelector(".count").textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
}));

const config = JSON.parse(document.getElementById("look").textContent);
const options = {mode: "vega-lite", renderer: "svg", actions: false, config, tooltip: {theme: "custom"}};
if (!window.vegaEmbed) all(".picture").forEach(place => { place.lastElementChild.textContent = "The script that draws pictures is missing from this page: see the image files beside it, such as figure.png."; });
window.drawn = Promise.all((window.vegaEmbed ? all(".picture") : []).map(async place => {
  const spec = JSON.parse(place.firstElementChild.textContent);
  const section = place.closest("section");
  const {view} = await vegaEmbed(place.lastElementChild, spec, options);
  const buttons = all("[data-series]", section);
  if (!buttons.length) return view;
  const pick = name => {
    view.signal("picked", name).run();
    buttons.forEach(each => each.setAttribute("aria-pressed", each.dataset.series === name));
  };
  section.addEventListener("pick", event => pick(event.detail));
  view.addEventListener("click", (_, item) => {
    const name = item && item.datum && item.datum.series;
    section.dispatchEvent(new CustomEvent("pick", {detail: name && name !== view.signal("picked") ? name : null}));
  });
  return view;
}));
all("[data-series]").forEach(each => each.addEventListener("click", () => {
  const name = each.getAttribute("aria-pressed") === "true" ? null : each.dataset.series;
  each.closest("section").dispatchEvent(new CustomEvent("pick", {detail: name}));
}));
