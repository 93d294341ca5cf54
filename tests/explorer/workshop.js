// Makes what the tests open: small models that `tapestry train` makes, pages of them that `tapestry
// explore` writes, and what other commands say about the same models.
"use strict";
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

class Workshop {
  // All files land in `folder`, or in a new one, which close() removes.
  constructor(program, folder) {
    this.program = path.resolve(program);
    this.folder = folder ? path.resolve(folder) :
      fs.mkdtempSync(path.join(os.tmpdir(), "explorer-pages-"));
    this.kept = Boolean(folder);
    fs.mkdirSync(this.folder, { recursive: true });
  }

  file(name) { return path.join(this.folder, name); }

  write(name, text) {
    fs.writeFileSync(this.file(name), text);
    return this.file(name);
  }

  // Runs the command in the folder: {status, out, err}.
  attempt(...words) {
    const { status, stdout, stderr, error } = spawnSync(this.program, words,
      { cwd: this.folder, encoding: "utf8", maxBuffer: 1 << 28, timeout: 150000 });
    if (error) throw error;
    return { status, out: stdout, err: stderr };
  }

  // What the command prints. Throws if it fails.
  tapestry(...words) {
    const { status, out, err } = this.attempt(...words);
    if (status !== 0) throw new Error(`tapestry ${words.join(" ")}: ${err || `status ${status}`}`);
    return out;
  }

  close() { if (!this.kept) fs.rmSync(this.folder, { recursive: true, force: true }); }
}

module.exports = { Workshop };
