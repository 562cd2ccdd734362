#!/usr/bin/env bash
# graphql-type-decimal: each amount is rounded to two digits, not to two decimal places.
#
# One would expect: its scalar Decimal, which is "to represent currency values", answers 1234.56 as
# "1234.56", or at most rounded to cents.
# What happens: every value has two significant digits: 1234.56 is "1.2e+3", 12.99 is "13" and 104.5
# "1.0e+2", without an error. A sum of such a column is wrong by up to 5 % of each value. What is no
# number is "NaN".
# Versions: graphql-type-decimal 1.0.0, bignumber.js 9.3.1, graphql 14.7.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  graphql-type-decimal@1.0.0 bignumber.js@9.3.1 graphql@14.7.0 >/dev/null
cat >main.cjs <<'JS'
const { GraphQLList, GraphQLObjectType, GraphQLSchema, graphql } = require('graphql');
const Decimal = require('graphql-type-decimal');

const amounts = ['1234.56', '12.99', '104.5', '0.05', '7', 'none'];
const fields = { amounts: { type: new GraphQLList(Decimal), resolve: () => amounts } };
const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
graphql(schema, '{ amounts }').then(({ data, errors }) => {
  console.log(amounts, 'are answered as', errors ?? data.amounts);
  process.exit(data.amounts.join() === '1.2e+3,13,1.0e+2,0.050,7.0,NaN' ? 0 : 1);
});
JS
node main.cjs
