// Makes what the tests open: small models that `tapestry train` makes, pages of them that `tapestry
// explore` writes, and what other commands say about the same models.
"use strict";
const {spawnSync} = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const {writeMadeUp} = require("./made_up.js");
const recipes = require("./recipes.js");

class Workshop {
  // All files land in `folder`, or in a new one, which close() removes. `server` is the address
  // that hostile texts name.
  constructor(program, folder, server) {
    this.program = path.resolve(program);
    this.folder =
      folder ? path.resolve(folder) : fs.mkdtempSync(path.join(os.tmpdir(), "explorer-pages-"));
    this.kept = Boolean(folder);
    this.server = server;
    this.made = new Set();
    fs.mkdirSync(this.folder, {recursive: true});
  }

  file(name) {
    return path.join(this.folder, name);
  }

  write(name, text) {
    fs.writeFileSync(this.file(name), text);
    return this.file(name);
  }

  // Runs the command in the folder: {status, out, err}. On one thread: these models are so small
  // that threads would only wait for each other on a busy machine.
  attempt(...words) {
    const {status, stdout, stderr, error} = spawnSync(this.program, words, {
      cwd: this.folder,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      timeout: 600000,
      env: {...process.env, OMP_NUM_THREADS: "1"}
    });
    if (error) throw error;
    return {status, out: stdout, err: stderr};
  }

  // What the command prints. Throws if it fails.
  tapestry(...words) {
    const {status, out, err} = this.attempt(...words);
    if (status !== 0) throw new Error(`tapestry ${words.join(" ")}: ${err || `status ${status}`}`);
    return out;
  }

  // Makes something once: `make` writes the file of that name. With a folder that is kept, files of
  // an earlier run are taken.
  once(name, make) {
    const file = this.file(name);
    if (!this.made.has(name) && !fs.existsSync(file)) make(file);
    this.made.add(name);
    return file;
  }

  // A small model of that task or text file, trained for so many steps.
  model(name, task, ...options) {
    return this.once(name, () => {
      this.tapestry("train", task, "--checkpoint", name, "--out", "plots", ...options);
    });
  }

  // The names of all pages that can be made here: some need real models.
  pages() {
    return Object.keys(recipes).filter(
      (name) => (!recipes[name].needs || this.real(recipes[name].needs)) &&
        (!recipes[name].live || this.hasEngine()));
  }

  // Whether `make explorer` built the engine, so that pages can be live.
  hasEngine() {
    return fs.readFileSync(this.page("live"), "latin1").includes('id="engine-code"');
  }

  // The folder of a real model, or undefined.
  real(name) {
    const folder = process.env.MODELS && path.resolve(process.env.MODELS, name);
    return folder && fs.existsSync(folder) ? folder : undefined;
  }

  // The page of that name, a file.
  page(name) {
    const recipe = recipes[name];
    return this.once(`${name}.html`, (file) => {
      if (recipe.models) {
        writeMadeUp(file, this.page("alone"), recipe.models(this), recipe.texts(this));
        return;
      }
      const {input, texts, options = []} = recipe.make(this);
      const kind = recipe.live ? [] : ["--recorded"];
      this.tapestry(
        "explore", input, ...texts.flatMap((text) => ["--text", text]), ...options, ...kind,
        "--out", file);
    });
  }

  close() {
    if (!this.kept) fs.rmSync(this.folder, {recursive: true, force: true});
  }
}

module.exports = {Workshop};
