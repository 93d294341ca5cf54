// All heads of a model as small maps: a row for each layer, a column for each head.

const allView = {
  id: "all",
  name: "All heads",
  intro: (scene) =>
    "Each picture is the map of one head: its rows are queries, its columns keys. A row of " +
    "pictures is a layer; the model computes the layers from top to bottom. The colours of each " +
    `picture end at its own largest weights${scene.beside?.run ? ", those of A or of B" : ""}. ` +
    "Below stands the pattern it is named after, if any: see Scores. Point at a picture to read " +
    "its numbers; click it to open the map." +
    (scene.length > exactSize ? " Long texts are pooled to 64 bins." : ""),

  draw(scene, panel, app) {
    if (scene.beside) panel.append(besideNote(scene));
    const sides = sidesOf(scene), place = html("div", {class: "pictures"});
    const width = panel.clientWidth || 800, each = width < 700 ? width : width / sides.length - 26;
    panel.append(place);
    for (const side of sides) {
      const grid = thumbnailGrid(scene, side, thumbnailSize(each, side.heads));
      const box = html("div", {class: "scroll"}, grid);
      place.append(box);
      const chosen = grid.querySelector("[aria-current]");
      if (chosen) bringIntoSight(box, chosen);
      wireThumbnails(grid, scene, side, app);
    }
  },

  picture: (scene) => sideBySide(sidesOf(scene).map((side) => gridPicture(scene, side)), scene),

  // Where one text is pooled and the other is not, bins stand for other positions: only A's.
  numbers(scene) {
    const sides = sidesOf(scene).filter(({run}) => isPooled(run) === isPooled(scene.run)),
          rows = [];
    const [a] = sides;
    for (let l = 0; l < a.layers; ++l) {
      for (let h = 0; h < a.heads; ++h) {
        const maps = sides.map((side) => (side.has(l, h) ? side.map(l, h) : null)), [{size}] = maps;
        for (let i = 0; i < size; ++i) {
          for (let j = 0; j < size; ++j)
            rows.push([l, h, i, j, ...maps.map((map) => weightCell(map, i, j))]);
        }
      }
    }
    const unit = isPooled(scene.run) ? "bin" : "position", names = sides.map(({short}) => short);
    return {columns: ["layer", "head", `query ${unit}`, `key ${unit}`, ...names], rows};
  },
};

const isPooled = (run) => run.length > exactSize;

const weightCell = (map, i, j) =>
  !map || i >= map.size || j >= map.size ? "" : map.weights(i, j) ?? "masked";

const thumbnailSize = (width, heads) =>
  Math.max(56, Math.min(220, Math.floor((width - 90) / heads) - 14));

function thumbnailGrid(scene, side, size) {
  const {layers, heads, title} = side, named = title ? `${title}. ` : "";
  const grid = html("table", {
    class: "thumbnails",
    role: "grid",
    "aria-label": `${named}Heads: rows are layers, columns are heads`
  });
  const caption = html("caption", {}, "Layers ↓ · Heads →");
  if (title) caption.prepend(html("bdi", {class: "side"}, title), html("br"));
  grid.append(caption, headRow(heads));
  for (let l = 0; l < layers; ++l) {
    grid.append(html(
      "tr", {}, html("th", {scope: "row", class: "layer"}, `Layer ${l}`),
      ...Array.from({length: heads}, (_, h) => thumbnail(scene, side, l, h, size))));
  }
  return grid;
}

function headRow(heads) {
  const cells =
    Array.from({length: heads}, (_, h) => html("th", {scope: "col", class: "head"}, `Head ${h}`));
  return html("tr", {}, html("td", {class: "corner"}), ...cells);
}

function thumbnail(scene, side, l, h, size) {
  const isChosen = l === scene.layer && h === scene.head;
  const canvas = paintMap(cellsOf(scene, side, l, h));
  canvas.style.width = canvas.style.height = `${size}px`;
  canvas.setAttribute("aria-hidden", "true");
  const button = html(
    "button", {
      type: "button",
      tabindex: "-1",
      "data-layer": l,
      "data-head": h,
      "data-row": l,
      "data-column": h,
      "aria-label": thumbnailText(scene, side, l, h),
      "aria-current": isChosen ? "true" : null,
    },
    canvas);
  const name = side.isDifference ? null : side.run.measures(l, h).name;
  return html("td", {role: "gridcell"}, button, nameBelow(name, size));
}

// What a head is named after, if anything.
function nameBelow(name, size) {
  if (!name || name === "none") return null;
  const small = html("small", {"aria-hidden": "true"}, name);
  small.style.width = `${size + 10}px`;
  return small;
}

function thumbnailText(scene, side, layer, head) {
  const {run, title, isDifference} = side;
  const start =
    `${title ? `${isDifference ? title : title[0]}, ` : ""}layer ${layer}, head ${head}`;
  if (isDifference) return start + differenceText(side, layer, head);
  const {entropy, evenEntropy, name, patterns} = run.measures(layer, head);
  const best = bestPattern(patterns);
  const pattern = best < 0 ? "" : `, ${scene.source.patterns[best]} ${four(patterns[best].score)}`;
  const named = name && name !== "none" ? `, named “${name}”` : "";
  return `${start}: entropy ${four(entropy)} (equal weights ${four(evenEntropy)})${pattern}${
    named}`;
}

// Half of the differences of a row, without signs, is the weight that lies elsewhere.
function differenceText({run, map}, layer, head) {
  const {size, weights} = map(layer, head);
  let sum = 0;
  for (let i = 0; i < size; ++i) {
    for (let j = 0; j < size; ++j) sum += Math.abs(weights(i, j) ?? 0) / 2;
  }
  const keys = isPooled(run) ? "bins" : "keys";
  return `: ${four(sum / size)} of a query's weight lies on other ${keys} in B, on average`;
}

function wireThumbnails(grid, scene, side, app) {
  const {layers, heads} = side;
  const open = (l, h) =>
    app.set({view: "map", layer: l, head: h, heads: null, key: null, ...asShown(scene, side.run)});
  const show = (l, h) => app.say(thumbnailText(scene, side, l, h));
  const start = grid.querySelector("[aria-current]") ? [scene.layer, scene.head] : [0, 0];
  makeGrid(
    grid, {rows: layers, columns: heads, start, cell: cellOf(grid), arrive: show, enter: open});
  grid.addEventListener("pointerover", (event) => {
    const at = event.target.closest("button");
    if (at) show(Number(at.dataset.layer), Number(at.dataset.head));
  });
  grid.addEventListener("click", (event) => {
    const at = event.target.closest("button");
    if (at) open(Number(at.dataset.layer), Number(at.dataset.head));
  });
}
