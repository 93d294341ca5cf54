// The part of the self-test that needs the engine: it reads the first text again, and trains.

live.selfTest = async (app, check) => {
  await live.started;
  check(live.engine !== null, byId("live-state").textContent);
  if (live.canRun(0) && app.source.run(0, 0)) await checkReading(app, check);
  await checkLearning(check);
};

// The recording is the native library's, whose kernels may round otherwise.
async function checkReading(app, check) {
  app.set({model: 0, text: 0, view: "map", beside: null});
  const recorded = app.source.run(0, 0);
  byId("typed").value = app.source.texts[0].given;
  await readTyped(app);
  check(byId("typed-problem").textContent === "", byId("typed-problem").textContent);
  const made = app.source.run(0, live.typed), {layers, heads} = made.model;
  check(made !== recorded && made.length === recorded.length, "a typed text is read anew");
  for (let l = 0; l < layers; ++l) {
    for (let h = 0; h < heads; ++h) {
      for (let i = 0; i < made.length; ++i) {
        const given = recorded.row(l, h, i);
        check(
          made.row(l, h, i).every((w, j) => Math.abs(w - given[j]) < 1e-5),
          `the engine's weights of ${l}.${h} at ${i}`);
      }
    }
  }
}

async function checkLearning(check) {
  const model = "self-test", file = "/trained/self-test.safetensors";
  const sizes = {layers: 1, heads: 2, width: 16, rate: 0.003, steps: 2, seed: 1};
  await live.engine.call({call: "train", model, file, task: "copy", ...sizes});
  const {losses} =
    await live.engine.call({call: "learn", model, steps: 2, in_all: 2, test: false});
  check(losses.length === 2 && losses.every((loss) => loss > 0), `losses ${losses}`);
  await live.engine.call({call: "close", model});
}
