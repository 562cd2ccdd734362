#!/usr/bin/env bash
# GraphQL Mesh's SOAP source: texts that look like numbers are rewritten, and an empty list holds a null.
#
# Guessed before: an `xsd:string` arrives in its field of type String as the service wrote it, and a
# list of which the answer holds no element is `[]`.
# What happens: the XML is parsed without the types of the WSDL, so that what looks like a number is
# one before it is a String again: the postcode 02134 is "2134", the version 1.10 is "1.1", the code
# 12E4 "120000", 0x1F "31", and +15551234567 has no plus. No error says so. A list
# without an element, at any depth, is `[null]`: no tag is one tag, and no customer is one row of null.
# Versions: @graphql-mesh/transport-soap 0.13.1 with @omnigraph/soap 0.96.0, and that alone,
# graphql 16.11.0, Node 20.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error --legacy-peer-deps \
  @omnigraph/soap@0.96.0 @graphql-mesh/transport-soap@0.13.1 @graphql-mesh/utils@0.96.0 \
  @graphql-mesh/types@0.96.0 @graphql-mesh/cross-helpers@0.4.1 graphql@16.11.0 >/dev/null
cat >shop.wsdl <<'XML'
<definitions name="Shop" targetNamespace="http://example.com/shop"
    xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:tns="http://example.com/shop"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <types>
    <xsd:schema targetNamespace="http://example.com/shop" xmlns:tns="http://example.com/shop"
        xmlns:xsd="http://www.w3.org/2001/XMLSchema">
      <xsd:element name="ListCustomers"><xsd:complexType><xsd:sequence>
        <xsd:element name="city" type="xsd:string" minOccurs="0"/>
      </xsd:sequence></xsd:complexType></xsd:element>
      <xsd:element name="ListCustomersResponse"><xsd:complexType><xsd:sequence>
        <xsd:element name="customer" type="tns:Customer" minOccurs="0" maxOccurs="unbounded"/>
      </xsd:sequence></xsd:complexType></xsd:element>
      <xsd:complexType name="Customer"><xsd:sequence>
        <xsd:element name="code" type="xsd:string" minOccurs="1"/>
        <xsd:element name="tag" type="xsd:string" minOccurs="0" maxOccurs="unbounded"/>
      </xsd:sequence></xsd:complexType>
    </xsd:schema>
  </types>
  <message name="In"><part name="parameters" element="tns:ListCustomers"/></message>
  <message name="Out"><part name="parameters" element="tns:ListCustomersResponse"/></message>
  <portType name="ShopPort"><operation name="ListCustomers">
    <input message="tns:In"/><output message="tns:Out"/>
  </operation></portType>
  <binding name="ShopBinding" type="tns:ShopPort">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="ListCustomers"><soap:operation soapAction=""/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output>
    </operation>
  </binding>
  <service name="Shop"><port name="ShopPort" binding="tns:ShopBinding">
    <soap:address location="http://127.0.0.1/shop"/>
  </port></service>
</definitions>
XML
cat >main.cjs <<'JS'
const { readFileSync } = require('node:fs');
const { parse } = require('graphql');
const transport = require('@graphql-mesh/transport-soap');
const soap = require('@omnigraph/soap');

const codes = ['MA', '02134', '1.10', '12E4', '0x1F', '+15551234567'];
let customers = codes.map((code) => `<customer><code>${code}</code></customer>`).join('');
const fetch = async () => {
  const body = `<ListCustomersResponse xmlns="http://example.com/shop">${customers}</ListCustomersResponse>`;
  const envelope = 'xmlns:soap="http://www.w3.org/2003/05/soap-envelope"';
  return new Response(`<soap:Envelope ${envelope}><soap:Body>${body}</soap:Body></soap:Envelope>`);
};
const expected = ['MA', '2134', '1.1', '120000', '31', '15551234567'];
const main = async () => {
  const loader = new soap.SOAPLoader({ subgraphName: 'Shop', fetch });
  await loader.loadWSDL(readFileSync('shop.wsdl', 'utf8'));
  const schema = loader.buildSchema();
  const [field] = Object.keys(schema.getQueryType().getFields());
  const document = parse(`{ rows: ${field} { customer { code tag } } }`);
  const given = customers;
  let agrees = true;
  for (const { createExecutorFromSchemaAST } of [soap, transport]) {
    const execute = createExecutorFromSchemaAST(schema, fetch);
    const ask = async () => {
      const { data, errors } = await execute({ document });
      return errors ? String(errors) : data.rows.customer;
    };
    customers = given;
    const rows = await ask();
    customers = '';
    const none = await ask();
    console.log(JSON.stringify(rows), JSON.stringify(none));
    agrees &&= JSON.stringify(none) === '[null]';
    agrees &&= JSON.stringify(rows) === JSON.stringify(expected.map((code) => ({ code, tag: [null] })));
  }
  process.exit(agrees ? 0 : 1);
};
main();
JS
node main.cjs 2>/dev/null
