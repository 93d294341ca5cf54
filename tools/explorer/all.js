// All heads of a model as small maps: a row for each layer, a column for each head.

const allView = {
  id: "all",
  name: "All heads",
  intro: (scene) =>
    "Each picture is the map of one head: its rows are queries, its columns keys. A row of " +
    "pictures is a layer; the model computes the layers from top to bottom. The colours of each " +
    "picture end at its own largest weights. Below stands the pattern it is named after, if any: " +
    "see Scores. Point at a picture to read its numbers; click it to open the map." +
    (scene.length > exactSize ? " Long texts are pooled to 64 bins." : ""),

  draw(scene, panel, app) {
    const {layers, heads} = scene.run.model, size = thumbnailSize(panel.clientWidth || 800, heads);
    const grid = html("table", {
      class: "thumbnails",
      role: "grid",
      "aria-label": "Heads: rows are layers, columns are heads"
    });
    grid.append(html("caption", {}, "Layers ↓ · Heads →"), headRow(heads));
    for (let l = 0; l < layers; ++l) {
      grid.append(html(
        "tr", {}, html("th", {scope: "row", class: "layer"}, `Layer ${l}`),
        ...Array.from({length: heads}, (_, h) => thumbnail(scene, l, h, size))));
    }
    const box = html("div", {class: "scroll"}, grid);
    panel.append(box);
    bringIntoSight(box, grid.querySelector("[aria-current]"));
    wireThumbnails(grid, scene, app);
  },

  picture(scene) {
    const {layers, heads} = scene.run.model, size = 96, step = size + 8;
    const root = picture(90 + heads * step, 40 + layers * step, scene.paint);
    root.append(label(10, 24, "Layer ↓ Head →", {"font-size": 9.5, fill: scene.paint.soft}));
    for (let h = 0; h < heads; ++h) {
      root.append(label(86 + h * step + size / 2, 24, `Head ${h}`, {"text-anchor": "middle"}));
    }
    for (let l = 0; l < layers; ++l) {
      root.append(label(10, 36 + l * step + size / 2, `Layer ${l}`));
      for (let h = 0; h < heads; ++h) {
        root.append(svg("image", {
          x: 86 + h * step,
          y: 32 + l * step,
          width: size,
          height: size,
          href: paintMap(scene, l, h).toDataURL(),
          "image-rendering": "pixelated"
        }));
      }
    }
    return root;
  },

  numbers(scene) {
    const {layers, heads} = scene.run.model, rows = [];
    for (let l = 0; l < layers; ++l) {
      for (let h = 0; h < heads; ++h) {
        const {weights, size} = smallMap(scene.run, l, h);
        for (let i = 0; i < size; ++i) {
          for (let j = 0; j < size; ++j) rows.push([l, h, i, j, weights(i, j) ?? "masked"]);
        }
      }
    }
    const unit = scene.length > exactSize ? "bin" : "position";
    return {columns: ["layer", "head", `query ${unit}`, `key ${unit}`, "weight"], rows};
  },
};

const thumbnailSize = (width, heads) =>
  Math.max(56, Math.min(220, Math.floor((width - 90) / heads) - 14));

function headRow(heads) {
  const cells =
    Array.from({length: heads}, (_, h) => html("th", {scope: "col", class: "head"}, `Head ${h}`));
  return html("tr", {}, html("td", {class: "corner"}), ...cells);
}

function thumbnail(scene, l, h, size) {
  const isChosen = l === scene.layer && h === scene.head;
  const canvas = paintMap(scene, l, h);
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
      "aria-label": thumbnailText(scene, l, h),
      "aria-current": isChosen ? "true" : null,
    },
    canvas);
  return html("td", {role: "gridcell"}, button, nameBelow(scene.run.measures(l, h).name, size));
}

// What a head is named after, if anything.
function nameBelow(name, size) {
  if (!name || name === "none") return null;
  const small = html("small", {"aria-hidden": "true"}, name);
  small.style.width = `${size + 10}px`;
  return small;
}

// The numbers of a small map: exact, or 64 bins.
function smallMap(run, layer, head) {
  const n = run.length;
  if (n <= exactSize) {
    return {
      size: n,
      weights: (i, j) => run.sees(layer, i, j) ? run.weight(layer, head, i, j) : null
    };
  }
  const pool = run.pooled(layer, head), {causal} = run.model;
  return {size: bins, weights: (i, j) => (causal && j > i ? null : pool[i * bins + j])};
}

// One pixel for a weight; the page enlarges it. The colours go up to the largest weights.
function paintMap(scene, layer, head) {
  const {size, weights} = smallMap(scene.run, layer, head);
  const canvas = html("canvas", {width: size, height: size});
  const context = canvas.getContext("2d"), image = context.createImageData(size, size);
  const values =
    Array.from({length: size * size}, (_, at) => weights(Math.floor(at / size), at % size));
  const highest = highestOf(size, size, weights);
  values.forEach((value, at) => {
    const colour = value === null ? scene.paint.hidden : shade(scene.paint.ramp, value / highest);
    image.data.set([...pixel(colour), 255], 4 * at);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

const pixels = new Map();
function pixel(colour) {
  if (!pixels.has(colour)) pixels.set(colour, channels(colour));
  return pixels.get(colour);
}

function thumbnailText(scene, layer, head) {
  const {entropy, evenEntropy, name, patterns} = scene.run.measures(layer, head);
  const best = bestPattern(patterns);
  const pattern = best < 0 ? "" : `, ${scene.source.patterns[best]} ${four(patterns[best].score)}`;
  const named = name && name !== "none" ? `, named “${name}”` : "";
  return `layer ${layer}, head ${head}: entropy ${four(entropy)} (equal ` +
    `weights ${four(evenEntropy)})` + pattern + named;
}

function wireThumbnails(grid, scene, app) {
  const {layers, heads} = scene.run.model;
  const open = (l, h) => app.set({view: "map", layer: l, head: h, heads: null, key: null});
  const show = (l, h) => app.say(thumbnailText(scene, l, h));
  makeGrid(grid, {
    rows: layers,
    columns: heads,
    start: [scene.layer, scene.head],
    cell: cellOf(grid),
    arrive: show,
    enter: open
  });
  grid.addEventListener("pointerover", (event) => {
    const at = event.target.closest("button");
    if (at) show(Number(at.dataset.layer), Number(at.dataset.head));
  });
  grid.addEventListener("click", (event) => {
    const at = event.target.closest("button");
    if (at) open(Number(at.dataset.layer), Number(at.dataset.head));
  });
}
