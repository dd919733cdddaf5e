import assert from 'node:assert/strict';
import { test } from 'node:test';
import swagger from '@fastify/swagger';
import fastify from 'fastify';
import { Type } from 'typebox';
import { groupEndpoints } from './endpoints.ts';
import type { OpenApiDocument, Schema } from './openapi-document.ts';
import { renderReference } from './render-reference.ts';
import { sampleDocument } from './sample-document.fixture.ts';

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;
/** All the page is made of: nothing here embeds or submits, and its one script is a file of ours. */
const TAGS = new Set([
  ...[
    'script',
    'img',
    'html',
    'head',
    'meta',
    'title',
    'link',
    'body',
    'header',
    'nav',
    'main',
    'section',
    'article',
    'div',
    'span',
  ],
  ...['a', 'p', 'ul', 'li', 'dl', 'dt', 'dd', 'h1', 'h2', 'h3', 'h4', 'code', 'pre', 'i', 'var', 'strong'],
  ...['details', 'summary', 'figure', 'figcaption'],
]);
const ATTRIBUTES = new Set([
  ...['lang', 'charset', 'name', 'content', 'rel', 'href', 'id', 'class', 'tabindex', 'open'],
  ...['type', 'src', 'alt', 'width', 'height', 'as', 'crossorigin'],
  ...['aria-label', 'aria-labelledby'],
]);

const ASSETS = { styles: ['/assets/r.css'], scripts: ['/assets/r.js'], preloads: [], font: '/assets/f.woff2' };

test('hostile text in every field of the document stays text', () => {
  for (const withTypes of [false, true]) {
    const page = renderReference(poisoned(sampleDocument, withTypes));
    assertOnlyOwnMarkup(page);
    const hits = page.split('&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x').length - 1;
    assert.ok(hits > 300, `the poison reached the page ${hits} times`);
  }
  const links = (page: string) => hrefs(page).filter((href) => href.startsWith('#schema-')).length;
  assert.equal(links(renderReference(poisoned(sampleDocument, false))), links(renderReference(sampleDocument)));
});

test('the page fetches the files it is given and nothing else, and links within itself and to our own pages', () => {
  const page = renderReference(sampleDocument, ASSETS);
  assertOnlyOwnMarkup(page);
  assert.deepEqual(page.match(/<(?:link|script)[^>]*>/g), [
    '<link rel="icon" href="/icons/till.svg" type="image/svg+xml">',
    '<link rel="stylesheet" href="/assets/r.css">',
    '<link rel="preload" href="/assets/f.woff2" as="font" type="font/woff2" crossorigin>',
    '<script type="module" src="/assets/r.js">',
  ]);
  const elsewhere = hrefs(page).filter((href) => !href.startsWith('#') && !href.startsWith('/assets/'));
  assert.deepEqual([...new Set(elsewhere)].sort(), ['/', '/icons/till.svg', '/openapi.json']);
});

test('every operation has an anchor and is in the navigation', () => {
  const page = renderReference(sampleDocument);
  const navigation = page.slice(page.indexOf('<nav'), page.indexOf('</nav>'));
  const operations = [
    ['get-v1-merchants', 'List merchants'],
    ['post-v1-merchants', 'Create a merchant'],
    ['post-v1-payments', 'Create a payment'],
    ['get-v1-gateway-payment-id-status', 'Get the status of a payment'],
  ];
  for (const [anchor, title] of operations) {
    assert.match(page, new RegExp(`<article class="operation" id="${anchor}"`));
    assert.match(navigation, new RegExp(`<a href="#${anchor}"[^>]*><span class="name">${title}`));
  }
  assert.equal(page.match(/<article class="operation"/g)?.length, operations.length);
});

test('every link leads to exactly one place on the page, even when names read alike', () => {
  const schemas = { 'a b': {}, 'a-b': {}, 'A B': { $ref: '#/components/schemas/a-b' }, é: {} };
  const alike: OpenApiDocument = {
    info: sampleDocument.info,
    paths: {
      '/x/{id}': { get: { tags: ['t t'] } },
      '/x/id': { get: { tags: ['t-t'] } },
      '/x/id_title': { get: {} },
      '/': { get: {} },
    },
    components: { schemas },
  };
  for (const document of [sampleDocument, poisoned(sampleDocument, false), alike]) {
    const page = renderReference(document);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
    assert.equal(new Set(ids).size, ids.length);
    const targets = hrefs(page).filter((href) => href.startsWith('#'));
    assert.ok(targets.length > 0);
    for (const href of targets) assert.ok(ids.includes(href.slice(1)), `${href} leads nowhere`);
  }
});

