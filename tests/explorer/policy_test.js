// The page's policy: whatever a script in the page tries, no other machine hears of it, and no
// foreign script runs. The same tries on a copy without the policy do reach the server.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const {pause} = require("./browser.js");
const recipes = require("./recipes.js");
const {test} = require("./runner.js");

// Each runs in the page with the server's address, and asks for /NAME there.
const asks = {
  fetched: (server) => {
    fetch(`${server}/fetched`).catch(() => {});
  },
  posted: (server) => {
    fetch(`${server}/posted`, {method: "POST", mode: "no-cors"}).catch(() => {});
  },
  xhr: (server) => {
    const request = new XMLHttpRequest();
    request.open("GET", `${server}/xhr`);
    request.onerror = () => {};
    request.send();
  },
  socket: (server) => {
    new WebSocket(`${server.replace("http", "ws")}/socket`);
  },
  events: (server) => {
    new EventSource(`${server}/events`);
  },
  beacon: (server) => {
    navigator.sendBeacon(`${server}/beacon`, "x");
  },
  image: (server) => {
    new Image().src = `${server}/image`;
  },
  imported: (server) => {
    import(`${server}/imported`).catch(() => {});
  },
  font: (server) => {
    new FontFace("x", `url(${server}/font)`).load().catch(() => {});
  },
  background: (server) => {
    document.body.style.backgroundImage = `url(${server}/background)`;
  },
  script: (server) => {
    add("script", {src: `${server}/script`});
  },
  sheet: (server) => {
    add("link", {rel: "stylesheet", href: `${server}/sheet`});
  },
  object: (server) => {
    add("object", {data: `${server}/object`});
  },
  video: (server) => {
    add("video", {src: `${server}/video`}).load();
  },
  ping: (server) => {
    add("a", {href: "#here", ping: `${server}/ping`}).click();
  },
  worker: (server) => {
    const code = `fetch("${server}/worker").catch(() => {})`;
    new Worker(URL.createObjectURL(new Blob([code]))).onerror = () => {};
  },
};

// Before Chromium asks the policy about these, it opens a connection, to be quick. It sends nothing
// then: the server hears no path.
const openings = {
  frame: (server) => {
    add("iframe", {src: `${server}/frame`});
  },
  form: (server) => {
    add("form", {action: `${server}/form`}).submit();
  },
};

// Each would run a script that is not the page's own, which sets window.foreign.
const scripts = {
  inline: () => {
    add("script", {textContent: "window.foreign = 'inline'"});
  },
  markup: () => {
    add("div", {innerHTML: "<img src=data:x onerror=\"window.foreign = 'markup'\">"});
  },
  handler: () => {
    const button = add("button", {});
    button.setAttribute("onclick", "window.foreign = 'handler'");
    button.click();
  },
  address: () => {
    add("a", {href: "javascript:void(window.foreign = 'address')"}).click();
  },
  timer: () => {
    setTimeout("window.foreign = 'timer'", 1);
  },
};

async function provide(page) {
  await page.evaluate(() => {
    window.add = (name, properties) =>
      document.body.appendChild(Object.assign(document.createElement(name), properties));
  });
}

// Waits until the server has heard of it, or 2 s.
async function heard(server, name) {
  const isHeard = () => server.paths().some((path) => path.replace("?", "") === `/${name}`);
  for (let i = 0; i < 40 && !isHeard(); ++i) await pause(50);
  return isHeard();
}

// What the server has heard half a second after all of these were tried.
async function tryAll(page, server, tries) {
  server.heard.length = 0;
  for (const ask of Object.values(tries)) {
    await page.evaluate(ask, server.address).catch(() => {});
  }
  await pause(500);
  return server.heard.splice(0);
}

test("policy: a script in the page reaches no server", async (scene) => {
  const {server, workshop} = scene;
  const page = await scene.open(workshop.page("small"));
  await provide(page);
  assert.deepStrictEqual(await tryAll(page, server, asks), []);
  const opened = await tryAll(page, server, openings);
  assert.deepStrictEqual(opened.filter((what) => what !== "a connection"), []);
  assert.ok(await page.evaluate((own) => location.href.startsWith(own), page.address));
  page.is_deaf = true;  // to what these tries said
});

// What a script in a worker tries, as text: it runs there with `server`.
const inWorker = {
  fetched: 'fetch(server + "/fetched").catch(() => {})',
  posted: 'fetch(server + "/posted", {method: "POST", mode: "no-cors"}).catch(() => {})',
  xhr:
    'const x = new XMLHttpRequest(); x.open("GET", server + "/xhr"); x.onerror = () => {}; x.send()',
  socket: 'new WebSocket(server.replace("http", "ws") + "/socket")',
  events: 'new EventSource(server + "/events")',
  imported: 'import(server + "/imported").catch(() => {})',
  scripts: 'importScripts(server + "/scripts")',
  worker: 'new Worker(server + "/worker")',
  font: 'new FontFace("x", "url(" + server + "/font)").load().catch(() => {})',
};

