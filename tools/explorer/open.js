// Opening models in the page: files that are dropped on it or chosen. Nothing leaves the machine:
// the engine in this page reads them.

const mostFileBytes = 500e6;  // of all files of one model

function openPart(app) {
  const input = html("input", {
    type: "file",
    id: "open-files",
    multiple: true,
    "aria-describedby": "open-help",
    change: () => openFiles(app, [...input.files]).then(() => input.value = ""),
  });
  takeDrops(app);
  return html(
    "section", {id: "open", class: "live-part", "aria-labelledby": "open-title"},
    html("h2", {id: "open-title"}, "Open a model"),
    html(
      "p", {class: "note", id: "open-help"},
      "Drop files on this page, or choose them: a checkpoint (.safetensors), or all files of a " +
        "model's folder together (config.json, the tokenizer's files, the weights)."),
    html("label", {}, "Files of a model ", input),
    html("p", {id: "open-note", class: "note", role: "status"}));
}

live.parts.push(openPart);

const sayOpened = (text) => byId("open-note").textContent = text;

function takeDrops(app) {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault();  // else the browser leaves the page for the file
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    byId("live").open = true;
    openFiles(app, [...event.dataTransfer.files]);
  });
}

// ---- which files are a model
// [[file, ...], ...]: the folder of a config.json, or each checkpoint alone.
function modelsIn(files) {
  if (files.some(({name}) => name === "config.json")) return [files];
  return files.filter(({name}) => /\.safetensors$/i.test(name)).map((file) => [file]);
}

async function openFiles(app, files) {
  const models = modelsIn(files), said = [];
  if (files.length > 0 && models.length === 0) {
    said.push(
      `${
        short(
          files[0].name, 60)} is no model: a checkpoint's name ends with .safetensors, and of ` +
      "a folder its files are chosen together, config.json too.");
  }
  for (const some of models) {
    const name = some.length === 1 ? short(some[0].name, 60) : "the folder";
    sayOpened(`The engine opens ${name}.`);
    try {
      said.push(await openModel(app, some));
    } catch (error) {
      said.push(`${name} could not be opened: ${error.message}`);
    }
  }
  sayOpened(said.join(" "));
}

let openedModels = 0;

async function openModel(app, files) {
  const bytes = files.reduce((sum, {size}) => sum + size, 0);
  if (bytes > mostFileBytes) {
    throw new EngineError(
      `it has ${grouped(Math.round(bytes / 1e6))} MB, and this page opens at most ` +
      `${mostFileBytes / 1e6} MB. Use tapestry explore instead.`);
  }
  const isFolder = files.some(({name}) => name === "config.json");
  const name = `opened-${openedModels++}`, where = `/${name}`;
  const read = await Promise.all(files.map((file) => readDropped(file, where, isFolder)));
  const request = isFolder ? {call: "open", model: name, folder: where} :
                             {call: "open", model: name, file: read[0].path};
  try {
    const about = await live.engine.open(request, read);
    return await showOpened(app, name, isFolder ? "opened folder" : files[0].name, about.sample);
  } catch (error) {
    error.message = error.message.replaceAll(`${where}/`, "").replaceAll(where, "the folder");
    throw error;
  }
}

// The name of a checkpoint is for people: the engine need not know it.
async function readDropped(file, where, isFolder) {
  const name = isFolder ? file.name.replaceAll("/", "_") : "model.safetensors";
  try {
    return {path: `${where}/${name}`, bytes: await file.arrayBuffer()};
  } catch {
    throw new EngineError(
      `${short(file.name, 60)} could not be read. Of a folder, choose its files together.`);
  }
}

// Shows it with the text that the page shows now, or, if the model cannot read that, with words of
// its own.
async function showOpened(app, name, title, sample) {
  const {source, scene} = app, now = source.texts[scene.text].given;
  const record = (given) =>
    live.engine.call({call: "record", models: [{model: name}], texts: [given], baselines: false});
  let answer, own = "";
  try {
    answer = await record(now);
  } catch (error) {
    if (error instanceof EngineStopped) throw error;
    answer = await record(sample);
    own =
      ` It cannot read the text that was shown (${error.message}), so it reads words of its own.`;
  }
  const given = answer.texts[0].given;
  const found = source.texts.findIndex((text) => text.given === given);
  const text = found >= 0 ? found : source.texts.length;
  const about = {...answer.models[0], name: title, of: source.models.length};
  const model = live.addModel(about, {name});
  source.texts[text] = answer.texts[0];
  const block = new Block(new Uint8Array(answer.blocks[answer.runs[0].numbers]));
  source.setRun(model, text, answer.runs[0], answer.words, block);
  app.set({model, text, query: null, key: null, window: null, heads: null});
  return `${short(title, 60)} is open: ${about.about}.${own}`;
}
