// Names and keyboard access that the theme leaves out.
document$.subscribe(() => setTimeout(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((each, i) => {
    each.tabIndex = 0;
    each.setAttribute("role", "region");
    each.setAttribute("aria-label", `Table ${i + 1}`);
  });
  document.querySelectorAll(".md-code__nav").forEach((each, i) => each.setAttribute("aria-label", `Code ${i + 1}`));
}));
