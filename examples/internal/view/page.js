"use strict";
// All that matters is there without this script.
(() => {
  const tools = document.querySelector(".tools");
  const filter = document.getElementById("filter");
  const fold = document.getElementById("fold");
  const traces = [...document.querySelectorAll(".trace")];
  tools.hidden = false;
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const trace of traces) {
      let found = false;
      for (const span of trace.querySelectorAll(".span")) {
        const match = span.dataset.name.toLowerCase().includes(wanted);
        span.hidden = !match;
        found = found || match;
      }
      trace.hidden = !found;
    }
  });
  fold.addEventListener("click", () => {
    const open = traces.some((t) => t.open);
    for (const t of traces) t.open = !open;
    fold.textContent = open ? "Open all traces" : "Close all traces";
  });
  // A link to a span opens it.
  const show = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !target.classList.contains("span")) return;
    target.closest(".trace").open = true;
    target.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", show);
  show();
})();
