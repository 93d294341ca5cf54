// Pointing at a word of the head view shows only its lines, and their weights.

function wireHeads(parts, app) {
  for (const drawing of parts) {
    const {root} = drawing;
    root.addEventListener("pointerover", (event) => {
      const item = wordAt(event.target);
      if (item) isolate(parts, drawing, item, app);
    });
    root.addEventListener("pointermove", (event) => showLine(drawing, lineAt(drawing, event), app));
    root.addEventListener("focusin", (event) => {
      const item = wordAt(event.target);
      if (item) isolate(parts, drawing, item, app);
    });
    const clear = () => parts.forEach(clearWord);
    root.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
    root.addEventListener("focusout", clear);
    root.addEventListener("click", (event) => choosePart(drawing, event, app));
    wireWords(drawing, app);
  }
}

const wordAt = (target) => target.closest?.(".line-word") ?? null;

// Marks a line, and says what it is; null marks none.
function showLine(drawing, line, app) {
  if (drawing.near === line) return;
  drawing.near?.classList.remove("is-near");
  drawing.near = line;
  drawing.root.classList.toggle("has-near", line !== null);
  if (!line) return;
  line.classList.add("is-near");
  const {query, key, head} = line.dataset;
  app.say(lineText(drawing, line.dataset));
  const scene = {...drawing.scene, head: Number(head)};
  drawCard(scene, drawing.shown.run, Number(query), Number(key));
}

// A line leads to its arithmetic, under a finger on the second touch; a word becomes the query or
// key of all views.
function choosePart(drawing, event, app) {
  const {shown, scene} = drawing, item = wordAt(event.target), line = lineAt(drawing, event);
  const {query, key, head} = line?.dataset ?? {}, name = String([query, key, head]);
  const isFirst = event.pointerType === "touch" && drawing.touched !== name;
  drawing.touched = name;
  if (line && isFirst)
    showLine(drawing, line, app);
  else if (line && !shown.other)
    app.set({view: "why", query, key, head, ...asShown(scene, shown.run)});
  if (item?.dataset.side === "query") app.note({query: item.dataset.position, key: null});
  if (item?.dataset.side === "key") app.note({key: item.dataset.position});
}

// Shows the lines of a word in all pictures, and its largest weight on the card.
function isolate(parts, drawing, item, app) {
  const side = item.dataset.side, at = Number(item.dataset.position);
  parts.forEach((one) => isolateWord(one, side, at));
  app.say(isolatedText(drawing, side, at));
  const [most] = weightsOf(drawing, side, at);
  if (!most) return;
  const [i, j] = side === "query" ? [at, most.other] : [most.other, at];
  drawCard({...drawing.scene, head: most.head}, drawing.shown.run, i, j);
}