test('references are followed: the type links to the shared schema and its fields are at hand', () => {
  const page = renderReference(sampleDocument);
  const operation = article(page, 'post-v1-payments');
  assert.match(operation, /<code>amount<\/code><\/dt><dd class="kind"><a href="#schema-amount">Amount<\/a>/);
  assert.match(operation, /2 fields<span class="unseen"> of amount<\/span>/);
  assert.match(operation, /One of <code>requires_action<\/code>, <code>processing<\/code>/);
  assert.match(article(page, 'get-v1-merchants'), /array of <a href="#schema-merchant">Merchant<\/a>/);
});

test('a schema with one use is shown there alone, and one with several uses is listed', () => {
  const schemas = {
    Order: { type: 'object', properties: { price: ref('Price'), tip: ref('Price') } },
    Price: { type: 'object', properties: { value: { type: 'string' } } },
  };
  const page = renderReference(withBody(ref('Order'), schemas));
  assert.doesNotMatch(page, /id="schema-order"/);
  assert.match(page, /id="schema-price"/);
  assert.match(article(page, 'post-a'), /<code>price<\/code>.*<a href="#schema-price">Price<\/a>/s);
});

test('a description beside a reference replaces that of its target', () => {
  const reference = { $ref: '#/components/responses/Error', description: 'The codes of this operation.' };
  const document = {
    info: { title: 'T', version: '1' },
    paths: { '/a': { get: { responses: { 400: reference } } } },
    components: { responses: { Error: { description: 'Any error.' } } },
  };
  const page = renderReference(document);
  assert.match(page, /The codes of this operation\./);
  assert.doesNotMatch(page, /Any error\./);
});

test('a reference that leads nowhere, or in a circle, is shown as anything', () => {
  const document = withBody(
    {
      type: 'object',
      properties: { lost: { $ref: '#/nowhere' }, away: { $ref: 'https://x.example/' }, self: ref('Self') },
    },
    { Self: ref('Self') },
  );
  const page = renderReference({
    ...document,
    paths: { ...document.paths, '/b': { post: { requestBody: ref('Gone') } } },
  });
  assert.match(page, /<code>lost<\/code><\/dt><dd class="kind">any</);
  assert.match(page, /<code>away<\/code><\/dt><dd class="kind">any</);
  assert.match(page, /<a href="#schema-self">Self<\/a>/);
});

test('a schema that contains itself in many places makes a page of bounded size', () => {
  const names = Array.from({ length: 12 }, (_, index) => `Node${index}`);
  const properties = Object.fromEntries(names.map((name) => [name.toLowerCase(), ref(name)]));
  const schemas = Object.fromEntries(names.map((name) => [name, { type: 'object', required: names, properties }]));
  const everywhere = { allOf: names.map((name) => ref(name)), anyOf: names.map((name) => ref(name)) };
  const page = renderReference(withBody(ref('Node0'), { ...schemas, Everywhere: everywhere }));
  assert.ok(page.length < 2_000_000, `${page.length} characters`);
});

test('types and limits are said in words', () => {
  const cases: [Schema, string][] = [
    [{ type: 'string', minLength: 1, maxLength: 256 }, 'string · 1–256 characters'],
    [{ type: 'string', maxLength: 1 }, 'string · at most 1 character'],
    [{ type: 'string', minLength: 26, maxLength: 26 }, 'string · 26 characters'],
    [{ type: 'integer', format: 'int64', minimum: 0 }, 'integer · int64 · at least 0'],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 'number · more than 0 · less than 1'],
    [{ type: 'integer', minimum: 1, maximum: 200, default: 50 }, 'integer · 1–200 · default 50'],
    [
      { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', minLength: 1 } },
      'array of string · at least 1 item · no repeats · each at least 1 character',
    ],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'integer or null'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string or array of string'],
    [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, 'enum'],
    [{ enum: ['a', null] }, 'a or null'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'map of boolean'],
    [{ type: 'object', additionalProperties: false }, 'object'],
    [{}, 'any'],
  ];
  for (const [schema, words] of cases) {
    const page = renderReference(withBody({ type: 'object', properties: { field: schema } }));
    const kind = /<code>field<\/code><\/dt><dd class="kind">(.*?)<\/dd>/.exec(page)?.[1] ?? '';
    assert.equal(kind.replace(/<[^>]*>/g, ''), words);
  }
});

