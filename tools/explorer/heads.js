// The head view: lines from each query on the left to the keys on the right that it looks at.

const thinnest = 0.02;  // lines of smaller weights are drawn only for a word that is pointed at
const lineHeight = 26;

const headsView = {
  id: "heads",
  name: "Heads",
  intro: () => "Each line goes from a query on the left, the word that looks, to a key on the " +
    "right. The larger the weight, the thicker and darker the line. Point at a word to see only " +
    `its lines and their weights. Lines below ${thinnest} show only then.`,

  draw(scene, panel, app) {
    panel.append(headChoice(scene, app));
    if (scene.beside) panel.append(besideNote(scene));
    const place = html("div", { class: "pictures" });
    const parts = linePictures(scene, panel.clientWidth || 800);
    parts.forEach((part) => place.append(html("div", { class: "scroll" }, part.root)));
    place.append(cardPlace());
    panel.append(place);
    drawCard(scene, scene.run, scene.query, scene.key);
    wireHeads(parts, scene, app);
  },

  picture: (scene) =>
    sideBySide(linePictures(scene, 1100).map((part) => part.root), scene),

  numbers(scene) {
    const rows = [], runs = [scene.run, ...(scene.beside?.run ? [scene.beside.run] : [])];
    for (const run of runs) {
      for (const h of scene.heads.filter((head) => run.has(scene.layer, head))) {
        eachPair(scene, run, (i, j) => rows.push([
          run.model.name, scene.layer, h, i, run.words[i], j, run.words[j],
          run.weight(scene.layer, h, i, j)]));
      }
    }
    return { columns: ["model", "layer", "head", "query", "query word", "key", "key word", "weight"],
             rows };
  },
};

function eachPair(scene, run, visit) {
  const [q0, q1] = part(scene, run, "queries"), [k0, k1] = part(scene, run, "keys");
  for (let i = q0; i <= q1; ++i) {
    for (let j = k0; j <= k1; ++j) if (run.sees(scene.layer, i, j)) visit(i, j);
  }
}

// First and last position shown: of the window, or of the whole text.
function part(scene, run, side) {
  const [first, last] = scene.range[side];
  return scene.range.isPart || run.length > exactSize
    ? [Math.min(first, run.length - 1), Math.min(last, run.length - 1)] : [0, run.length - 1];
}

// Boxes to show several heads of the layer at once, each in its colour.
function headChoice(scene, app) {
  const count = scene.run.model.heads;
  const set = html("fieldset", { class: "heads" }, html("legend", {}, `Heads of layer ${scene.layer}`));
  const choose = (heads) => app.set({ heads: heads.join(","), head: heads.includes(scene.head)
    ? scene.head : heads[0] });
  for (let h = 0; h < count; ++h) {
    const box = html("input", { type: "checkbox", value: h, "data-head": h, change: () => {
      const chosen = scene.heads.filter((x) => x !== h);
      choose(box.checked ? [...chosen, h] : chosen.length ? chosen : [h]);
    } });
    box.checked = scene.heads.includes(h);
    const swatch = html("span", { class: "swatch" });
    swatch.style.background = headColour(scene.paint, h);
    set.append(html("label", {}, box, swatch, String(h)));
  }
  set.append(html("button", { type: "button", click: () => choose([...Array(Math.min(count, 64)).keys()]) },
                  "All"),
             html("button", { type: "button", click: () => choose([scene.head]) }, "One"));
  return set;
}

const headColour = (paint, head) => paint.heads[head % paint.heads.length];

// ---- the pictures: A, B and their difference
function linePictures(scene, width) {
  const { beside, run, layer, head } = scene, title = headsTitle(scene);
  const count = beside?.run ? 3 : 1;
  const each = Math.max(320, Math.min(760, count > 1 ? Math.floor((width - 52) / count) - 8 : width - 8));
  const own = { run, title: beside?.run ? `A: ${title}` : title, heads: scene.heads };
  const parts = [linePicture(scene, own, each)];
  if (!beside?.run) return parts;
  const heads = scene.heads.filter((h) => beside.run.has(layer, h));
  if (heads.length > 0) {
    parts.push(linePicture(scene, { run: beside.run, title: `B: ${beside.name}`, heads }, each));
  }
  if (!noDifference(scene)) {
    parts.push(linePicture(scene, { run, other: beside.run, title: `A − B, head ${head}`,
                                    heads: [head] }, each));
  }
  return parts;
}

