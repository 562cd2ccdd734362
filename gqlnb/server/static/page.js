"use strict";

// Sends what is typed to the page's own address and shows the answer as text, never as markup.

const byId = (id) => document.getElementById(id);

/** Return the body of a request, or throw a SyntaxError if the variables are not JSON. */
function body(query, variables) {
  const text = variables.trim() || "null";
  JSON.parse(text);
  // The text itself is sent: a number of 20 digits would not survive the way through JavaScript.
  return `{"query":${JSON.stringify(query)},"variables":${text}}`;
}

async function run() {
  const [button, status, answer] = ["run", "status", "answer"].map(byId);
  if (button.disabled) return;
  let sent;
  try {
    sent = body(byId("query").value, byId("variables").value);
  } catch (error) {
    status.textContent = `The variables are not JSON: ${error.message}`;
    return;
  }
  button.disabled = true;
  status.textContent = "…";
  try {
    const response = await fetch(location.pathname, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: sent,
    });
    const text = await response.text();
    answer.textContent = pretty(text);
    status.textContent = `HTTP ${response.status}`;
  } catch {
    status.textContent = "The server does not answer. Is it still running?";
  } finally {
    button.disabled = false;
  }
}

/** Return JSON text indented, its numbers untouched, and any other text as it is. */
function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  return text.replace(/"(?:\\.|[^"\\])*"|\{\}|\[\]|[{}[\],:]/g, (part) => {
    if (part === "{" || part === "[") {
      depth += 1;
      return part + line();
    }
    if (part === "}" || part === "]") {
      depth -= 1;
      return line() + part;
    }
    return part === "," ? part + line() : part === ":" ? ": " : part;
  });
}

byId("run").addEventListener("click", run);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});
