// The panel of what is done to a model (reach.js), and the buttons for it in the views.

const reachPart = (name, of) => ({
  head: `${of.layer}.${of.head}`,
  link: `${of.layer}.${of.head}:${of.query}>${of.key}`,
  attention: `${of.layer}.attention`,
  mlp: `${of.layer}.mlp`,
  position: `@${of.query}`,
  stream: `${of.layer}@${of.query}`,
}[name]);

// Buttons whose texts follow what is chosen.
const partButton = (app, kind, name) => html("button", {
  type: "button",
  "data-kind": kind,
  "data-part": name,
  click: () => addChange(app, {kind, part: reachPart(name, app.scene)}),
});

const sayReach = (text) => byId("reach-problem").textContent = text;

function drawReach(app) {
  const buttons = (kind, names) => names.map((name) => partButton(app, kind, name));
  const set = (legend, note, ...inside) => html(
    "fieldset", {class: "reach"}, html("legend", {}, legend), html("p", {class: "note"}, note),
    ...inside);
  return html(
    "details", {id: "reach", class: "live-part", toggle: () => watchReach(app.scene)},
    html("summary", {}, "Reach in: cut, hold or patch a part of the model"),
    html(
      "p", {class: "note"},
      "Choose a layer and a head at the top of the page, a query and a key in the text or in a " +
        "map. Then change that part. All views show A, the model as it is, beside B, the changed " +
        "one, and A − B."),
    set(
      "Cut",
      "The part gives nothing: its output, or the weight of the link, is 0. A position " +
        "is hidden from all others.",
      ...buttons("cut", ["head", "link", "attention", "mlp", "position"])),
    set(
      "Hold a weight",
      "The weight stays at this value; the others of its row are scaled, so " +
        "that the row still sums to 1.",
      holdSlider(app)),
    set(
      "Patch", "The part is as it is while the model reads a second text of the same length.",
      secondText(app), ...buttons("patched", ["head", "stream"])),
    html("p", {id: "reach-problem", class: "problem-line", role: "status"}),
    html("ul", {id: "reach-list", "aria-label": "Changes"}),
    html(
      "button", {
        type: "button",
        id: "take-all-back",
        hidden: true,
        click: () => {
          takeBack(app, null);
          byId("reach").querySelector("summary").focus();
        }
      },
      "Take all back"),
    html("div", {id: "prediction", "aria-live": "polite"}));
}

function holdSlider(app) {
  const slider = html("input", {
    type: "range",
    id: "hold",
    min: 0,
    max: 1,
    step: 0.01,
    input: () => {
      const weight = Number(slider.value);
      byId("hold-value").textContent = fixed(weight, 2);
      addChange(app, {kind: "held", part: reachPart("link", app.scene), weight});
    }
  });
  return html("div", {class: "slider"}, html("label", {for: "hold", id: "hold-name"
              }), slider, html("output", {for: "hold", id: "hold-value"
              }));
}

function secondText(app) {
  const choices = html("datalist", {id: "second-texts"});
  const input = html("input", {
    type: "text",
    id: "second-text",
    list: "second-texts",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 20000,
    change: () => {
      reaching.from = input.value;
      if (reaching.list.some(({kind}) => kind === "patched")) applyChanges(app);
    },
    input: () => {
      reaching.from = input.value;
      reaching.isChosen = true;
    },
  });
  return html("p", {class: "field"}, html("label", {for: "second-text"
              }, "Second text "), input, choices);
}

// What is chosen has changed: the controls name it.
function watchReach(scene) {
  if (!byId("reach")) return;
  const {layer, head, query, key, run} = scene, problem = reachObstacle(scene);
  const isSeen = !problem && run.has(layer, head) && run.sees(layer, query, key);
  const at = `${layer}.${head}: ${query} → ${key}`;
  const names = {
    cut: {
      head: `Cut head ${layer}.${head}`,
      link: `Cut link ${at}`,
      attention: `Cut attention of layer ${layer}`,
      mlp: `Cut feed-forward of layer ${layer}`,
      position: `Hide position ${query}`
    },
    patched: {
      head: `Patch head ${layer}.${head}`,
      stream: `Patch residual stream before layer ${layer} at position ${query}`
    }
  };
  for (const button of byId("reach").querySelectorAll("[data-part]")) {
    button.textContent = names[button.dataset.kind][button.dataset.part];
    button.disabled = problem !== "" || (button.dataset.part === "link" && !isSeen);
  }
  byId("hold-name").textContent = `Weight of link ${at}`;
  byId("hold").disabled = !isSeen;
  if (isSeen) showHeld(scene);
  offerSecondTexts(scene);
  askPrediction(scene);
}

// The other texts of the page. Until someone writes one, the first of the same length stands there.
function offerSecondTexts({source, text, length}) {
  const others = source.texts.filter(({given}, i) => i !== text && given);
  byId("second-texts").replaceChildren(...others.map(({given}) => html("option", {value: given})));
  if (reaching.isChosen || reaching.list.some(({kind}) => kind === "patched")) return;
  const fitting = others.find(({words}) => words.length === length) ?? others[0];
  byId("second-text").value = reaching.from = fitting?.given ?? "";
}

// The slider stands at the held weight of the link, or at the model's own.
function showHeld({run, layer, head, query, key}) {
  if (document.activeElement === byId("hold") && reaching.busy) return;
  const part = reachPart("link", {layer, head, query, key});
  const held = reaching.list.find((one) => one.kind === "held" && one.part === part);
  const weight = held?.weight ?? run.weight(layer, head, query, key);
  byId("hold").value = weight;
  byId("hold-value").textContent = fixed(weight, 2);
}

function drawChanges(app) {
  if (!byId("reach")) return;
  const text = app.source.texts[app.scene.text], list = byId("reach-list");
  const key = JSON.stringify(reaching.list.map((one) => [changeText(one), fits(one, text)]));
  if (list.dataset.shown === key) return;  // what has the focus keeps it
  list.dataset.shown = key;
  const rows = reaching.list.map((change, i) => {
    const name = changeText(change), isHere = fits(change, text);
    return html(
      "li", {}, isHere ? name : `${name} (not in this text)`, " ",
      html(
        "button", {
          type: "button",
          "aria-label": `Take back: ${name}`,
          click: () => {
            takeBack(app, change);
            const left = byId("reach-list").querySelectorAll("button");
            (left[Math.min(i, left.length - 1)] ?? byId("reach").querySelector("summary")).focus();
          }
        },
        "Take back"));
  });
  list.replaceChildren(...rows);
  byId("take-all-back").hidden = rows.length === 0;
}

// In the views: the chosen head and link, to be cut at once.
function reachButtons(scene, i, j) {
  const {app, layer, head} = scene;
  if (!app?.scene || reachObstacle(app.scene)) return "";
  const at = {layer, head, query: i, key: j};
  const button = (name, text) => html(
    "button", {
      type: "button",
      id: `${scene.side === "B" ? "b-" : ""}cut-${name}`,
      click: () => addChange(app, {kind: "cut", part: reachPart(name, at)})
    },
    text);
  const back = html(
    "button", {
      type: "button",
      id: `${scene.side === "B" ? "b-" : ""}take-back`,
      click: () => takeBack(app, null)
    },
    "Take all changes back");
  return html(
    "p", {class: "reach-here"}, button("link", "Cut this link"), " ",
    button("head", "Cut this head"), " ", reaching.list.length > 0 ? back : "");
}

live.parts.push(drawReach);
live.watchers.push(watchReach);
live.readers.push(readChanged);