test('an object says how many of its fields are needed, and long lists of values are folded away', () => {
  const page = renderReference(
    withBody({
      type: 'object',
      minProperties: 1,
      anyOf: [{ required: ['name'] }, { required: ['code'] }],
      properties: {
        name: { type: 'string' },
        code: { enum: Array.from({ length: 35 }, (_, index) => `code_${index}`) },
      },
    }),
  );
  assert.match(page, /<p class="kind">at least 1 field<\/p><dl class="fields">/);
  assert.match(page, /<code>name<\/code><\/dt><dd class="kind">string<\/dd>/);
  assert.match(page, /<details><summary>35 values<\/summary><p class="note">One of <code>code_0<\/code>, /);
  assert.doesNotMatch(page, /class="variants"/);
});

test('alternatives that are objects each show their fields', () => {
  const page = renderReference(sampleDocument);
  const state = article(page, 'get-v1-gateway-payment-id-status').replace(/<[^>]*>/g, ' ');
  assert.match(state, /source {2,}object.*Wallet.*account.*Card.*last4/s);
});

test('authentication, deprecation and optional fields are shown where they apply', () => {
  const page = renderReference(sampleDocument);
  const status = article(page, 'get-v1-gateway-payment-id-status');
  assert.match(status, /<span class="deprecated">deprecated<\/span>/);
  assert.match(status.replace(/<[^>]*>/g, ''), /Credentials: Api-Key, or App-Id with Client-Id/);
  const create = article(page, 'post-v1-merchants');
  assert.match(create, /<code>merchantName<\/code>.*<span class="required">required<\/span>/);
  assert.match(
    create,
    /<code>iconUrl<\/code><\/dt><dd class="kind">string or null<span class="dot"> · <\/span>uri<span class="dot"> · <\/span>optional/,
  );
  assert.match(create, /<details class="errors"><summary><h4>Errors<\/h4>/);
  const scoped = renderReference({ ...sampleDocument, security: [{ ApiKey: ['merchants:write'] }] });
  assert.match(
    article(scoped, 'post-v1-merchants').replace(/<[^>]*>/g, ''),
    /Credentials: Api-Key \(scope merchants:write\)/,
  );
  const open = renderReference({ ...sampleDocument, security: [] });
  assert.match(article(open, 'post-v1-merchants'), /No credentials needed/);
});

test('descriptions keep their paragraphs, lists and inline code', () => {
  const page = renderReference({
    info: { title: 'T', version: '1', description: 'One `a<b`.\n\nTwo **b**:\n- x\n  y\n- z' },
  });
  assert.match(
    page,
    /<p>One <code>a&lt;b<\/code>\.<\/p><p>Two <strong>b<\/strong>:<\/p><ul><li>x y<\/li><li>z<\/li><\/ul>/,
  );
});

test('headings never skip a level', () => {
  const levels = [...renderReference(sampleDocument).matchAll(/<h([1-6])/g)].map((match) => Number(match[1]));
  assert.equal(levels[0], 1);
  for (const [index, level] of levels.entries()) assert.ok(level <= (levels[index - 1] ?? 0) + 1);
});

test('the same document gives the same page and is left as it was', () => {
  const copy = structuredClone(sampleDocument);
  assert.equal(renderReference(copy), renderReference(sampleDocument));
  assert.deepEqual(copy, sampleDocument);
});

test('a document made by @fastify/swagger from TypeBox schemas is read in full', async (context) => {
  const app = fastify();
  context.after(() => app.close());
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Real', version: '9' } },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => `${json.$id ?? `def-${index}`}` },
  });
  app.addSchema(Type.Object({ value: Type.String({ examples: ['1250'] }) }, { $id: 'Amount' }));
  const schema = {
    tags: ['Things'],
    summary: 'Change a thing',
    params: Type.Object({ id: Type.String({ description: 'Which thing.', examples: ['thing_1'] }) }),
    headers: Type.Object({ 'Merchant-Id': Type.String(), 'Pay-Version': Type.Optional(Type.String()) }),
    querystring: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })) }),
    body: Type.Object({
      amount: Type.Ref('Amount'),
      tip: Type.Ref('Amount'),
      status: Type.Union([Type.Literal('active'), Type.Literal('inactive')]),
      note: Type.Optional(Type.Union([Type.String({ maxLength: 9 }), Type.Null()], { description: 'A remark.' })),
    }),
    response: { 204: Type.Null({ description: 'Done.' }), 404: Type.Object({ code: Type.String() }) },
  };
  app.put('/things/:id', { schema }, () => null);
  await app.ready();

  const thing = article(renderReference(app.swagger() as OpenApiDocument), 'put-things-id');
  const text = thing.replace(/<[^>]*>/g, '');
  assert.match(text, /idstring · required.*Which thing\..*Example thing_1/s);
  assert.match(text, /limitinteger · 1–100 · default 20/);
  assert.match(text, /Merchant-Idstring · required/);
  assert.match(text, /amountAmount · required/);
  assert.match(text, /statusenum · required.*One of active, inactive/s);
  assert.match(text, /notestring or null · at most 9 characters.*A remark\./s);
  assert.match(text, /Response 204.*Done\..*No body\./s);
  assert.match(text, /curl -X PUT http:\/\/localhost:8080\/things\/thing_1/);
});