const headsTitle = ({ layer, heads }) =>
  `Layer ${layer}, head${heads.length > 1 ? "s" : ""} ${heads.join(", ")}`;

function linePicture(scene, shown, width) {
  const { run } = shown, [q0, q1] = part(scene, run, "queries"), [k0, k1] = part(scene, run, "keys");
  const side = Math.min(150, Math.floor(width * 0.3)), count = Math.max(q1 - q0, k1 - k0) + 1;
  const box = { q0, q1, k0, k1, side, width, top: 52, left: side, right: width - side };
  const root = picture(width, box.top + count * lineHeight + 8, scene.paint, {
    role: "group", "aria-label": `${shown.title}: lines from queries, left, to keys, right`,
    class: "lines",
  });
  root.append(label(0, 15, fit(shown.title, width), { "font-weight": "bold" }),
              label(side - 32, 38, "query", { "text-anchor": "end", fill: scene.paint.soft }),
              label(box.right + 32, 38, "key", { fill: scene.paint.soft }));
  const lines = svg("g", { class: "all-lines" }), single = svg("g", { class: "single-lines" });
  root.append(lines, single, wordColumn(scene, run, box, "query"),
              wordColumn(scene, run, box, "key"));
  const drawing = { root, box, shown, scene, single, lines };
  drawLines(drawing, lines, 0.1, (i, j, w) => Math.abs(w) >= thinnest);
  return drawing;
}

function wordColumn(scene, run, box, side) {
  const isQuery = side === "query", [first, last] = isQuery ? [box.q0, box.q1] : [box.k0, box.k1];
  const group = svg("g", { role: "list", "aria-label": isQuery ? "queries" : "keys" });
  for (let i = first; i <= last; ++i) {
    const y = box.top + (i - first) * lineHeight;
    const x = isQuery ? box.side - 32 : box.right + 32;
    const isChosen = i === (isQuery ? scene.query : scene.key);
    const item = svg("g", { role: "listitem", class: "line-word", tabindex: "-1",
                            "data-side": side, "data-position": i,
                            "aria-label": `${side} ${place(run, i)}` });
    item.append(svg("rect", { x: isQuery ? 0 : box.right, y, width: box.side, height: lineHeight,
                              rx: 5, fill: "transparent" }),
                label(x, y + 18, fit(run.words[i], box.side - 40),
                      { "text-anchor": isQuery ? "end" : "start",
                        "font-weight": isChosen ? "bold" : null }),
                label(isQuery ? x + 24 : x - 24, y + 18, String(i),
                      { "text-anchor": isQuery ? "end" : "start", "font-size": 10,
                        fill: scene.paint.soft }));
    group.append(item);
  }
  return group;
}

// The weight a line stands for, or the difference of two.
function lineWeight({ shown, scene }, head, i, j) {
  const { run, other } = shown, seen = run.sees(scene.layer, i, j);
  if (other) {
    const a = seen ? run.weight(scene.layer, head, i, j) : 0;
    const b = other.sees(scene.layer, i, j) ? other.weight(scene.layer, head, i, j) : 0;
    return a - b;
  }
  return seen ? run.weight(scene.layer, head, i, j) : null;
}

function drawLines(drawing, into, least, keep) {
  const { box, shown } = drawing, paths = [];
  for (const head of shown.heads) {
    for (let i = box.q0; i <= box.q1; ++i) {
      for (let j = box.k0; j <= box.k1; ++j) {
        const w = lineWeight(drawing, head, i, j);
        if (w !== null && keep(i, j, w)) paths.push(linePath(drawing, head, i, j, w, least));
      }
    }
  }
  into.replaceChildren(...paths);
}

