"use strict";
// Rows of a table whose first cell does not hold what is typed are hidden.
document.querySelectorAll("input[data-filters]").forEach(input => {
  const rows = [...document.getElementById(input.dataset.filters).tBodies[0].rows];
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    rows.forEach(row => { row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted); });
  });
});
// Tables of class "sortable" are sorted by a click on a column's head, up and then down.
document.querySelectorAll("table.sortable").forEach(table => {
  const body = table.tBodies[0], first = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(text);
    return text === "" || Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => {
    const kinds = [typeof a, typeof b];
    if (kinds[0] !== kinds[1]) return kinds[0] === "number" ? -1 : 1;
    return kinds[0] === "number" ? a - b : a.localeCompare(b);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = first.map(row => [key(row, column), row]);
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      body.append(...rows.map(pair => pair[1]));
    });
  });
});
