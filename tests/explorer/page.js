// One tab of Chromium: what a person does with it, by real events of mouse, keyboard and touch, and
// what can be read from it. It collects errors and requests, which `problems` tells.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const {pathToFileURL} = require("node:url");

// code, key code, and the text that a key types.
const keys = {
  Tab: ["Tab", 9],
  Enter: ["Enter", 13, "\r"],
  Escape: ["Escape", 27],
  " ": ["Space", 32, " "],
  PageUp: ["PageUp", 33],
  PageDown: ["PageDown", 34],
  End: ["End", 35],
  Home: ["Home", 36],
  ArrowLeft: ["ArrowLeft", 37],
  ArrowUp: ["ArrowUp", 38],
  ArrowRight: ["ArrowRight", 39],
  ArrowDown: ["ArrowDown", 40],
  Delete: ["Delete", 46]
};
const modifier = {
  Alt: 1,
  Control: 2,
  Shift: 8
};

class Page {
  constructor(browser, targetId, sessionId) {
    Object.assign(this, {browser, targetId, sessionId});
    this.messages = [];  // what the console got: {level, text}
    this.exceptions = [];
    this.requests = [];    // addresses
    this.moments = {};     // first paint and so on, in ms after the opening
    this.is_deaf = false;  // after a test has made errors on purpose
    this.loaded = () => {};
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  take(method, params) {
    if (method === "Runtime.consoleAPICalled") {
      const text = params.args.map((arg) => arg.value ?? arg.description).join(" ");
      this.messages.push({level: params.type, text});
    } else if (method === "Log.entryAdded") {
      this.messages.push({level: params.entry.level, text: params.entry.text});
    } else if (method === "Runtime.exceptionThrown") {
      const {text, exception} = params.exceptionDetails;
      this.exceptions.push(`${text} ${exception ? exception.description || exception.value : ""}`);
    } else if (method === "Network.requestWillBeSent") {
      this.requests.push(params.request.url);
    } else if (method === "Network.webSocketCreated") {
      this.requests.push(params.url);
    } else if (method === "Page.lifecycleEvent") {
      this.moments[params.name] = params.timestamp;
      if (params.name === "load") this.loaded();
    }
  }

  // What must not have happened: errors, warnings, exceptions, requests for other files.
  problems() {
    const bad = this.messages.filter(({level}) => ["error", "warning", "assert"].includes(level));
    const noise = bad.map(({text}) => text).concat(this.exceptions);
    const own = (address) =>
      /^(data|blob|about):/.test(address) || address.split("#")[0] === this.address;
    const foreign = this.requests.filter((address) => !own(address));
    return this.is_deaf ? [] : noise.concat(foreign.map((address) => `request for ${address}`));
  }

  // Opens a file at #hash, and waits until it is loaded.
  async go(file, hash = "") {
    this.address = pathToFileURL(path.resolve(file)).href;
    this.moments = {};
    const loaded = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${file} was not loaded in 60 s`)), 60000);
      this.loaded = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    const {errorText} = await this.send("Page.navigate", {url: this.address + hash});
    if (errorText) throw new Error(`${file}: ${errorText}`);
    await loaded;
  }

  // Changes the #hash of the address, as a person does who edits it.
  setHash(hash) {
    return this.send("Page.navigate", {url: this.address + hash});
  }

  async look({width, height = 800, scheme, touch = false}) {
    if (width) {
      await this.send(
        "Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: touch});
      await this.send("Emulation.setTouchEmulationEnabled", {enabled: touch});
    }
    if (scheme) {
      await this.send(
        "Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: scheme}]});
    }
  }

  // Waits until the page has done what is due, and has told of it. A tab behind another one draws
  // no frames.
  rest() {
    return this.evaluate(() => new Promise((resolve) => {
                           requestAnimationFrame(() => setTimeout(resolve, 20));
                           setTimeout(resolve, 300);
                         }));
  }

  // The value of a function that runs in the page, with arguments that JSON can hold.
  async evaluate(code, ...args) {
    const expression = typeof code === "function" ? `(${code})(...${JSON.stringify(args)})` : code;
    const {result, exceptionDetails: details} = await this.send(
      "Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true, userGesture: true});
    if (!details) return result.value;
    throw new Error(`in the page: ${details.exception?.description || details.text}`);
  }

  // Waits until a function of the page is true; returns its value. `what` stands in the error.
  async wait(what, code, ...args) {
    const end = Date.now() + 10000;
    for (;;) {
      const value = await this.evaluate(code, ...args);
      if (value) return value;
      if (Date.now() > end) throw new Error(`waited 10 s in vain for ${what}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }

  // The middle of an element, scrolled into view. Throws if it is missing, empty or covered.
  async middle(selector) {
    const found = await this.evaluate(middleOf, selector);
    if (typeof found === "string") throw new Error(`${selector}: ${found}`);
    return found;
  }

  mouse(type, {x, y}, more = {}) {
    return this.send("Input.dispatchMouseEvent", {type, x, y, ...more});
  }

  async hover(selector) {
    await this.mouse("mouseMoved", await this.middle(selector));
  }

  async click(selector) {
    const at = await this.middle(selector), left = {button: "left", clickCount: 1};
    await this.mouse("mouseMoved", at);
    await this.mouse("mousePressed", at, {...left, buttons: 1});
    await this.mouse("mouseReleased", at, left);
  }

  // Drags from the middle of an element by that many pixels, in five moves.
  async drag(selector, right, down) {
    const {x, y} = await this.middle(selector), left = {button: "left", clickCount: 1};
    await this.mouse("mouseMoved", {x, y});
    await this.mouse("mousePressed", {x, y}, {...left, buttons: 1});
    for (let i = 1; i <= 5; ++i) {
      await this.mouse(
        "mouseMoved", {x: x + right * i / 5, y: y + down * i / 5}, {button: "left", buttons: 1});
    }
    await this.mouse("mouseReleased", {x: x + right, y: y + down}, left);
  }

  // Touches an element with one finger.
  async tap(selector) {
    const at = await this.middle(selector);
    await this.send("Input.dispatchTouchEvent", {type: "touchStart", touchPoints: [at]});
    await this.send("Input.dispatchTouchEvent", {type: "touchEnd", touchPoints: []});
  }

  // Presses a key, such as "ArrowLeft", "Shift+Tab" or "?".
  async press(name) {
    const parts = name === "+" ? ["+"] : name.split("+");
    const key = parts.pop();
    const modifiers = parts.reduce((sum, part) => sum + modifier[part], 0);
    const [code, number, text = key.length === 1 ? key : undefined] =
      keys[key] || [undefined, key.toUpperCase().charCodeAt(0)];
    const event = {key, code, modifiers, windowsVirtualKeyCode: number};
    await this.send(
      "Input.dispatchKeyEvent", {...event, type: text ? "keyDown" : "rawKeyDown", text});
    await this.send("Input.dispatchKeyEvent", {...event, type: "keyUp"});
  }

  type(text) {
    return this.send("Input.insertText", {text});
  }

  focus(selector) {
    return this.evaluate((what) => document.querySelector(what).focus(), selector);
  }

  // Writes a PNG file: of what is in view, or of the whole page.
  async screenshot(file, whole = false) {
    const {data} = await this.send("Page.captureScreenshot", {captureBeyondViewport: whole});
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }

  // What a screen reader gets: {role, name, description, value, properties} of all nodes.
  async tree() {
    const {nodes} = await this.send("Accessibility.getFullAXTree");
    const properties = (node) => (node.properties || []).map((one) => [one.name, one.value.value]);
    return nodes.filter((node) => !node.ignored).map((node) => ({
                                                       role: node.role?.value,
                                                       name: node.name?.value || "",
                                                       description: node.description?.value || "",
                                                       value: node.value?.value,
                                                       properties:
                                                         Object.fromEntries(properties(node))
                                                     }));
  }

  async close() {
    this.browser.pages.delete(this.sessionId);
    await this.browser.send("Target.closeTarget", {targetId: this.targetId}).catch(() => {});
  }
}

// Runs in the page.
function middleOf(selector) {
  const element = document.querySelector(selector);
  if (!element) return "there is no such element";
  element.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
  const {left, top, width, height} = element.getBoundingClientRect();
  if (width <= 0 && height <= 0) return "it is not shown";
  const x = left + width / 2, y = top + height / 2, hit = document.elementFromPoint(x, y);
  if (!hit) return `its middle (${x}, ${y}) is out of view`;
  if (element.contains(hit) || hit.closest("label")?.control === element) return {x, y};
  return `${hit.outerHTML.slice(0, 100)} lies over it`;
}

module.exports = {Page};
