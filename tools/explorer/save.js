// Saving what is shown: a picture as SVG, the numbers as CSV. Nothing leaves the machine: the file
// comes from the page itself.

function download(name, type, text) {
  const link = html("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Characters that XML does not allow; a text may hold any.
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

// A picture for other programs: on paper of its own, and without what serves only the page.
function svgFile(element) {
  const copy = element.cloneNode(true),
        [, , width, height] = copy.getAttribute("viewBox").split(" ");
  copy.prepend(svg("rect", {width, height, fill: paints.light.paper}));
  for (const part of [copy, ...copy.querySelectorAll("*")]) {
    for (const name of part.getAttributeNames()) {
      if (/^(aria-|data-|role|tabindex|class|id$)/.test(name) && part.tagName !== "pattern") {
        part.removeAttribute(name);
      }
    }
  }
  const text = new XMLSerializer().serializeToString(copy).replace(notXml, "\ufffd");
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + text;
}

// A picture says what it shows.
function captioned(element, text, paint) {
  const [, , width, height] = element.getAttribute("viewBox").split(" ").map(Number);
  element.setAttribute("y", 26);
  const wide = Math.max(width, textWidth(text, false, 2000) + 32);
  return picture(wide, height + 26, paint, {}, label(16, 20, text, {fill: paint.soft}), element);
}

// One cell. A text that a spreadsheet would take for a formula gets an apostrophe before it.
function csvCell(value) {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]./.test(text) ? "'" + text : text;
  return /[",\n\r']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// All rows have equally many fields.
function csvFile({columns, rows}) {
  const all = [columns, ...rows], width = Math.max(...all.map((row) => row.length));
  const line = (row) => Array.from({length: width}, (_, i) => csvCell(row[i])).join(",");
  return all.map((row) => line(row) + "\r\n").join("");
}

// "tapestry-map-layer1-head2.svg"
const fileName = (scene, ending) =>
  `tapestry-${scene.view}-layer${scene.layer}-head${scene.head}.${ending}`;
