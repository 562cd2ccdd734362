// Servers of JavaScript that make their schema, or their connections, by themselves.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:http";

const { name, packages, data, database } = JSON.parse(process.argv[2]);
const load = createRequire(`${packages}/index.js`); // a module, also one of the newer form
const rows = JSON.parse(readFileSync(data));

function listen(handler) {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on port ${server.address().port}\n`));
  process.stdin.resume().on("end", () => process.exit());
}

const starts = {
  async "json-graphql-server"() {
    const app = load("express")();
    const parts = rows.flatMap((row) => row.parts.map((part) => ({ ...part, row_id: row.id })));
    const plain = rows.map((row) => ({ ...row, parts: undefined, extra: row.extra ?? {} }));
    const tables = { rows: JSON.parse(JSON.stringify(plain)), parts, numbers: [{ id: 1, nan: NaN }] };
    app.use("/graphql", load("json-graphql-server/node").default(tables));
    listen(app);
  },
  async "pothos"() {
    const SchemaBuilder = load("@pothos/core").default;
    const { default: RelayPlugin, resolveArrayConnection, resolveOffsetConnection } = load("@pothos/plugin-relay");
    const builder = new SchemaBuilder({ plugins: [RelayPlugin], relay: {} });
    const part = builder.objectRef("Part").implement({ fields: (t) => ({ id: t.exposeID("id"), label: t.exposeString("label") }) });
    const row = builder.objectRef("Row").implement({
      fields: (t) => ({
        id: t.exposeID("id"), name: t.exposeString("name"), ratio: t.exposeFloat("ratio", { nullable: true }),
        parts: t.connection({ type: part, resolve: ({ parts }, args) => resolveArrayConnection({ args }, parts) }),
      }),
    });
    const slice = ({ limit, offset }) => rows.slice(offset, offset + limit);
    builder.queryType({
      fields: (t) => ({
        rows: t.connection({ type: row, resolve: (_, args) => resolveOffsetConnection({ args }, slice) }),
        nan: t.float({ nullable: true, resolve: () => NaN }),
        whole: t.connection({ type: row, resolve: (_, args) => resolveArrayConnection({ args }, rows) }),
      }),
    });
    listen(load("graphql-yoga").createYoga({ schema: builder.toSchema(), logging: false }));
  },
  async "postgraphile-v4"() {
    const { postgraphile } = load("postgraphile");
    listen(postgraphile(database, "public", { simpleCollections: "both", dynamicJson: true, disableQueryLog: true }));
  },
  async "postgraphile-v5"() {
    const { makePgService } = load("postgraphile/adaptors/pg");
    const { grafserv } = load("postgraphile/grafserv/node");
    const { PostGraphileAmberPreset } = load("postgraphile/presets/amber");
    const pgServices = [makePgService({ connectionString: database, schemas: ["public"] })];
    const preset = { extends: [PostGraphileAmberPreset], pgServices, grafserv: { graphqlPath: "/graphql", watch: false } };
    const server = createServer();
    await load("postgraphile").postgraphile(preset).createServ(grafserv).addTo(server);
    const [handle] = server.listeners("request");
    server.removeAllListeners("request");
    listen(handle);
  },
  async "drizzle"() {
    const { PGlite } = load("@electric-sql/pglite");
    const { drizzle } = load("drizzle-orm/pglite");
    const { relations } = load("drizzle-orm");
    const pg = load("drizzle-orm/pg-core");
    const { buildSchema } = load("drizzle-graphql");
    const row = pg.pgTable("rows", {
      id: pg.integer().primaryKey(), name: pg.text(), day: pg.date(), local: pg.timestamp(),
      moment: pg.timestamp({ withTimezone: true }), price: pg.numeric(), big: pg.bigint({ mode: "bigint" }),
      ratio: pg.doublePrecision(), extra: pg.jsonb(),
    });
    const number = pg.pgTable("numbers", { id: pg.integer().primaryKey(), nan: pg.doublePrecision() });
    const part = pg.pgTable("parts", { id: pg.integer().primaryKey(), label: pg.text(), rowId: pg.integer("row_id") });
    const schema = {
      rows: row, parts: part, numbers: number,
      rowRelations: relations(row, ({ many }) => ({ parts: many(part) })),
      partRelations: relations(part, ({ one }) => ({ row: one(row, { fields: [part.rowId], references: [row.id] }) })),
    };
    const client = new PGlite();
    await client.exec(`create table rows (id int primary key, name text, day date, local timestamp, moment timestamptz,
      price numeric, big bigint, ratio float8, extra jsonb); create table parts (id int primary key, label text, row_id int);
      create table numbers (id int primary key, nan float8); insert into numbers values (1, 'NaN')`);
    await client.query("insert into rows select * from json_populate_recordset(null::rows, $1::json)", [JSON.stringify(rows)]);
    const parts = rows.flatMap(({ id, parts }) => parts.map((each) => ({ ...each, row_id: id })));
    await client.query("insert into parts select * from json_populate_recordset(null::parts, $1::json)", [JSON.stringify(parts)]);
    const { schema: made } = buildSchema(drizzle(client, { schema }));
    listen(load("graphql-yoga").createYoga({ schema: made, logging: false }));
  },
};
await starts[name]();