// least: the opacity of the faintest line.
function linePath({ box, shown, scene }, head, i, j, w, least) {
  const y = (at) => box.top + (at + 0.5) * lineHeight, middle = (box.left + box.right) / 2;
  const from = y(i - box.q0), to = y(j - box.k0), size = Math.min(1, Math.abs(w));
  const { paint } = scene;
  const colour = shown.other ? (w > 0 ? paint.more[3] : paint.less[3]) : headColour(paint, head);
  const isDashed = shown.other ? w < 0 : head >= paint.heads.length;
  return svg("path", {
    d: `M${box.left} ${from}C${middle} ${from} ${middle} ${to} ${box.right} ${to}`,
    fill: "none", stroke: colour, "stroke-width": (0.6 + 4.4 * size).toFixed(2),
    "stroke-opacity": (least + (1 - least) * size).toFixed(3),
    "stroke-dasharray": isDashed ? "6 4" : null,
    "data-query": i, "data-key": j, "data-head": head, "data-value": String(w),
  });
}

// ---- pointing at a word
function wireHeads(parts, scene, app) {
  for (const drawing of parts) {
    const { root, shown } = drawing;
    const word = (target) => target.closest?.(".line-word");
    const isolate = (item) => {
      const side = item.dataset.side, at = Number(item.dataset.position);
      parts.forEach((one) => isolateWord(one, side, at));
      app.say(isolatedText(drawing, side, at));
      const [most] = weightsOf(drawing, side, at), pair = [at, most?.other];
      if (most) {
        drawCard({ ...scene, head: most.head }, shown.run, ...(side === "query" ? pair : pair.reverse()));
      }
    };
    root.addEventListener("pointerover", (event) => {
      const { query, key, head } = event.target.dataset ?? {};
      if (word(event.target)) isolate(word(event.target));
      if (key === undefined) return;
      app.say(lineText(drawing, event.target.dataset));
      drawCard({ ...scene, head: Number(head) }, shown.run, Number(query), Number(key));
    });
    root.addEventListener("focusin", (event) => word(event.target) && isolate(word(event.target)));
    const clear = () => parts.forEach(clearWord);
    root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
    root.addEventListener("focusout", clear);
    root.addEventListener("click", (event) => {
      const { query, key, head } = event.target.dataset ?? {}, item = word(event.target);
      if (key !== undefined && !shown.other) app.set({ view: "why", query, key, head });
      else if (item?.dataset.side === "query") app.note({ query: item.dataset.position, key: null });
      else if (item) app.note({ key: item.dataset.position });
    });
    wireWords(drawing, app);
  }
}

