// Runs a Python program in Pyodide: node run.mjs PYODIDE SITE CHECKOUT PROGRAM. Prints its output.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, site, checkout, program] = process.argv.slice(2);
const ASK = `
  const [url, headers, body] = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const given = { method: "POST", headers, body: Buffer.from(body, "base64") };
  fetch(url, given).then(async (answer) => {
    const head = [...answer.headers].map((line) => line.join(": ")).join("\\r\\n");
    const content = Buffer.from(await answer.arrayBuffer()).toString("base64");
    console.log(JSON.stringify([answer.status, head, content]));
  });`;

/** What a browser has and Node lacks, as far as the package uses it. */
class Exchange {
  headers = {};
  open(method, url, waits) {
    if (method !== "POST" || waits !== false) throw new Error("not as the package asks");
    this.url = url;
  }
  setRequestHeader(name, value) {
    this.headers[name] = value;
  }
  overrideMimeType(type) {
    this.binary = type.endsWith("charset=x-user-defined");
  }
  send(bytes) {
    const input = JSON.stringify([this.url, this.headers, Buffer.from(bytes).toString("base64")]);
    const options = { input, stdio: ["pipe", "pipe", "ignore"] };
    const [status, head, content] = JSON.parse(execFileSync(process.execPath, ["-e", ASK], options));
    Object.assign(this, { status, head });
    // A browser maps the upper half of the bytes to characters from U+F780.
    const read = (byte) => String.fromCharCode(byte < 128 ? byte : 0xf700 + byte);
    this.responseText = this.binary ? Array.from(Buffer.from(content, "base64"), read).join("") : "";
  }
  getAllResponseHeaders() {
    return this.head;
  }
}

const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
try {
  const python = await loadPyodide();
  globalThis.XMLHttpRequest = Exchange; // earlier, Pyodide would take Node for a browser
  python.mountNodeFS("/site", site);
  python.mountNodeFS("/checkout", checkout);
  python.runPython('import sys; sys.path[:0] = ["/checkout", "/site"]; sys.dont_write_bytecode = True');
  await python.runPythonAsync(readFileSync(program, "utf8"));
} catch (error) {
  console.error(String(error)); // Node would print the line of the compiled code, which is long
  process.exitCode = 1;
}