// Arrow keys: up and down within a side, left and right between them. Enter explains the weight.
function wireWords(drawing, app) {
  const {root} = drawing;
  const find = (side, at) =>
    root.querySelector(`.line-word[data-side="${side}"][data-position="${at}"]`);
  const start = find("query", app.scene.query) ?? root.querySelector(".line-word");
  start?.setAttribute("tabindex", "0");
  root.addEventListener("keydown", (event) => {
    const item = wordAt(event.target);
    if (!item) return;
    const side = item.dataset.side, at = Number(item.dataset.position);
    const target = wordStep(drawing.box, event.key, side, at), next = target && find(...target);
    if (event.key === "Enter") {
      const changes = side === "query" ? {query: at, key: null} : {key: at};
      app.set({view: "why", ...changes, ...asShown(drawing.scene, drawing.shown.run)});
    }
    if (target || event.key === "Enter") event.preventDefault();
    if (!next) return;
    item.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

// Where a key leads: [side, position], or undefined.
function wordStep({q0, q1, k0, k1}, key, side, at) {
  const [first, last] = side === "query" ? [q0, q1] : [k0, k1];
  return {
    ArrowUp: [side, at - 1],
    ArrowDown: [side, at + 1],
    Home: [side, first],
    End: [side, last],
    ArrowLeft: ["query", Math.min(q0 + at - first, q1)],
    ArrowRight: ["key", Math.min(k0 + at - first, k1)],
  }[key];
}

// Only this word's lines, and their weights beside the words on the other side.
function isolateWord(drawing, side, at) {
  const {root, single, lines, shown} = drawing;
  lines.setAttribute("visibility", "hidden");
  drawLines(
    drawing, single, 0.35, (i, j, w) => (side === "query" ? i : j) === at && Math.abs(w) >= 5e-5);
  for (const path of [...single.children]) {
    if (shown.heads.length === 1) single.append(lineNumber(drawing, side, path.dataset));
  }
  for (const item of root.querySelectorAll(".line-word")) {
    item.classList.toggle(
      "is-chosen", item.dataset.side === side && Number(item.dataset.position) === at);
  }
  single.append(...(shown.heads.length > 1 ? headBars(drawing, side, at) : []));
}

function lineNumber({box, scene, shown}, side, {query, key, value}) {
  const isQuery = side === "query", at = isQuery ? Number(key) - box.k0 : Number(query) - box.q0;
  const w = Number(value);
  return label(
    isQuery ? box.right - 4 : box.left + 4, box.top + at * lineHeight + 12,
    shown.other ? signed(w) : four(w), {
      "text-anchor": isQuery ? "end" : "start",
      "font-size": 11.5,
      "data-value": value,
      "data-query": query,
      "data-key": key,
      "paint-order": "stroke",
      stroke: scene.paint.paper,
      "stroke-width": 3,
      class: "weight",
    });
}

// Several heads: beside each word a bar for each head, in its colour.
function headBars(drawing, side, at) {
  const {box, shown, scene} = drawing, bars = [], step = Math.min(14, 56 / shown.heads.length);
  const isQuery = side === "query", [first, last] = isQuery ? [box.k0, box.k1] : [box.q0, box.q1];
  for (let other = first; other <= last; ++other) {
    shown.heads.forEach((head, n) => {
      const w = lineWeight(drawing, head, ...(isQuery ? [at, other] : [other, at]));
      if (w === null || w < 0.01) return;
      const y = box.top + (other - first) * lineHeight, height = Math.max(2, (lineHeight - 4) * w);
      bars.push(svg("rect", {
        x: isQuery ? box.right - 4 - (shown.heads.length - n) * step : box.left + 4 + n * step,
        y: y + lineHeight - 2 - height,
        width: step - 1,
        height,
        fill: headColour(scene.paint, head),
        stroke: scene.paint.paper,
        "stroke-width": 0.5,
      }));
    });
  }
  return bars;
}

function clearWord(drawing) {
  const {root, single, lines} = drawing;
  showLine(drawing, null);
  lines.setAttribute("visibility", "visible");
  single.replaceChildren();
  for (const item of root.querySelectorAll(".is-chosen")) item.classList.remove("is-chosen");
}

// The weights of a word, the largest first: [{head, other, w}].
function weightsOf(drawing, side, at) {
  const {shown, box} = drawing, isQuery = side === "query", found = [];
  const [first, last] = isQuery ? [box.k0, box.k1] : [box.q0, box.q1];
  for (const head of shown.heads) {
    for (let other = first; other <= last; ++other) {
      const w = lineWeight(drawing, head, ...(isQuery ? [at, other] : [other, at]));
      if (w !== null) found.push({head, other, w});
    }
  }
  return found.sort((a, b) => Math.abs(b.w) - Math.abs(a.w));
}

// The same in words.
function isolatedText(drawing, side, at) {
  const {shown} = drawing, {run} = shown, isQuery = side === "query";
  const found = weightsOf(drawing, side, at), several = shown.heads.length > 1;
  const list = found.slice(0, 4).map(
    ({head, other, w}) => `${place(run, other)}${several ? ` in head ${head}` : ""} ${
      shown.other ? signed(w) : four(w)}`);
  return `${side} ${place(run, at)} ${isQuery ? "-> keys" : "<- queries"}: ${list.join(", ")}` +
    (found.length > 4 ? ", …" : "") + outsideText(drawing, side, found);
}

// Of a part of a long text: how much of a query's weight lies on keys that are not shown.
function outsideText({shown, scene}, side, found) {
  if (!scene.range.isPart || side === "key" || shown.heads.length > 1 || shown.other) return "";
  const inside = found.reduce((sum, {w}) => sum + w, 0);
  return `; ${four(Math.max(0, 1 - inside))} on keys outside of this part`;
}

function lineText(drawing, {query, key, head}) {
  const {shown, scene} = drawing, i = Number(query), j = Number(key), h = Number(head);
  const start = shown.heads.length > 1 ? `head ${h}, ` : "";
  if (shown.other) {
    return `query ${place(shown.run, i)} -> key ${place(shown.run, j)}: difference ` +
      signed(lineWeight(drawing, h, i, j));
  }
  return start + weightText(shown.run, scene.layer, h, i, j) +
    shortWhy(shown.run, scene.layer, h, i, j);
}
