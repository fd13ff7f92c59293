// The page's tables: sorted by their headings, filtered, searched all at once, saved as csv.
(() => {
  "use strict";
  const SHOWN = 200;
  const element = document.getElementById("rest");
  const rest = element ? JSON.parse(element.textContent) : {};
  const bytes = (size) => {
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (size < 1000) return `${size.toFixed(unit === "B" ? 0 : 1)} ${unit}`;
      size /= 1000;
    }
    return `${size.toFixed(1)} TB`;
  };
  // As the page's own rows are written.
  const written = {
    text: String,
    prose: String,
    number: (value) => value.toLocaleString("en-US", { maximumFractionDigits: 3 }),
    seconds: (value) => value.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    share: (value) => `${(value * 100).toFixed(1)}%`,
    bytes,
  };
  const isWords = (kind) => kind === "text" || kind === "prose";
  const order = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) =>
    a === null || b === null ? (b === null) - (a === null) : typeof a === "number" && typeof b === "number" ? a - b : order.compare(a, b);
  const count = (number) => number.toLocaleString("en-US");

  const tableOf = (section) => {
    const table = section.querySelector("table");
    const details = section.querySelector("details");
    const [filter, csv, told] = ["input", ".csv", "output"].map((each) => details.querySelector(`.tools ${each}`));
    const isOpen = details.open;
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const kinds = heads.map((head) => head.dataset.kind);
    const titles = heads.map((head) => head.textContent);
    const printed = [...body.rows].filter((row) => !row.classList.contains("beyond")).length;
    const cell = (each, kind) => {
      const data = each.querySelector("data");
      if (data) return JSON.parse(data.value);
      if (!each.textContent) return null;
      // A row's first cell is its name: its number has only its text.
      return isWords(kind) ? each.textContent : Number(each.textContent.replaceAll(",", ""));
    };
    const { bar, most } = table.dataset;
    const made = (values) => {
      const line = document.createElement("tr");
      values.forEach((value, at) => {
        const each = document.createElement(at ? "td" : "th");
        if (!at) each.scope = "row";
        if (bar && at === Number(bar)) each.style.setProperty("--part", (value || 0) / most);
        each.className = kinds[at];
        each.textContent = value === null ? "" : written[kinds[at]](value);
        line.append(each);
      });
      return line;
    };
    const own = [...body.rows].map((line) => ({ line, values: [...line.cells].map((each, place) => cell(each, kinds[place])) }));
    const rows = own.concat((rest[section.id] || []).map((values) => ({ line: null, values })));
    const texts = () => rows.map(({ values }) => values.map((value, at) => (value === null ? "" : written[kinds[at]](value))));
    let lower = null;
    let sorted = { at: -1, down: false };
    let shown = rows;

    const draw = () => {
      body.replaceChildren(
        ...shown.slice(0, SHOWN).map((row, place) => {
          row.line ||= made(row.values);
          row.line.classList.toggle("beyond", place >= printed);
          return row.line;
        }),
      );
      const of = shown.length < rows.length ? ` of ${count(rows.length)}` : "";
      const first = shown.length > SHOWN ? `, the first ${SHOWN} are shown` : "";
      told.textContent = `${count(shown.length)}${of} ${rows.length === 1 ? "row" : "rows"}${first}`;
    };
    const choose = () => {
      const wanted = filter.value.trim().toLowerCase();
      lower ||= texts().map((row) => row.map((text) => text.toLowerCase()));
      shown = rows.filter((_, place) => lower[place].some((text) => text.includes(wanted)));
      if (sorted.at >= 0) {
        const sign = sorted.down ? -1 : 1;
        shown = [...shown].sort((a, b) => sign * compare(a.values[sorted.at], b.values[sorted.at]));
      }
      draw();
      return shown.length;
    };
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = titles[at];
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        sorted = { at, down: sorted.at === at ? !sorted.down : !isWords(kinds[at]) };
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
        choose();
      });
    });
    filter.addEventListener("input", choose);
    csv.addEventListener("click", () => {
      const quoted = (value) => {
        let text = value === null ? "" : String(value);
        // A spreadsheet would take it for a formula.
        if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
        return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      };
      const lines = [titles, ...shown.map((row) => row.values)].map((row) => `${row.map(quoted).join(",")}\r\n`);
      window.partwrightSave(lines.join(""), "text/csv", `partwright-${table.dataset.name}.csv`);
    });
    // All of a few rows are seen at once.
    details.querySelector(".tools").hidden = rows.length <= 12;
    return {
      find: (text) => {
        filter.value = text;
        const found = choose();
        details.open = text ? found > 0 : isOpen;
        return found;
      },
    };
  };

  const tables = [...document.querySelectorAll(".figure:has(table)")].map(tableOf);
  const find = document.getElementById("find");
  const told = document.getElementById("found");
  find.parentElement.hidden = false;
  find.addEventListener("input", () => {
    const text = find.value.trim();
    const found = tables.reduce((sum, each) => sum + each.find(text), 0);
    told.textContent = text ? `${count(found)} ${found === 1 ? "row" : "rows"} with it, in the tables that are open now` : "";
  });
})();