test('operations stand in the order asked for, others after them, and deprecated ones are folded away at the end', () => {
  const paths = {
    '/b': { get: { tags: ['T'] }, post: { tags: ['T'] } },
    '/a': { get: { tags: ['T'], deprecated: true } },
  };
  const document: OpenApiDocument = { info: { title: 'T', version: '1' }, tags: [{ name: 'T' }], paths };
  const [group] = groupEndpoints(document, ['post /b']);
  assert.deepEqual(
    group?.endpoints.map(({ anchor }) => anchor),
    ['post-b', 'get-b'],
  );
  assert.deepEqual(
    group.deprecated.map(({ anchor }) => anchor),
    ['get-a'],
  );
  const page = renderReference(document);
  const folded = page.lastIndexOf('<details class="old">');
  assert.ok(page.indexOf('id="get-b"') < folded && folded < page.indexOf('id="get-a"'));
  assert.match(page, /<summary>1 deprecated endpoint<span/);
});

function ref(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function withBody(schema: Schema, schemas: Record<string, Schema> = {}): OpenApiDocument {
  const operation = { requestBody: { content: { 'application/json': { schema } } } };
  return { info: { title: 'T', version: '1' }, paths: { '/a': { post: operation } }, components: { schemas } };
}

function article(page: string, anchor: string): string {
  const start = page.indexOf(`<article class="operation" id="${anchor}"`);
  assert.notEqual(start, -1, `${anchor} is on the page`);
  return page.slice(start, page.indexOf('</article>', start));
}

function hrefs(page: string): string[] {
  return [...page.matchAll(/ (?:href|src)="([^"]*)"/g)].map((match) => match[1] ?? '');
}

/** Takes the page apart: tags we write, attributes we write, all quoted, and between them no angle bracket at all. */
function assertOnlyOwnMarkup(page: string): void {
  const tag = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g;
  for (const [whole, , name = '', attributes = ''] of page.matchAll(tag)) {
    assert.ok(TAGS.has(name), whole);
    for (const [, attribute = ''] of attributes.matchAll(/ ([a-z-]+)(?:="[^"]*")?/g)) {
      assert.ok(ATTRIBUTES.has(attribute), whole);
    }
  }
  const text = page.replace('<!doctype html>', '').replace(tag, '');
  assert.doesNotMatch(text, /[<>"']/);
}

/** Every text and every name the author of a document chooses, with the poison at its end. */
function poisoned(document: OpenApiDocument, withTypes: boolean): OpenApiDocument {
  const kept = new Set(withTypes ? ['in'] : ['in', 'type']);
  const namers = ['paths', 'properties', 'schemas', 'securitySchemes', 'responses', 'content', 'headers'];
  const poison = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return kept.has(key) ? value : key === '$ref' ? poisonReference(value) : value + HOSTILE;
    if (Array.isArray(value))
      return value.map((item) => (key === 'security' ? poisonKeys(item, '') : poison(item, key)));
    if (typeof value !== 'object' || value === null) return value;
    return namers.includes(key)
      ? poisonKeys(value, key)
      : mapEntries(value, (name, item) => [name, poison(item, name)]);
  };
  const poisonKeys = (value: object, key: string) =>
    mapEntries(value, (name, item) => [name + HOSTILE, poison(item, key === 'properties' ? '' : 'entry')]);
  return poison(document, '') as OpenApiDocument;
}

function mapEntries(value: object, change: (name: string, item: unknown) => [string, unknown]): object {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => change(name, item)));
}

function poisonReference(reference: string): string {
  return reference + HOSTILE.replaceAll('~', '~0').replaceAll('/', '~1');
}
