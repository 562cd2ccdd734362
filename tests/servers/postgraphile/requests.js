// Remember the GraphQL requests that a server receives, for tests that count them.
"use strict";

// Wrap a request handler. GET /requests returns the POST requests that were answered so far, as a
// JSON list of {"body": text, "status": number}, and forgets them.
exports.recordRequests = (handle) => {
  let answered = [];
  return (request, response) => {
    if (request.url === "/requests") {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(answered));
      answered = [];
      return;
    }
    if (request.method === "POST") {
      // Node's HTTP parser hands over the body with push(): copying it there takes nothing away
      // from the handler's own reading, which a listener for "data" would.
      const chunks = [];
      const push = request.push;
      request.push = (chunk, encoding) => {
        if (chunk !== null) chunks.push(Buffer.from(chunk));
        return push.call(request, chunk, encoding);
      };
      // Recorded before the last byte leaves, so that a client which has the answer is counted.
      const end = response.end;
      response.end = (...parts) => {
        answered.push({
          body: Buffer.concat(chunks).toString("utf8"),
          status: response.statusCode,
        });
        return end.apply(response, parts);
      };
    }
    handle(request, response);
  };
};
