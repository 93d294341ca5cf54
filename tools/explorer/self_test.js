// #self-test: goes through everything once, in whatever browser this is, and says in the title of
// the page whether it held.

async function selfTest(app) {
  let done = 0;
  const check = (holds, what) => {
    if (!holds) throw new Error(what);
    ++done;
  };
  try {
    for (const [model, text] of runsOf(app.source)) {
      for (const view of views) {
        await new Promise((go) => setTimeout(go));
        app.set({model, text, view: view.id, beside: null, query: null, key: null});
        checkView(app, view, check);
      }
      checkNumbers(app.scene.run, check);
    }
    checkBeside(app, check);
    checkAddress(app, check);
    await live.selfTest?.(app, check);
    report(`self-test passed: ${done}`);
  } catch (error) {
    report(`self-test failed: ${error.message}`);
  }
}

function report(text) {
  document.title = text;
  byId("self-test").hidden = false;
  byId("self-test").textContent = text;
}

function runsOf(source) {
  const all = source.models.flatMap((_, m) => source.texts.map((__, t) => [m, t]))
                .filter(([m, t]) => source.run(m, t));
  return all.length > 12 ? all.filter((_, i) => i % Math.ceil(all.length / 12) === 0) : all;
}

function checkView(app, view, check) {
  const panel = byId(`panel-${view.id}`), where = `${view.id} of model ${app.scene.model}`;
  check(byId("problem").hidden, `${where}: ${byId("problem").textContent}`);
  check(!panel.hidden && panel.childElementCount > 0, `${where}: nothing is shown`);
  check(byId("app").scrollWidth <= innerWidth, `${where}: wider than the window`);
  if (view.empty?.(app.scene)) return;
  const light = {...app.scene, paint: paints.light};
  const text = svgFile(view.picture(light));
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  check(!parsed.querySelector("parsererror"), `${where}: the saved picture is not well formed`);
  const {columns, rows} = view.numbers(app.scene);
  check(rows.length > 0 && rows.every((row) => row.length <= columns.length), `${where}: numbers`);
}

// The recorded weights are those of the recorded queries and keys, and add up to 1.
function checkNumbers(run, check) {
  const {layers, heads} = run.model;
  for (let l = 0; l < layers; ++l) {
    for (const i of [0, Math.floor(run.length / 2), run.length - 1]) {
      const h = (i + l) % heads, row = run.row(l, h, i), own = softmaxRow(run, l, h, i);
      check(
        Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-3, `weights of ${l}.${h} add up to 1`);
      check(row.every((w, j) => Math.abs(w - own[j]) < 2e-3), `weights of ${l}.${h} at ${i}`);
    }
  }
}

function checkBeside(app, check) {
  const other = app.source.models.findIndex((_, m) => m > 0 && app.source.run(m, 0));
  if (other < 0) return;
  for (const view of views) {
    app.set({model: 0, text: 0, view: view.id, beside: String(other)});
    checkView(app, view, check);
  }
}

// What an address says is shown again, and nonsense is ignored.
function checkAddress(app, check) {
  const state = parseState("#view=map&layer=0&query=0&key=-1&beside=<b>&model=99999&x=1");
  check(
    state.view === "map" && state.layer === "0" && state.key === undefined &&
      state.beside === undefined,
    "an address is read");
  app.set({...state, beside: null});
  check(app.scene.model === 0 && app.scene.view === "map", "a wrong model is ignored");
}
