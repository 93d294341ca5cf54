// Opening models in the page: files and folders that are dropped on it, or files chosen. Nothing
// leaves the machine:
// the engine in this page reads them.

const mostFileBytes = 500e6;  // of all files of one model

function openPart(app) {
  const input = html("input", {
    type: "file",
    id: "open-files",
    multiple: true,
    "aria-describedby": "open-help",
    change: () =>
      openFiles(app, [{name: "", files: [...input.files]}]).then(() => input.value = ""),
  });
  takeDrops(app);
  return html(
    "details", {id: "open", class: "live-part"},
    html("summary", {}, "Open: a model of yours, from its file or folder"),
    html(
      "p", {class: "note", id: "open-help"},
      "Drop a checkpoint (.safetensors) or a model's folder on this page. Or choose files: one " +
        "checkpoint, or of a folder all files together (config.json, the tokenizer's, the weights)."),
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
    droppedIn(event.dataTransfer).then((groups) => openFiles(app, groups));
  });
}

// ---- which files are a model
// [[file, ...], ...]: the folder of a config.json, or each checkpoint alone.
function modelsIn(files) {
  if (files.some(({name}) => name === "config.json")) return [files];
  return files.filter(({name}) => /\.safetensors$/i.test(name)).map((file) => [file]);
}

// What was dropped: [{name, files}], the loose files without a name, then each folder. The browser
// forgets the items after the event, so all are taken at once.
function droppedIn({items}) {
  const taken = [...items].filter(({kind}) => kind === "file").map((item) => ({
                                                                     entry: item.webkitGetAsEntry(),
                                                                     handle: handleOf(item),
                                                                     file: item.getAsFile(),
                                                                   }));
  const isFolder = ({entry}) => entry?.isDirectory;
  const loose = taken.filter((one) => !isFolder(one)).map(({file}) => file);
  const folders = taken.filter(isFolder).map(async ({entry, handle}) => {
    const files = await filesBehind(await handle).catch(() => filesIn(entry)).catch(() => null);
    return {name: entry.name, files: files?.filter(isModelFile) ?? null};
  });
  return Promise.all([{name: "", files: loose}, ...folders]);
}

const isModelFile = ({name}) => /\.(json|txt|model|safetensors)$/i.test(name);

// Two ways to the files of a folder; what lies deeper is left. Chromium reads a folder's entry in
// pages from a server only, and Firefox gives no handle.
const handleOf = (item) =>
  Promise.resolve(item.getAsFileSystemHandle?.() ?? null).catch(() => null);

async function filesBehind(handle) {
  const files = [];
  for await (const one of handle.values()) {
    if (one.kind === "file") files.push(await one.getFile());
  }
  return files;
}

async function filesIn(entry) {
  const reader = entry.createReader(), files = [];
  const ask = (of, what) => new Promise((resolve, reject) => of[what](resolve, reject));
  for (;;) {
    const some = await ask(reader, "readEntries");  // a part of them each time
    if (some.length === 0) return files;
    files.push(
      ...await Promise.all(some.filter((one) => one.isFile).map((one) => ask(one, "file"))));
  }
}

async function openFiles(app, groups) {
  byId("open").open = true;
  const said = [];
  for (const {name, files} of groups) said.push(...await openGroup(app, name, files));
  sayOpened(said.join(" "));
}

// Opens the models among some files, of the folder of that name if it has one. Resolves to what is
// to be said.
async function openGroup(app, folder, files) {
  const called = short(folder || files?.[0]?.name || "", 60);
  if (!files) {
    return [`This browser cannot read the folder ${called} here: drop its files together instead.`];
  }
  const models = modelsIn(files), said = [];
  if (called && models.length === 0) {
    said.push(
      `${called} is no model: a checkpoint's name ends with .safetensors, and a model's folder ` +
      "has a config.json. Drop the folder itself, or choose all its files together.");
  }
  for (const some of models) {
    const name = some.length === 1 ? short(some[0].name, 60) : folder ? called : "the folder";
    sayOpened(`The engine opens ${name}.`);
    try {
      said.push(await openModel(app, some, folder));
    } catch (error) {
      said.push(`${name} could not be opened: ${error.message}`);
    }
  }
  return said;
}

let openedModels = 0;

async function openModel(app, files, folder) {
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
    return await showOpened(
      app, name, isFolder ? folder || "opened folder" : files[0].name, about.sample);
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
  const model = live.addModel(about, {name, sample});
  source.texts[text] = answer.texts[0];
  const block = new Block(new Uint8Array(answer.blocks[answer.runs[0].numbers]));
  source.setRun(model, text, answer.runs[0], answer.words, block);
  app.set({model, text, query: null, key: null, window: null, heads: null});
  return `${short(title, 60)} is open: ${about.about}.${own}`;
}
