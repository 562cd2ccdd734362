#!/usr/bin/env bash
# graphql-query-rewriter: rewritten answers lose the rows of a matrix, and keep new objects at aliases.
#
# One would expect: where `title` has become an object, old queries are rewritten to `title { text }`,
# and in their answers each title is a text again, also at an alias and in each place where a fragment
# is used; the rest of an answer stays as it is.
# What happens: a list of lists comes as one list: of two rows of a board with two cells each there are
# four cells, without a hint which row they are of, and their titles are objects. A title stays an
# object at an alias, too, and where a fragment is used for the second time.
# Versions: graphql-query-rewriter 1.4.0, graphql 14.7.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error graphql-query-rewriter@1.4.0 graphql@14.7.0 >/dev/null
cat >main.cjs <<'JS'
const { buildSchema, graphql } = require('graphql');
const { RewriteHandler, ScalarFieldToObjectFieldRewriter } = require('graphql-query-rewriter');

const schema = buildSchema(`
  type Title { text: String }
  type Cell { title: Title }
  type Query { board: [[Cell!]!]! cells: [Cell!]! }
`);
const cells = ['a', 'b', 'c', 'd'].map((text) => ({ title: { text } }));
const rootValue = { cells: cells.slice(0, 2), board: [cells.slice(0, 2), cells.slice(2)] };
const ask = async (text) => {
  const handler = new RewriteHandler([
    new ScalarFieldToObjectFieldRewriter({ fieldName: 'title', objectFieldName: 'text' }),
  ]);
  const { query } = handler.rewriteRequest(text, {});
  const { data } = await graphql(schema, query, rootValue);
  const answer = JSON.stringify(handler.rewriteResponse(JSON.parse(JSON.stringify(data))));
  console.log(text, answer);
  return answer;
};
(async () => {
  const found = [
    await ask('{ cells { title } }'),
    await ask('{ board { title } }'),
    await ask('{ cells { name: title } }'),
    await ask('{ cells { ...F } others: cells { ...F } } fragment F on Cell { title }'),
  ];
  const [texts, objects] = [
    '[{"title":"a"},{"title":"b"}]',
    '[{"title":{"text":"a"}},{"title":{"text":"b"}}]',
  ];
  const expected = [
    `{"cells":${texts}}`,
    '{"board":[' + cells.map((cell) => JSON.stringify(cell)).join() + ']}',
    `{"cells":${objects.replaceAll('title', 'name')}}`,
    `{"cells":${texts},"others":${objects}}`,
  ];
  process.exit(found.join() === expected.join() ? 0 : 1);
})();
JS
node main.cjs
