#!/usr/bin/env bash
# Vendure: a product has the first 100 of its variants, and nothing says that there are more.
#
# Guessed before: `variants` takes no arguments, so it has all of them, as the limit of 100 is that
# of lists with `take` and `skip`, which refuse a larger size and count their rows.
# What happens: of 130 variants the first 100 come, in one product and in a list of products. Nothing
# stands beside them; `variantList` counts 130.
# Versions: @vendure/core 3.7.3, sql.js 1.17.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
  @vendure/core@3.7.3 sql.js@1.17.0 >/dev/null
cat >main.cjs <<'JS'
const { DefaultLogger, LogLevel, bootstrap } = require('@vendure/core');

const login = { identifier: 'admin', password: 'admin' };
const texts = (name) => [{ languageCode: 'en', name, slug: name, description: '' }];
const names = (name) => [{ languageCode: 'en', name }];
let token = '';

async function main() {
  const app = await bootstrap({
    apiOptions: { hostname: '127.0.0.1', port: 0, adminApiPath: 'admin', shopApiPath: 'shop' },
    authOptions: { tokenMethod: ['bearer'], superadminCredentials: login },
    dbConnectionOptions: { type: 'sqljs', synchronize: true },
    paymentOptions: { paymentMethodHandlers: [] },
    logger: new DefaultLogger({ level: LogLevel.Error }),
  });
  const url = `http://127.0.0.1:${app.getHttpServer().address().port}`;
  const ask = async (query, variables = {}, api = 'admin') => {
    const answer = await fetch(`${url}/${api}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    token = answer.headers.get('vendure-auth-token') || token;
    return (await answer.json()).data;
  };
  const make = async (field, kind, input, selected = 'id') => {
    const query = `mutation ($input: ${kind}!) { made: ${field}(input: $input) { ${selected} } }`;
    return (await ask(query, { input })).made;
  };
  await ask('mutation { login(username: "admin", password: "admin") { __typename } }');
  const zone = await make('createZone', 'CreateZoneInput', { name: 'all' });
  const tax = await make('createTaxCategory', 'CreateTaxCategoryInput', { name: 'usual' });
  const rate = { name: 'r', enabled: true, value: 20, categoryId: tax.id, zoneId: zone.id };
  await make('createTaxRate', 'CreateTaxRateInput', rate);
  const channel = (await ask('{ activeChannel { id } }')).activeChannel.id;
  const zones = { id: channel, defaultTaxZoneId: zone.id, defaultShippingZoneId: zone.id };
  await make('updateChannel', 'UpdateChannelInput', zones, '__typename');

  const product = await make('createProduct', 'CreateProductInput', { translations: texts('p') });
  const options = Array.from({ length: 130 }, (_, n) => ({
    code: `o${n}`,
    translations: names(`o${n}`),
  }));
  const group = { code: 'g', translations: names('g'), options };
  const made = await make('createProductOptionGroup', 'CreateProductOptionGroupInput', group,
    'id options { id }');
  await ask(`mutation { addOptionGroupToProduct(productId: ${product.id},
    optionGroupId: ${made.id}) { id } }`);
  const variants = made.options.map((option, n) => ({
    productId: product.id,
    sku: `s${n}`,
    price: n,
    optionIds: [option.id],
    translations: names(`v${n}`),
  }));
  await make('createProductVariants', '[CreateProductVariantInput!]', variants);

  const query = `{ product(id: ${product.id}) { variants { id } variantList { totalItems } }
    products { items { variants { id } } } }`;
  const found = await ask(query, {}, 'shop');
  const alone = found.product.variants.length;
  const listed = found.products.items[0].variants.length;
  console.log(`${alone} and ${listed} of ${found.product.variantList.totalItems}`);
  process.exit(0);
}
main();
JS
found=$(node main.cjs 2>/dev/null | tail -n 1)
echo "$found"
[ "$found" = "100 and 100 of 130" ]
