// The page's own script: turns light and dark, copies the command line, saves the JSON, says what a mark stands for.
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

  window.partwrightSave = (text, type, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const answer = document.getElementById("answer");
  if (answer) {
    document.getElementById("download").addEventListener("click", () => {
      window.partwrightSave(answer.textContent, "application/json", `partwright-${answer.dataset.name}`);
    });
  }
  const copy = document.getElementById("copy");
  if (copy) {
    copy.hidden = false;
    copy.addEventListener("click", () => {
      const line = document.getElementById("line");
      getSelection().selectAllChildren(line);
      // A page of a file may have no clipboard of its own: the line is marked all the same.
      const copied = navigator.clipboard ? navigator.clipboard.writeText(line.textContent) : Promise.reject();
      copied.catch(() => document.execCommand("copy")).then(() => (copy.textContent = "Copied"));
    });
  }

  document.querySelectorAll(".plot").forEach((plot) => {
    const [wide, narrow] = [".wide", ".narrow"].map((each) => plot.querySelectorAll(`${each} [data-said]`));
    narrow.forEach((mark, place) => (mark.dataset.said = wide[place].dataset.said));
  });
  // A mark says its numbers under the pointer or a finger.
  const told = document.createElement("div");
  told.id = "told";
  told.hidden = true;
  document.body.append(told);
  const tell = (event) => {
    const said = event.target.closest ? event.target.closest("[data-said]") : null;
    told.hidden = !said;
    if (!said) return;
    told.textContent = said.dataset.said;
    const { width, height } = told.getBoundingClientRect();
    told.style.left = `${Math.max(0, Math.min(event.clientX + 12, innerWidth - width - 4))}px`;
    told.style.top = `${Math.max(0, event.clientY + 12 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 12)}px`;
  };
  ["pointermove", "click"].forEach((each) => document.addEventListener(each, tell));

  // A legend's entry leaves only its own marks in full colour; clicked again, all.
  document.querySelectorAll(".plot svg").forEach((svg) => {
    const marks = [...svg.querySelectorAll('[class*="main_marks"] > path')];
    let chosen = null;
    svg.querySelectorAll(".role-legend-symbol path").forEach((entry) => {
      entry.addEventListener("click", () => {
        const colour = entry.getAttribute("fill");
        chosen = chosen === colour ? null : colour;
        marks.forEach((each) => each.classList.toggle("faint", Boolean(chosen) && each.getAttribute("fill") !== chosen));
      });
    });
  });
})();
