// Drives Firefox through Marionette, its own remote protocol: over a socket of this machine, with
// messages [type, id, command, parameters] in JSON, each led by its length in bytes. A new profile,
// which is removed in the end.
"use strict";
const {spawn} = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const {pathToFileURL} = require("node:url");

const preferences = {
  "marionette.port": 0,  // any that is free: it stands in the profile's MarionetteActivePort
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "browser.aboutwelcome.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "app.update.enabled": false,
  "extensions.update.enabled": false,
};
const pause = (ms) => new Promise((resolve) => {
  setTimeout(resolve, ms);
});

class Firefox {
  static async start(program = process.env.FIREFOX || "firefox-esr") {
    const firefox = new Firefox(program);
    try {
      await firefox.connect();
      const {capabilities} = await firefox.send("WebDriver:NewSession", {});
      firefox.version = `Firefox/${capabilities.browserVersion}`;
      return firefox;
    } catch (error) {
      await firefox.close();
      throw error;
    }
  }

  constructor(program) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "explorer-firefox-"));
    this.waiting = new Map();
    this.count = 0;
    this.rest = Buffer.alloc(0);
    this.said = "";
    const lines = Object.entries(preferences)
                    .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
    fs.writeFileSync(path.join(this.folder, "user.js"), lines.join(""));
    this.process = spawn(
      program,
      ["--headless", "--marionette", "--no-remote", "--profile", this.folder, "about:blank"], {
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
        env: {...process.env, HOME: this.folder, MOZ_HEADLESS: "1"}
      });
    this.process.stderr.on("data", (data) => {
      this.said = (this.said + data).slice(-1000);
    });
    this.process.on("error", (error) => {
      this.reason = `${program}: ${error.message}`;
    });
    this.process.on("exit", (code) => {
      this.reason = this.reason || `${program} ended with ${code}: ${this.said}`;
      for (const {reject} of this.waiting.values()) reject(new Error(this.reason));
    });
  }

  async connect() {
    const note = path.join(this.folder, "MarionetteActivePort");
    for (let i = 0; !fs.existsSync(note) || !fs.readFileSync(note, "utf8").trim(); ++i) {
      if (this.reason) throw new Error(this.reason);
      if (i > 600) throw new Error("Firefox opened no port within 60 s");
      await pause(100);
    }
    const port = Number(fs.readFileSync(note, "utf8"));
    this.socket = net.connect(port, "127.0.0.1");
    this.socket.on("data", (data) => this.read(data));
    await new Promise((resolve, reject) => {
      this.greet = resolve;
      this.socket.on("error", reject);
    });
  }

  read(data) {
    this.rest = Buffer.concat([this.rest, data]);
    for (;;) {
      const colon = this.rest.indexOf(":");
      if (colon < 0) return;
      const end = colon + 1 + Number(this.rest.toString("latin1", 0, colon));
      if (this.rest.length < end) return;
      const message = JSON.parse(this.rest.toString("utf8", colon + 1, end));
      this.rest = this.rest.subarray(end);
      if (Array.isArray(message))
        this.take(message);
      else
        this.greet();
    }
  }

  take([, id, error, result]) {
    const {resolve, reject, command} = this.waiting.get(id) || {};
    if (!this.waiting.delete(id)) return;
    if (error)
      reject(new Error(`${command}: ${error.message}`));
    else
      resolve(result);
  }

  send(command, parameters) {
    if (this.reason) return Promise.reject(new Error(this.reason));
    const id = ++this.count, text = JSON.stringify([0, id, command, parameters]);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {resolve, reject, command});
      this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  // Opens a file at #hash, from an empty page: a changed hash alone would not load it anew.
  async go(file, hash = "") {
    await this.send("WebDriver:Navigate", {url: "about:blank"});
    await this.send("WebDriver:Navigate", {url: pathToFileURL(path.resolve(file)).href + hash});
  }

  // The value of a function that runs beside the page, with arguments that JSON can hold.
  async evaluate(code, ...args) {
    const script = `return (${code})(...arguments)`;
    return (await this.send("WebDriver:ExecuteScript", {script, args})).value;
  }

  async wait(what, code, ...args) {
    const end = Date.now() + 30000;
    for (;;) {
      const value = await this.evaluate(code, ...args);
      if (value) return value;
      if (Date.now() > end) throw new Error(`Firefox: waited 30 s in vain for ${what}`);
      await pause(50);
    }
  }

  // Writes a PNG file of what is in view, at that width.
  async screenshot(file, width) {
    await this.send("WebDriver:SetWindowRect", {width, height: 900});
    const {value} = await this.send("WebDriver:TakeScreenshot", {full: false});
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, Buffer.from(value, "base64"));
  }

  async close() {
    const ended = new Promise((resolve) => {
      this.process.on("exit", resolve);
    });
    if (!this.reason && this.socket) {
      this.send("Marionette:Quit", {flags: ["eForceQuit"]}).catch(() => {});
      await Promise.race([ended, pause(5000)]);
    }
    this.socket?.destroy();
    try {
      process.kill(-this.process.pid, "SIGKILL");
    } catch { /* all have ended */
    }
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 100});
  }
}

module.exports = {Firefox};
