// Remember the GraphQL requests that a server receives, for tests that count them.
"use strict";

// Wrap a request handler: GET /requests returns the bodies of the POST requests so far as a JSON
// list of texts, and forgets them.
exports.recordRequests = (handle) => {
  let bodies = [];
  return (request, response) => {
    if (request.url === "/requests") {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(bodies));
      bodies = [];
      return;
    }
    if (request.method === "POST") {
      // Node's HTTP parser hands over the body with push(): copying it there takes nothing away
      // from the handler's own reading, which a listener for "data" would.
      const chunks = [];
      const push = request.push;
      request.push = (chunk, encoding) => {
        if (chunk === null) bodies.push(Buffer.concat(chunks).toString("utf8"));
        else chunks.push(Buffer.from(chunk));
        return push.call(request, chunk, encoding);
      };
    }
    handle(request, response);
  };
};