// Runs each in a worker of its own, made as the page makes its engine's. Resolves to how many ran.
const tryInWorkers = (page, tries, server) => page.evaluate(async (all, address) => {
  const ends = Object.values(all).map(
    (code) => new Promise((resolve) => {
      const text = `const server = ${JSON.stringify(address)};` +
        `try { ${code} } catch {} setTimeout(() => postMessage("ran"), 300);`;
      const worker = new Worker(URL.createObjectURL(new Blob([text])));
      worker.onmessage = () => resolve(1);
      worker.onerror = () => resolve(0);
    }));
  return (await Promise.all(ends)).reduce((a, b) => a + b, 0);
}, tries, server);

test("policy: of a live page, its workers too, no server hears", async (scene) => {
  const {server, workshop} = scene;
  if (!workshop.hasEngine()) return scene.tell("left out: no engine (make explorer)");
  const page = await scene.open(workshop.page("live"));
  await page.wait(
    "the engine",
    () => document.getElementById("live-state").textContent.includes("computes here"));
  await provide(page);
  assert.deepStrictEqual(await tryAll(page, server, asks), []);
  const opened = await tryAll(page, server, openings);
  assert.deepStrictEqual(opened.filter((what) => what !== "a connection"), []);
  assert.strictEqual(
    await tryInWorkers(page, inWorker, server.address), Object.keys(inWorker).length, "all ran");
  await pause(500);
  assert.deepStrictEqual(server.heard.splice(0), []);
  for (const [name, run] of Object.entries(scripts)) {
    await page.evaluate(run).catch(() => {});
    await pause(100);
    assert.strictEqual(await page.evaluate(() => String(window.foreign)), "undefined", name);
  }
  const evals = await page.evaluate(async () => {
    const code = "let found = 'refused'; try { found = eval('1 + 1') } catch {} postMessage(found)";
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    return new Promise((resolve) => worker.onmessage = ({data}) => resolve(data));
  });
  assert.strictEqual(evals, "refused", "no worker makes code of texts");
  page.is_deaf = true;
});

test("policy: without it a worker does reach the server", async (scene) => {
  const {browser, workshop, server} = scene;
  if (!workshop.hasEngine()) return scene.tell("left out: no engine (make explorer)");
  const html = fs.readFileSync(workshop.page("live"), "utf8");
  const without = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
  const page = await browser.newPage();
  await page.go(workshop.write("no_live_policy.html", without));
  for (const [name, code] of Object.entries(inWorker)) {
    if (name === "worker") continue;  // of another origin: no policy is needed to refuse it
    server.heard.length = 0;
    await tryInWorkers(page, {[name]: code}, server.address);
    assert.ok(await heard(server, name), `${name}: the server heard nothing`);
  }
  server.heard.length = 0;
  await page.close();
});

test("policy: without it the same scripts do reach the server", async (scene) => {
  const {browser, workshop, server} = scene;
  const html = fs.readFileSync(workshop.page("small"), "utf8");
  const without = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
  assert.notStrictEqual(without, html, "the page has no policy");
  const page = await browser.newPage();
  await page.go(workshop.write("no_policy.html", without));
  await provide(page);
  for (const [name, ask] of Object.entries({...asks, ...openings})) {
    await page.evaluate(ask, server.address);
    assert.ok(await heard(server, name), `${name}: the server heard nothing`);
  }
  await page.go(workshop.file("no_policy.html"));
  await provide(page);
  for (const [name, run] of Object.entries(scripts)) {
    await page.evaluate(run);
    await page.wait(name, (wanted) => window.foreign === wanted, name);
  }
  server.heard.length = 0;
  await page.close();
});

test("policy: no foreign script runs", async (scene) => {
  const page = await scene.open(scene.workshop.page("small"));
  await provide(page);
  for (const [name, run] of Object.entries(scripts)) {
    await page.evaluate(run).catch(() => {});
    await pause(100);
    assert.strictEqual(await page.evaluate(() => String(window.foreign)), "undefined", name);
  }
  page.is_deaf = true;
});

test("policy: it stands first in the head, and the page names no other machine", async (scene) => {
  for (const name of scene.workshop.pages()) {
    const html = fs.readFileSync(scene.workshop.page(name), "utf8");
    const head =
      html.slice(html.indexOf("<head>") + 6).replace(/^\s*<meta charset[^>]*>/, "").trimStart();
    assert.match(head, /^<meta http-equiv="Content-Security-Policy"/, name);
    const policy = head.match(/content="([^"]*)"/)[1];
    for (const part of
           ["default-src 'none'", "connect-src 'none'", "form-action 'none'", "base-uri 'none'",
            "script-src 'sha256-", "style-src 'sha256-"]) {
      assert.ok(policy.includes(part), `${name}: ${part} in ${policy}`);
    }
    const isLive = html.includes('id="engine-code"');
    const rest = policy.replace(" 'wasm-unsafe-eval'; worker-src blob:", "");
    assert.strictEqual(rest !== policy, isLive, `${name}: the engine's two permissions`);
    assert.doesNotMatch(rest, /unsafe|worker|http|\*/, name);
  }
});
