// Drives Chromium through its debugging protocol, with node's own modules only. The protocol goes
// through two pipes (--remote-debugging-pipe): messages are JSON, each ended by a zero byte. The
// profile is a new folder, which is removed in the end. Runs as root or not, without a screen.
"use strict";
const {spawn} = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const {Page} = require("./page.js");

const patience = 30000;  // ms that an answer may take

// Nothing that Chromium does for itself may reach another machine. The checks of local networks are
// off, so that only a page's own policy can keep it from a server of this machine.
const flags = [
  "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
  "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
  "--disable-default-apps", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
  "--disable-features=LocalNetworkAccessChecks,Translate", "--force-color-profile=srgb",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--mute-audio", "--lang=en"
];

class Browser {
  // Starts Chromium. Without its sandbox if this user is root, or if it does not start with it, as
  // in many containers: the tests open their own files only.
  static async start(program = process.env.CHROMIUM || "chromium") {
    const tries = process.getuid() === 0 ? [["--no-sandbox"]] : [[], ["--no-sandbox"]];
    let failure;
    for (const more of tries) {
      const browser = new Browser(program, more);
      try {
        browser.version = (await browser.send("Browser.getVersion")).product;
        await browser.send(
          "Browser.setDownloadBehavior",
          {behavior: "allow", downloadPath: browser.downloads, eventsEnabled: true});
        return browser;
      } catch (error) {
        failure = error;
        await browser.close();
      }
    }
    throw failure;
  }

  constructor(program, more) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "explorer-browser-"));
    this.downloads = path.join(this.folder, "downloads");
    this.waiting = new Map();  // id of a message -> {resolve, reject, timer}
    this.pages = new Map();    // id of a session -> Page
    this.listeners = new Set();
    this.count = 0;
    this.said = "";  // the end of what it wrote to standard error
    fs.mkdirSync(this.downloads);
    this.process =
      spawn(program, [...flags, ...more, `--user-data-dir=${this.folder}/profile`, "about:blank"], {
        stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
        detached: true,
        env: {...process.env, HOME: this.folder}
      });
    this.ended = new Promise((resolve) => {
      const end = (why) => {
        this.stop(why);
        resolve();
      };
      this.process.on("error", (error) => end(`${program}: ${error.message}`));
      this.process.on("exit", (code) => end(`${program} ended with ${code}: ${this.said}`));
    });
    this.process.stderr.on("data", (data) => {
      this.said = (this.said + data).slice(-2000);
    });
    this.process.stdio[3].on("error", () => {});
    this.process.stdio[4].on("error", () => {});
    this.read(this.process.stdio[4]);
  }

  read(pipe) {
    let parts = [];
    pipe.on("data", (data) => {
      let begin = 0;
      for (let end; (end = data.indexOf(0, begin)) >= 0; begin = end + 1) {
        parts.push(data.subarray(begin, end));
        this.take(JSON.parse(Buffer.concat(parts).toString()));
        parts = [];
      }
      parts.push(data.subarray(begin));
    });
  }

  take(message) {
    const page = this.pages.get(message.sessionId);
    if (message.id === undefined) {
      if (page) page.take(message.method, message.params);
      for (const listener of this.listeners) listener(message.method, message.params);
      return;
    }
    const {resolve, reject, timer, method} = this.waiting.get(message.id) || {};
    if (!this.waiting.delete(message.id)) return;
    clearTimeout(timer);
    if (message.error)
      reject(new Error(`${method}: ${message.error.message}`));
    else
      resolve(message.result);
  }

  // The answer to one message. Throws if it is an error, late, or Chromium has ended.
  send(method, params = {}, sessionId = undefined) {
    if (this.reason) return Promise.reject(new Error(this.reason));
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`${method}: no answer within ${patience / 1000} s`));
      }, patience);
      this.waiting.set(id, {resolve, reject, timer, method});
      this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    });
  }

  stop(reason) {
    this.reason = this.reason || reason;
    for (const {reject, timer} of this.waiting.values()) {
      clearTimeout(timer);
      reject(new Error(this.reason));
    }
    this.waiting.clear();
  }

  // A new tab of that size and colour scheme. It shows nothing yet: see Page.go.
  async newPage({width = 1280, height = 800, scheme = "light", touch = false} = {}) {
    const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
    const {sessionId} = await this.send("Target.attachToTarget", {targetId, flatten: true});
    const page = new Page(this, targetId, sessionId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.send("Page.setLifecycleEventsEnabled", {enabled: true});
    await page.send("Emulation.setFocusEmulationEnabled", {enabled: true});
    await page.look({width, height, scheme, touch});
    return page;
  }

  // The file that `action` makes the browser save: {name, text, bytes}.
  async download(action) {
    let begun;
    const file = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("nothing was saved")), 10000);
      const listener = (method, params) => {
        if (method === "Browser.downloadWillBegin") begun = params.suggestedFilename;
        if (method !== "Browser.downloadProgress" || params.state === "inProgress") return;
        this.listeners.delete(listener);
        clearTimeout(timer);
        if (params.state === "completed")
          resolve(begun);
        else
          reject(new Error(`saving ${begun} was ${params.state}`));
      };
      this.listeners.add(listener);
    });
    await Promise.all([action(), file]);
    const name = await file, at = path.join(this.downloads, name);
    const bytes = fs.readFileSync(at);
    fs.rmSync(at);
    return {name, text: bytes.toString("utf8"), bytes};
  }

  // Ends Chromium and what it started, and removes its folder.
  async close() {
    if (!this.reason) {
      await Promise.race([this.send("Browser.close").catch(() => {}), pause(3000)]);
      await Promise.race([this.ended, pause(3000)]);
    }
    try {
      process.kill(-this.process.pid, "SIGKILL");
    } catch { /* all have ended */
    }
    this.stop("the browser is closed");
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 100});
  }
}

const pause = (ms) => new Promise((resolve) => {
  setTimeout(resolve, ms);
});

module.exports = {
  Browser,
  pause
};
