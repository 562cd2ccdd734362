#!/usr/bin/env bash
# Amplify's AppSync simulator: one number above 2**53 in a page makes the list null, without error.
#
# One would expect: the number itself, or rounded, or an error; and in any case the other rows.
# What happens: the AWS SDK reads a DynamoDB number above 2**53 as a BigInt, which the mapping
# template cannot write as JSON. The simulator swallows that: `{"data": {"listRows": null}}`, status
# 200 and no `errors`, although neither the query nor the template names the attribute with the
# number. A client cannot tell it from a list that is not there.
# Versions: @aws-amplify/amplify-appsync-simulator 2.16.20, @aws-sdk/client-dynamodb 3.908.0,
# dynalite 4.0.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @aws-amplify/amplify-appsync-simulator@2.16.20 @aws-sdk/client-dynamodb@3.908.0 \
  dynalite@4.0.0 >/dev/null
cat >main.cjs <<'JS'
const { AmplifyAppSyncSimulator } = require('@aws-amplify/amplify-appsync-simulator');
const {
  CreateTableCommand, DynamoDBClient, PutItemCommand,
} = require('@aws-sdk/client-dynamodb');
const dynalite = require('dynalite');

const content = `
schema { query: Query }
type Row { id: ID! }
type Rows { items: [Row]! nextToken: String }
type Query { listRows: Rows }
`;
const main = async () => {
  const store = dynalite({ createTableMs: 0 });
  await new Promise((resolve) => store.listen(0, '127.0.0.1', resolve));
  const common = {
    endpoint: `http://127.0.0.1:${store.address().port}`,
    region: 'us-fake-1',
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
  };
  const client = new DynamoDBClient(common);
  await client.send(new CreateTableCommand({
    TableName: 'rows',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  }));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const put = (id, number) => client.send(new PutItemCommand({
    TableName: 'rows',
    Item: { id: { S: id }, other: { N: number } },
  }));
  for (let id = 1; id <= 9; id += 1) await put(`${id}`, '9007199254740991');
  const simulator = new AmplifyAppSyncSimulator({ port: 0, wsPort: 0 });
  simulator.init({
    schema: { content },
    appSync: {
      name: 'rows',
      apiKey: 'da2-none',
      defaultAuthenticationType: { authenticationType: 'API_KEY' },
      additionalAuthenticationProviders: [],
    },
    mappingTemplates: [
      { path: 'scan', content: '{ "version": "2018-05-29", "operation": "Scan", "limit": 100 }' },
      { path: 'answer', content: '$util.toJson($ctx.result)' },
    ],
    dataSources: [
      { type: 'AMAZON_DYNAMODB', name: 'rows', config: { tableName: 'rows', ...common } },
    ],
    resolvers: [{
      kind: 'UNIT',
      typeName: 'Query',
      fieldName: 'listRows',
      dataSourceName: 'rows',
      requestMappingTemplateLocation: 'scan',
      responseMappingTemplateLocation: 'answer',
    }],
  });
  await simulator.start();
  const ask = async () => {
    const answer = await fetch(`${simulator.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'da2-none' },
      body: JSON.stringify({ query: '{ listRows { items { id } } }' }),
    });
    const { data, errors } = await answer.json();
    return [answer.status, data.listRows?.items.length ?? 'null', errors ?? 'no errors'].join(' ');
  };
  const found = [await ask()];
  await put('10', '9007199254740993');
  found.push(await ask());
  console.log(found.map((line) => `found: ${line}`).join('\n'));
  process.exit(found.join() === '200 9 no errors,200 null no errors' ? 0 : 1);
};
main();
JS
node main.cjs 2>/dev/null | grep '^found'