// Arrow keys: up and down within a side, left and right between them. Enter explains the weight.
function wireWords(drawing, app) {
  const { root, box } = drawing, queries = box.q1 - box.q0 + 1;
  const find = (side, at) =>
    root.querySelector(`.line-word[data-side="${side}"][data-position="${at}"]`);
  const start = find("query", app.scene.query) ?? root.querySelector(".line-word");
  start?.setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => {
    const item = event.target.closest(".line-word");
    if (!item) return;
    const side = item.dataset.side, at = Number(item.dataset.position);
    const first = side === "query" ? box.q0 : box.k0;
    const steps = { ArrowUp: [side, at - 1], ArrowDown: [side, at + 1], Home: [side, first],
                    End: [side, side === "query" ? box.q1 : box.k1],
                    ArrowLeft: ["query", box.q0 + Math.min(at - first, queries - 1)],
                    ArrowRight: ["key", box.k0 + Math.min(at - first, box.k1 - box.k0)] };
    if (event.key === "Enter") {
      app.set({ view: "why", ...(side === "query" ? { query: at, key: null } : { key: at }) });
    } else if (!(event.key in steps)) {
      return;
    }
    event.preventDefault();
    const next = event.key === "Enter" ? null : find(...steps[event.key]);
    if (!next) return;
    item.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

// Only this word's lines, and their weights beside the words on the other side.
function isolateWord(drawing, side, at) {
  const { root, single, lines, shown } = drawing;
  lines.setAttribute("visibility", "hidden");
  drawLines(drawing, single, 0.35,
            (i, j, w) => (side === "query" ? i : j) === at && Math.abs(w) >= 5e-5);
  for (const path of [...single.children]) {
    if (shown.heads.length === 1) single.append(lineNumber(drawing, side, path.dataset));
  }
  for (const item of root.querySelectorAll(".line-word")) {
    item.classList.toggle("is-chosen", item.dataset.side === side &&
                                       Number(item.dataset.position) === at);
  }
  single.append(...(shown.heads.length > 1 ? headBars(drawing, side, at) : []));
}

function lineNumber({ box, scene, shown }, side, { query, key, value }) {
  const isQuery = side === "query", at = isQuery ? Number(key) - box.k0 : Number(query) - box.q0;
  const w = Number(value);
  return label(isQuery ? box.right - 4 : box.left + 4, box.top + at * lineHeight + 12,
               shown.other ? signed(w) : four(w), {
    "text-anchor": isQuery ? "end" : "start", "font-size": 11.5, "data-value": value,
    "data-query": query, "data-key": key, "paint-order": "stroke", stroke: scene.paint.paper,
    "stroke-width": 3, class: "weight",
  });
}

// Several heads: beside each word a bar for each head, in its colour.
function headBars(drawing, side, at) {
  const { box, shown, scene } = drawing, bars = [], step = Math.min(14, 56 / shown.heads.length);
  const isQuery = side === "query", [first, last] = isQuery ? [box.k0, box.k1] : [box.q0, box.q1];
  for (let other = first; other <= last; ++other) {
    shown.heads.forEach((head, n) => {
      const w = lineWeight(drawing, head, ...(isQuery ? [at, other] : [other, at]));
      if (w === null || w < 0.01) return;
      const y = box.top + (other - first) * lineHeight, height = Math.max(2, (lineHeight - 4) * w);
      bars.push(svg("rect", {
        x: isQuery ? box.right - 4 - (shown.heads.length - n) * step : box.left + 4 + n * step,
        y: y + lineHeight - 2 - height, width: step - 1, height,
        fill: headColour(scene.paint, head), stroke: scene.paint.paper, "stroke-width": 0.5,
      }));
    });
  }
  return bars;
}

function clearWord({ root, single, lines }) {
  lines.setAttribute("visibility", "visible");
  single.replaceChildren();
  for (const item of root.querySelectorAll(".is-chosen")) item.classList.remove("is-chosen");
}

// The weights of a word, the largest first: [{head, other, w}].
function weightsOf(drawing, side, at) {
  const { shown, box } = drawing, isQuery = side === "query", found = [];
  const [first, last] = isQuery ? [box.k0, box.k1] : [box.q0, box.q1];
  for (const head of shown.heads) {
    for (let other = first; other <= last; ++other) {
      const w = lineWeight(drawing, head, ...(isQuery ? [at, other] : [other, at]));
      if (w !== null) found.push({ head, other, w });
    }
  }
  return found.sort((a, b) => Math.abs(b.w) - Math.abs(a.w));
}

// The same in words.
function isolatedText(drawing, side, at) {
  const { shown } = drawing, { run } = shown, isQuery = side === "query";
  const found = weightsOf(drawing, side, at), several = shown.heads.length > 1;
  const list = found.slice(0, 4).map(({ head, other, w }) =>
    `${place(run, other)}${several ? ` in head ${head}` : ""} ${shown.other ? signed(w) : four(w)}`);
  return `${side} ${place(run, at)} ${isQuery ? "-> keys" : "<- queries"}: ${list.join(", ")}` +
         (found.length > 4 ? ", …" : "");
}

function lineText(drawing, { query, key, head }) {
  const { shown, scene } = drawing, i = Number(query), j = Number(key), h = Number(head);
  const start = shown.heads.length > 1 ? `head ${h}, ` : "";
  if (shown.other) {
    return `query ${place(shown.run, i)} -> key ${place(shown.run, j)}: difference ` +
           signed(lineWeight(drawing, h, i, j));
  }
  return start + weightText(shown.run, scene.layer, h, i, j) +
         shortWhy(shown.run, scene.layer, h, i, j);
}
