#!/usr/bin/env bash
# GraphQL Mesh's OData source: of a collection that the service gives in pages, only the first page comes.
#
# Guessed before: seven authors, of which an OData service gives three at a time, each page with the
# link to the next one, are a list of seven, as the list has no other sign of its end.
# What happens: `@odata.nextLink` is not read. The list has three rows, with `top: 5` too, and so has
# each list in a row, without an error or a field that says so; `count: true` asks the service for the
# count, which is left out as well. A decimal is a Float, so that an amount which the service sends as
# text to keep it exact is rounded, and a time loses its microseconds.
# Versions: @graphql-mesh/odata 0.22.18, @graphql-mesh/store 0.9.17, @graphql-mesh/utils 0.43.17,
# graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @graphql-mesh/odata@0.22.18 @graphql-mesh/store@0.9.17 @graphql-mesh/utils@0.43.17 \
  @graphql-mesh/types@0.91.9 @graphql-mesh/cross-helpers@0.3.3 graphql@16.11.0 >/dev/null
cat >metadata.xml <<'XML'
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Author">
      <Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Earned" Type="Edm.Decimal" Precision="20" Scale="4"/>
      <Property Name="Since" Type="Edm.DateTimeOffset" Precision="6"/>
      <NavigationProperty Name="Books" Type="Collection(Shop.Book)"/>
    </EntityType>
    <EntityType Name="Book">
      <Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    </EntityType>
    <EntityContainer Name="Container">
      <EntitySet Name="Authors" EntityType="Shop.Author">
        <NavigationPropertyBinding Path="Books" Target="Books"/>
      </EntitySet>
      <EntitySet Name="Books" EntityType="Shop.Book"/>
    </EntityContainer>
  </Schema>
</edmx:DataServices></edmx:Edmx>
XML
cat >main.cjs <<'JS'
const { readFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { default: ODataHandler } = require('@graphql-mesh/odata');
const { InMemoryStoreStorageAdapter, MeshStore } = require('@graphql-mesh/store');
const { DefaultLogger, PubSub } = require('@graphql-mesh/utils');
const { parse } = require('graphql');

const rows = Array.from({ length: 7 }, (_, index) => ({
  ID: index + 1,
  Earned: '1234567890123456.7891',
  Since: '2026-01-02T03:04:05.123456Z',
}));
const answer = (path, query) => {
  const skip = Number(query.get('$skiptoken') ?? query.get('$skip') ?? 0);
  const most = Math.min(3, Number(query.get('$top') ?? 3));
  const page = { value: rows.slice(skip, skip + most) };
  if (query.get('$count') === 'true') page['@odata.count'] = rows.length;
  const next = `${path}?$skiptoken=${skip + most}`;
  return skip + most < rows.length ? { ...page, '@odata.nextLink': next } : page;
};
const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  const isMetadata = url.pathname === '/$metadata';
  response.setHeader('content-type', isMetadata ? 'application/xml' : 'application/json');
  const page = () => JSON.stringify(answer(url.pathname, url.searchParams));
  response.end(isMetadata ? readFileSync('metadata.xml') : page());
});
server.listen(0, '127.0.0.1', async () => {
  const storage = new InMemoryStoreStorageAdapter();
  const handler = new ODataHandler({
    name: 'Shop',
    config: { endpoint: `http://127.0.0.1:${server.address().port}/` },
    baseDir: __dirname,
    importFn: async (name) => require(name),
    logger: new DefaultLogger('shop'),
    store: new MeshStore('.mesh', storage, { readonly: false, validate: false }),
    pubsub: new PubSub(),
  });
  const { executor } = await handler.getMeshSource({ fetchFn: fetch });
  const ask = async (text) => {
    const found = await executor({ document: parse(text), context: {} });
    console.log(text, JSON.stringify(found));
    return found.errors ? [] : found.data.Authors;
  };
  const three = '[1,2,3]';
  const read = (list) => JSON.stringify(list.map((row) => row.ID));
  const agrees = [
    read(await ask('{ Authors { ID } }')) === three,
    read(await ask('{ Authors(queryOptions: { top: 5, count: true }) { ID } }')) === three,
    (await ask('{ Authors { Books { ID } } }')).every((row) => read(row.Books) === three),
  ];
  const [first] = await ask('{ Authors(queryOptions: { top: 1 }) { Earned Since } }');
  agrees.push(first.Earned === 1234567890123456.8);
  agrees.push(new Date(first.Since).toISOString() === '2026-01-02T03:04:05.123Z');
  server.close();
  process.exit(agrees.every(Boolean) ? 0 : 1);
});
JS
node main.cjs 2>/dev/null
