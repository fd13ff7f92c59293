// The page's own script: draws each plot by Vega, turns light and dark, opens the tables for printing, saves the JSON.
(() => {
  "use strict";
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();

  document.getElementById("print").addEventListener("click", () => print());
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => (each.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((each) => (each.open = false)));

  const answer = document.getElementById("answer");
  if (answer) {
    document.getElementById("download").addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([answer.textContent], { type: "application/json" }));
      link.download = `partwright-${answer.dataset.name}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Without eval, which the page's policy forbids.
  const options = { renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const specs = JSON.parse(document.getElementById("plots").textContent);
  const drawn = Object.entries(specs).map(([id, spec]) => vegaEmbed(document.getElementById(`${id}-plot`), spec, options));
  Promise.allSettled(drawn).then((all) => {
    const failed = all.filter((each) => each.status === "rejected");
    failed.forEach((each) => console.error(each.reason));
    document.querySelectorAll(".plot svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
    root.dataset.drawn = String(all.length - failed.length);
  });
})();
