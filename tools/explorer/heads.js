// The head view: lines from each query on the left to the keys on the right that it looks at.

const headsView = {
  id: "heads",
  name: "Heads",
  intro: () => "Each line goes from a query on the left, the word that looks, to a key on the " +
    "right. The larger the weight, the thicker and darker the line. Point at a word to see only " +
    `its lines and their weights. Lines below ${thinnest} show only then.`,

  draw(scene, panel, app) {
    panel.append(headChoice(scene, app));
    if (scene.beside) panel.append(besideNote(scene));
    const place = html("div", {class: "pictures"});
    const parts = linePictures(scene, panel.clientWidth || 800);
    parts.forEach((part) => place.append(html("div", {class: "scroll"}, part.root)));
    place.append(cardPlace());
    panel.append(place);
    drawCard(scene, scene.run, scene.query, scene.key);
    wireHeads(parts, app);
  },

  picture: (scene) => sideBySide(linePictures(scene, 1100).map((part) => part.root), scene),

  numbers(scene) {
    const rows = [], runs = [scene.run, ...(scene.beside?.run ? [scene.beside.run] : [])];
    for (const run of runs) {
      for (const h of scene.heads.filter((head) => run.has(scene.layer, head))) {
        eachPair(scene, run, (i, j) => rows.push([
          run.model.name, scene.layer, h, i, run.words[i], j, run.words[j],
          run.weight(scene.layer, h, i, j)
        ]));
      }
    }
    return {
      columns: ["model", "layer", "head", "query", "query word", "key", "key word", "weight"],
      rows
    };
  },
};

function eachPair(scene, run, visit) {
  const [q0, q1] = part(scene, run, "queries"), [k0, k1] = part(scene, run, "keys");
  for (let i = q0; i <= q1; ++i) {
    for (let j = k0; j <= k1; ++j)
      if (run.sees(scene.layer, i, j)) visit(i, j);
  }
}

// First and last position shown: of the window, or of the whole text.
function part(scene, run, side) {
  const [first, last] = scene.range[side];
  return scene.range.isPart || run.length > exactSize ?
    [Math.min(first, run.length - 1), Math.min(last, run.length - 1)] :
    [0, run.length - 1];
}

// Boxes to show several heads of the layer at once, each in its colour.
function headChoice(scene, app) {
  const count = scene.run.model.heads;
  const set =
    html("fieldset", {class: "heads"}, html("legend", {}, `Heads of layer ${scene.layer}`));
  const choose = (heads) =>
    app.set({heads: heads.join(","), head: heads.includes(scene.head) ? scene.head : heads[0]});
  for (let h = 0; h < count; ++h) {
    const box = html("input", {
      type: "checkbox",
      value: h,
      "data-head": h,
      id: `head-box-${h}`,
      change: () => {
        const chosen = scene.heads.filter((x) => x !== h);
        choose(box.checked ? [...chosen, h] : chosen.length ? chosen : [h]);
      }
    });
    box.checked = scene.heads.includes(h);
    const swatch = html("span", {class: "swatch"});
    swatch.style.background = headColour(scene.paint, h);
    set.append(html("label", {}, box, swatch, String(h)));
  }
  const button = (id, heads, text) =>
    html("button", {type: "button", id: `heads-${id}`, click: () => choose(heads)}, text);
  set.append(
    button("All", [...Array(Math.min(count, 64)).keys()], "All"),
    button("One", [scene.head], `Only ${scene.head}`));
  return set;
}

const headColour = (paint, head) => paint.heads[head % paint.heads.length];
