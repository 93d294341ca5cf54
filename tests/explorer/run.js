// Tests of the explorer's page in real browsers. Usage, from the repository's root:
//   node tests/explorer/run.js [--tapestry PROGRAM] [--seed N] [--keep FOLDER] [WORDS...]
// Only tests run whose names contain one of the WORDS. --keep leaves the pages in that folder, and
// takes those that are there already. `make test-explorer` calls this.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const {parseArgs} = require("node:util");
const {Browser} = require("./browser.js");
const {Server} = require("./server.js");
const {Workshop} = require("./workshop.js");
const {runTests} = require("./runner.js");

async function main() {
  const {values, positionals} = parseArgs({
    allowPositionals: true,
    options: {
      tapestry: {type: "string", default: "build/release/tools/tapestry"},
      seed: {type: "string", default: String(Date.now() % 100000)},
      keep: {type: "string"}
    }
  });
  for (const file of fs.readdirSync(__dirname).sort()) {
    if (file.endsWith("_test.js")) require(path.join(__dirname, file));
  }
  const shared = {};
  let good = false;
  try {
    shared.server = await Server.start();
    shared.workshop = new Workshop(values.tapestry, values.keep, shared.server.address);
    shared.browser = await Browser.start();
    console.log(shared.browser.version);
    good = await runTests({words: positionals, seed: Number(values.seed), shared});
  } finally {
    await shared.browser?.close();
    await shared.server?.close();
    shared.workshop?.close();
  }
  process.exitCode = good ? 0 : 1;
}

main().catch((error) => {
  console.error(`test-explorer: ${error.message}`);
  process.exitCode = 1;
});
