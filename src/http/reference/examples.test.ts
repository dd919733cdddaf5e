import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { groupEndpoints } from './endpoints.ts';
import { curlOf, exampleOfMedia, serverUrl } from './examples.ts';
import type { OpenApiDocument, Operation, Schema } from './openapi-document.ts';
import { sampleDocument } from './sample-document.fixture.ts';

const info = { title: 'T', version: '1' };

function documentWith(path: string, operation: Operation, more: Partial<OpenApiDocument> = {}): OpenApiDocument {
  return { info, paths: { [path]: { post: operation } }, ...more };
}

function curlFor(document: OpenApiDocument, anchor: string): string {
  const endpoint = groupEndpoints(document)
    .flatMap((group) => [...group.endpoints, ...group.deprecated])
    .find((candidate) => candidate.anchor === anchor);
  assert.ok(endpoint);
  return curlOf(document, endpoint);
}

/** The arguments that a real shell hands to curl: the shell judges the quoting. */
function argumentsOf(command: string, variables: Record<string, string> = {}): string[] {
  const script = `curl() { for argument in "$@"; do printf '%s\\0' "$argument"; done; }\n${command}`;
  return execFileSync('sh', ['-c', script], { env: variables, encoding: 'utf8' }).split('\0').slice(0, -1);
}

test('the command for creating a merchant runs as it stands once its variables are set', () => {
  const command = curlFor(sampleDocument, 'post-v1-merchants');
  const given = argumentsOf(command, { API_KEY: 'till_test_1', IDEMPOTENCY_KEY: 'a b' });
  assert.deepEqual(given.slice(0, 9), [
    '-X',
    'POST',
    'http://localhost:8080/v1/merchants',
    '-H',
    'Api-Key: till_test_1',
    '-H',
    'Idempotency-Key: a b',
    '-H',
    'Content-Type: application/json',
  ]);
  assert.equal(given[9], '-d');
  assert.deepEqual(JSON.parse(given[10] ?? ''), {
    merchantName: 'Corner Coffee',
    merchantEmail: 'owner@corner-coffee.example',
  });
});

test('a read names no method and puts the example of a path parameter into the address', () => {
  assert.equal(
    curlFor(sampleDocument, 'get-v1-gateway-payment-id-status'),
    'curl http://localhost:8080/v1/gateway/payment/pay_01JKZ8Q4E7T2M5N9R3V6X0B1CD/status \\\n  -H "Api-Key: $API_KEY"',
  );
});

test('text that means something to a shell reaches curl as text', () => {
  const trap = `it's "$(echo broken)" \`echo broken\` \\ !`;
  const document = documentWith(`/v1/"$HOME/{id}s`, {
    parameters: [
      { in: 'header', name: 'X-"$(echo broken)', required: true, schema: { type: 'string' } },
      { in: 'header', name: 'X-Trap', required: true, schema: { type: 'string' }, example: trap },
      { in: 'query', name: 'q&', required: true, schema: { type: 'string' }, example: 'a b&c' },
    ],
    requestBody: { content: { 'application/json': { schema: { type: 'string', examples: [trap] } } } },
  });
  const given = argumentsOf(curlFor(document, 'post-v1-home-id-s'), { ID: '7', X_ECHO_BROKEN_: 'value' });
  assert.deepEqual(given, [
    '-X',
    'POST',
    'http://localhost:8080/v1/"$HOME/7s?q%26=a%20b%26c',
    '-H',
    'X-"$(echo broken): value',
    '-H',
    `X-Trap: ${trap}`,
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify(trap),
  ]);
});

test('an operation without credentials is shown without them, and the first way to authenticate is the one shown', () => {
  const more = {
    security: [{ Bearer: [] }],
    components: { securitySchemes: { Bearer: { type: 'http', scheme: 'bearer' } } },
  };
  assert.equal(curlFor(documentWith('/a', { security: [] }, more), 'post-a'), 'curl -X POST http://localhost:8080/a');
  assert.match(curlFor(documentWith('/a', {}, more), 'post-a'), /-H "Authorization: Bearer \$TOKEN"$/);
});

test('the address of the server is the first one stated, made absolute', () => {
  const stated = (url: string) => serverUrl({ info, servers: [{ url }] });
  assert.equal(serverUrl({ info }), 'http://localhost:8080');
  assert.equal(stated('https://pay.example/'), 'https://pay.example');
  assert.equal(stated('/base'), 'http://localhost:8080/base');
});

test('an example is taken from where its author put it, or composed from the fields', () => {
  const Loop: Schema = {
    type: 'object',
    required: ['id', 'next'],
    properties: { id: { type: 'integer', minimum: 3 }, next: { $ref: '#/components/schemas/Loop' } },
  };
  const document: OpenApiDocument = { info, components: { schemas: { Loop } } };
  const of = (schema: Schema) => exampleOfMedia(document, { schema });

  assert.deepEqual(exampleOfMedia(document, { examples: { one: { value: 1 } }, schema: {} }).value, 1);
  assert.deepEqual(of({ type: 'integer', default: 20 }), { value: 20, isStated: true });
  assert.deepEqual(of({ type: 'array', items: { examples: ['a'] } }), { value: ['a'], isStated: true });
  assert.deepEqual(of({ type: 'string', format: 'email' }), { value: 'name@example.com', isStated: false });
  assert.deepEqual(of({ type: ['string', 'null'] }), { value: null, isStated: false });
  assert.deepEqual(of({ $ref: '#/components/schemas/Loop' }).value, { id: 3, next: null });
  assert.deepEqual(
    of({ allOf: [{ properties: { a: { default: 1 } } }, { properties: { b: { default: 2 } } }] }).value,
    {
      a: 1,
      b: 2,
    },
  );
});
