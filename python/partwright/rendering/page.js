// The page's own script: draws each plot by Vega, turns light and dark, copies the command line, saves the JSON.
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

  // What a plot's room allows: as many columns of a legend, as many characters of a title and of a name.
  const CHARACTER = 7;
  const lines = (text, most) => {
    const found = [""];
    for (const word of text.split(" ")) {
      const last = found.length - 1;
      if (found[last] && found[last].length + word.length + 1 > most) found.push(word);
      else found[last] = found[last] ? `${found[last]} ${word}` : word;
    }
    return found.length > 1 ? found : text;
  };
  const fitted = (spec, width) => {
    if (Array.isArray(spec)) return spec.forEach((each) => fitted(each, width));
    if (!spec || typeof spec !== "object") return undefined;
    for (const [name, value] of Object.entries(spec)) {
      if (name === "values" || name === "datasets") continue;
      if (name === "legend" && value && value.columns) {
        const wide = Math.max(60, ...((spec.scale || {}).domain || []).map((kind) => 40 + CHARACTER * String(kind).length));
        value.columns = Math.max(1, Math.floor((width - 80) / wide));
        value.labelLimit = width - 40;
      }
      if (name === "axis" && value && value.labelLimit && width < 500) value.labelLimit = Math.min(value.labelLimit, width * 0.36);
      if (name === "encoding") {
        for (const channel of ["x", "y"]) {
          const of = value[channel];
          const room = channel === "x" ? width - 150 : (typeof fitted.height === "number" ? fitted.height : 300);
          if (of && typeof of.title === "string") of.title = lines(of.title, Math.max(14, Math.floor(room / CHARACTER)));
        }
      }
      fitted(spec[name], width);
    }
    return undefined;
  };

  // Without eval, which the page's policy forbids.
  const options = { renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const specs = JSON.parse(document.getElementById("plots").textContent);
  const drawn = Object.entries(specs).map(([id, spec]) => {
    const plot = document.getElementById(`${id}-plot`);
    fitted.height = spec.height;
    fitted(spec, plot.clientWidth);
    // What stands at a plot's end has room, in fonts that are wider than the one that was measured, too.
    spec.padding = { left: 6, top: 6, right: 36, bottom: 6 };
    return vegaEmbed(plot, spec, options);
  });
  Promise.allSettled(drawn).then((all) => {
    const failed = all.filter((each) => each.status === "rejected");
    failed.forEach((each) => console.error(each.reason));
    document.querySelectorAll(".plot svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
    root.dataset.drawn = String(all.length - failed.length);
  });
})();
