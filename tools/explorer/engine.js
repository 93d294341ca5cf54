// The engine of a live page: the library as WebAssembly, in a worker. The page asks it and goes on;
// the answers come later. What the files "engine-script" and "engine-code" hold is put into the page
// by `make explorer`, compressed and in base64.

class EngineError extends Error {}
class EngineStopped extends EngineError {}  // it died: what was asked was not answered

const hasEngine = () => document.getElementById("engine-code") !== null;

// Why this browser cannot run it, or "".
function engineObstacle() {
  if (typeof WebAssembly !== "object") return "this browser runs no WebAssembly";
  if (typeof DecompressionStream !== "function") return "this browser is too old to unpack it";
  // The smallest module with an instruction on vectors (i8x16.splat).
  const simd = [
    0, 97, 115, 109, 1,  0, 0, 0, 1,  5, 1,   96, 0,   1,  123, 3,
    2, 1,  0,   10,  10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
  ];
  if (!WebAssembly.validate(new Uint8Array(simd))) {
    return "this browser's WebAssembly has no SIMD instructions";
  }
  return "";
}

async function unpacked(id) {
  const packed = new Blob([decoded(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(packed).arrayBuffer();
}

class Engine {
  #worker = null;
  #waiting = new Map();  // by number: {resolve, reject}
  #next = 0;
  #parts = null;        // script and code, unpacked once
  #opened = new Map();  // requests that opened models, to be made again after a restart
  #isReopening = false;
  onrestart = () => {};  // (why it stopped, why it cannot start, models lost: [{model, why}])

  // Starts the worker; resolves to what the engine says about itself (about).
  async start() {
    this.#parts ??= Promise.all([unpacked("engine-script"), unpacked("engine-code")]);
    const [script, code] = await this.#parts;
    const address = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    const about = await new Promise((resolve, reject) => {
      worker.onmessage = ({data}) =>
        data.ready ? resolve(data.ready) : reject(new EngineError(data.fatal ?? "it is silent"));
      worker.onerror = (event) => reject(new EngineError(event.message || "it did not start"));
      worker.postMessage({code: code.slice(0)});
    });
    this.#worker = worker;  // from now on it can be asked
    this.#worker.onmessage = ({data}) => this.#receive(data);
    this.#worker.onerror = (event) => this.#died(event.message || "without a word");
    return about;
  }

  // The answer to a request, with its `blocks` and the `bytes` of the file that the answer's field
  // `read` names. Rejects with EngineError if the engine refuses or dies.
  call(request, {files = [], read = null} = {}) {
    return new Promise((resolve, reject) => {
      if (!this.#worker) return reject(new EngineStopped("the engine does not run"));
      const id = this.#next++;
      this.#waiting.set(id, {resolve, reject});
      this.#worker.postMessage({id, request, files, read});
    });
  }

  // Opens a model, now and after each restart.
  async open(request, files) {
    const answer = await this.call(request, {files});
    this.remember(request, files);
    return answer;
  }

  // Makes this request after each restart, in place of an earlier one for its model.
  remember(request, files) {
    this.#opened.set(request.model, {request, files});
  }

  #receive(data) {
    if (data.fatal) return this.#died(data.fatal);
    const waiting = this.#waiting.get(data.id);
    this.#waiting.delete(data.id);
    if (data.answer.error) return waiting?.reject(new EngineError(data.answer.error));
    waiting?.resolve({...data.answer, blocks: data.blocks, bytes: data.bytes});
  }

  // All that wait are told; a new worker opens the same models, one by one.
  async #died(why) {
    this.#worker?.terminate();
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.reject(new EngineStopped(`the engine stopped: ${why}`));
    if (this.#isReopening) return;  // #reopen hears of it by the call that failed
    this.#isReopening = true;
    let error = null, lost = [];
    try {
      lost = await this.#reopen();
    } catch (caught) {
      error = caught;
    }
    this.#isReopening = false;
    this.onrestart(why, error, lost);
  }

  // Starts a new worker and opens the models in it. Those that it cannot open are forgotten, and
  // returned: [{model, why}].
  async #reopen() {
    const lost = [];
    await this.start();
    for (const [model, {request, files}] of [...this.#opened]) {
      try {
        await this.call(request, {files});
      } catch (error) {
        this.#opened.delete(model);
        lost.push({model, why: error.message});
        if (!this.#worker) return [...lost, ...await this.#reopen()];
      }
    }
    return lost;
  }

  // For tests: ends the worker as a fault would.
  kill(why = "killed") {
    return this.#died(why);
  }
}
