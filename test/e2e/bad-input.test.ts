import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import { createLog } from '../../src/runtime/log.ts';
import { one } from '../../src/store/plumbing/database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import { type DescribedOperation, operations } from '../openapi.ts';
import { exchange, listen, openSocket, readAnswer, type WireAnswer } from '../sockets.ts';
import { until } from '../until.ts';

/** A failure is told when its time is up, however much simpler it could still be put. */
const BOUND = { interruptAfterTimeLimit: IS_LONG ? 900_000 : 15_000 };
const LIMIT_BYTES = 64 * 1024;
const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ACCOUNT = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
type Headers = Record<string, string>;

/** A gateway with something of every kind in it, and the means to see that none of it changed. */
async function furnish() {
  const gateway = await startTestGateway();
  const { headers } = await createTestPartner(gateway);
  const { id: merchantId } = await createTestMerchant(gateway, headers);
  const stranger = await createTestPartner(gateway);
  const { id: othersId } = await createTestMerchant(gateway, stranger.headers);
  const registered = await gateway.call({
    method: 'POST',
    url: `/v1/merchants/${merchantId}/settlements/crypto`,
    headers: { ...headers, 'idempotency-key': freshKey() },
    payload: { settlements: [{ asset: USDC, destination: ACCOUNT }] },
  });
  const settlementId: string = registered.json().settlements[0].id;
  const scoped = { ...headers, 'merchant-id': merchantId };
  const payment = await gateway.call({
    method: 'POST',
    url: '/v1/payments',
    headers: scoped,
    payload: { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-42' },
  });
  const paymentId: string = payment.json().paymentId;
  // A final payment answers a long poll at once, whatever garbage asks it to wait.
  await gateway.call({ method: 'POST', url: `/v1/payments/${paymentId}/cancel`, headers: scoped });

  const tables = await gateway.db.sql<
    { name: string }[]
  >`select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('leases', 'outbox', 'event_batches')`;
  const digests = tables.map(
    ({ name }) => `(select md5(string_agg(r::text, ',' order by r::text)) from ${name} r) as ${name}`,
  );
  return {
    gateway,
    headers,
    scoped,
    merchantId,
    othersId,
    settlementId,
    paymentId,
    /** A fingerprint of every row of every table but those that the placer of events writes meanwhile. */
    async contents(): Promise<Record<string, string | null>> {
      const { sql } = gateway.db;
      return one(await sql<Record<string, string | null>[]>`select ${sql.unsafe(digests.join())}`);
    },
  };
}

/** Checks a refusal: its code is in the catalogue, its status goes with the code and is below 500, its message is readable. */
function assertRefusal(
  status: number,
  body: string,
  what: string,
): { code: ErrorCode; message: string; issues?: { field: string }[] } {
  assert.ok(status >= 400 && status < 500, `${what}: ${status} ${body}`);
  const error = JSON.parse(body) as { code: ErrorCode; message: string; issues?: { field: string }[] };
  const statuses: readonly number[] = CATALOGUE[error.code]?.statuses ?? [];
  assert.ok(statuses.includes(status), `${what}: ${status} does not go with ${error.code}`);
  assert.ok(error.message.length > 0 && error.message.length < 20_000, what);
  assert.doesNotMatch(error.message, /node:internal|\.ts:\d|postgres|syntax error/i, `${what}: no innards`);
  if (error.code === 'params_validation') assert.ok((error.issues?.length ?? 0) > 0, what);
  return error;
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('bad input', () => {
  let house: Awaited<ReturnType<typeof furnish>>;
  let gateway: TestGateway;
  let headers: Headers;
  before(async () => {
    house = await furnish();
    gateway = house.gateway;
    headers = house.headers;
  });
  after(() => gateway.stop());

  /** Every route that reads a body, called so that only the body can be wrong. */
  const writers = () =>
    [
      { method: 'POST', url: '/v1/merchants' },
      { method: 'PATCH', url: `/v1/merchants/${house.merchantId}` },
      { method: 'POST', url: `/v1/merchants/${house.merchantId}/settlements/crypto` },
      { method: 'PUT', url: `/v1/merchants/${house.merchantId}/settlements/crypto/${house.settlementId}` },
      { method: 'POST', url: '/v1/payments' },
    ] as const;

  async function refused(request: InjectOptions & { url: string }, what: string) {
    const response = await gateway.call(request);
    return { status: response.statusCode, ...assertRefusal(response.statusCode, response.body, what) };
  }

  it('in a body that cannot be read is refused before anything else in it is checked', async () => {
    const utf8 = (text: string) => Buffer.from(text);
    const bodies: [name: string, status: number, body: string | Buffer, type?: string][] = [
      ...['{', '{"a":}', '{"a":1,}', "{'a':1}", '{}{}', '{} x', 'undefined', 'NaN', '[1', '"', '{"a":"\n"}'].map(
        (text): [string, number, string] => [text, 400, text],
      ),
      ['a NUL byte', 400, '{"merchantName":"a\u0000b"}'],
      ['only NUL bytes', 400, Buffer.alloc(100)],
      ['not UTF-8', 400, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
      ['UTF-16', 400, Buffer.from('{"merchantName":"x"}', 'utf16le')],
      ['an overlong form', 400, Buffer.concat([utf8('{"merchantName":"'), Buffer.from([0xc0, 0xaf]), utf8('"}')])],
      [
        'half a character',
        400,
        Buffer.concat([utf8('{"merchantName":"'), Buffer.from([0xed, 0xa0, 0x80]), utf8('"}')]),
      ],
      ['__proto__', 400, '{"__proto__":{"isAdmin":true},"merchantName":"x"}'],
      ['__proto__ in escapes', 400, '{"\\u005f\\u005fproto\\u005f\\u005f":{"merchantName":"x"}}'],
      ['__proto__ deep inside', 400, '{"settlements":[{"asset":{"__proto__":null}}]}'],
      ['constructor.prototype', 400, '{"constructor":{"prototype":{"isAdmin":true}}}'],
      ['a broken deep nest', 400, '['.repeat(30_000)],
      ['a deep nest', 400, `{"merchantName":${deep(100)}}`],
      ['thousands of fields', 400, JSON.stringify(Array.from({ length: 3_000 }, () => 1))],
      ['one byte too many', 413, `"${'x'.repeat(LIMIT_BYTES - 1)}"`],
      ['10 MB', 413, Buffer.alloc(10 * 1024 * 1024, 'x')],
      ['plain text', 415, '{}', 'text/plain'],
      ['XML', 415, '<a/>', 'application/xml'],
      ['a form', 415, 'merchantName=x', 'application/x-www-form-urlencoded'],
      ['a multipart form', 415, '--x--', 'multipart/form-data; boundary=x'],
      ['nearly JSON', 415, '{}', 'application/jsonp'],
      ['JSON of some kind', 415, '{}', 'application/vnd.api+json'],
      ['no type', 415, '{}', ''],
      ['a broken type', 415, '{}', '/'],
    ];
    const before = await house.contents();
    for (const route of writers()) {
      for (const [name, status, payload, type = 'application/json'] of bodies) {
        const what = `${route.method} ${route.url} with ${name}`;
        const as = { ...house.scoped, 'content-type': type, 'idempotency-key': freshKey() };
        const answer = await refused({ ...route, payload, headers: as }, what);
        assert.deepEqual([answer.status, answer.code], [status, 'invalid_params'], what);
        const isForbidden = name.startsWith('__proto__') || name.startsWith('constructor');
        if (isForbidden) assert.match(answer.message, /member named __proto__/, what);
      }
    }
    assert.deepEqual(await house.contents(), before);
    assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
  });

  it('in a body of another shape is refused, and said to be so', async () => {
    const before = await house.contents();
    const bodies = [undefined, '', 'null', '[]', '"text"', '5', 'true', deep(30), `"${'x'.repeat(LIMIT_BYTES - 2)}"`];
    for (const route of writers()) {
      for (const payload of bodies) {
        const what = `${route.method} ${route.url} with ${payload?.slice(0, 20)}`;
        for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
          const as = { ...house.scoped, 'content-type': type, 'idempotency-key': freshKey() };
          const answer = await refused({ ...route, payload, headers: as }, what);
          assert.deepEqual([answer.status, answer.code], [400, 'params_validation'], what);
          assert.deepEqual(
            answer.issues?.map(({ field }) => field),
            ['body'],
          );
        }
      }
      const missing = await refused(
        { ...route, payload: '{}', headers: { ...house.scoped, 'content-type': 'application/json' } },
        'nothing',
      );
      assert.equal(missing.code, 'params_validation');
    }
    assert.deepEqual(await house.contents(), before);
  });

  it('in a field is refused by the name of the field, on every route', async () => {
    const before = await house.contents();
    const junk = [
      null,
      0,
      -1,
      1.5,
      true,
      [],
      {},
      [[]],
      { a: 1 },
      '',
      ' ',
      '\u0000',
      '\ud800',
      'a\u0000b',
      '\u0007',
      'x'.repeat(60_000),
    ];
    junk.push(JSON.parse(deep(20)));
    const fields = [
      {
        route: writers()[0],
        good: { merchantName: 'Shop', merchantEmail: 'shop@example.com' },
        names: ['merchantName', 'merchantEmail'],
      },
      { route: writers()[3], good: {}, names: ['destination'] },
      { route: writers()[2], good: {}, names: ['settlements'] },
    ];
    for (const { route, good, names } of fields) {
      for (const name of names) {
        for (const value of junk) {
          const what = `${name}: ${JSON.stringify(value).slice(0, 30)}`;
          const as = { ...headers, 'idempotency-key': freshKey() };
          const answer = await refused({ ...route, headers: as, payload: { ...good, [name]: value } }, what);
          assert.equal(answer.code, 'params_validation', what);
          assert.ok(
            answer.issues?.every(({ field }) => field.startsWith(name)),
            what,
          );
        }
      }
    }
    assert.deepEqual(await house.contents(), before);
  });

  it('in text that only looks bad is taken as the text it is', async () => {
    const other = await startTestGateway();
    const own = await createTestPartner(other);
    const names = [
      "Robert'); drop table merchants; --",
      '{{7*7}}<%= 7*7 %>',
      '../../etc/passwd',
      '<script>alert(1)</script>',
    ];
    names.push('مقهى القهوة', '‮evil', '👩‍👩‍👧‍👦 family', 'Z̸̢͈a̵l̷g̴o̶', '%00%0a', '\\', '"', 'null', '__proto__');
    for (const merchantName of names) {
      const { id } = await createTestMerchant(other, own.headers, { merchantName });
      const read = await other.call({ url: `/v1/merchants/${id}`, headers: own.headers });
      assert.equal(read.json().merchant.name, merchantName);
      const found = await other.call({
        url: `/v1/merchants?search=${encodeURIComponent(merchantName)}`,
        headers: own.headers,
      });
      assert.equal(found.json().totalCount, 1, merchantName);
    }
    await other.stop();
  });

  it('in a query is refused by the name of each broken parameter', async () => {
    const cases: [query: string, fields: string[] | undefined][] = [
      ['limit=0&status=x&search=&cursor=', ['status', 'search', 'cursor', 'limit']],
      ['limit=1&limit=2', ['limit']],
      ['status=active&status=active', ['status']],
      ['search=a&search=b', ['search']],
      ['cursor=a&cursor=b', ['cursor']],
      [`search=${'x'.repeat(257)}`, ['search']],
      [`cursor=${'x'.repeat(1025)}`, ['cursor']],
      ['search=%00', ['search']],
      ['search=a%0Ab', ['search']],
      ['status=ACTIVE', ['status']],
      ['limit=', ['limit']],
      ['limit=null', ['limit']],
      ['limit=1;2', ['limit']],
      ['limit=%31%30%31', ['limit']],
      // Undefined: the query as a whole cannot be read.
      ['search=%FF', undefined],
      ['search=%ED%A0%80', undefined],
      ['search=%', undefined],
      ['search=%ZZ', undefined],
      ['%C0%AF=1', undefined],
      ['cursor=abc', undefined],
    ];
    for (const [query, fields] of cases) {
      const answer = await refused({ url: `/v1/merchants?${query}`, headers }, query);
      assert.deepEqual([answer.status, answer.code], [400, fields ? 'params_validation' : 'invalid_params'], query);
      assert.deepEqual(
        answer.issues?.map(({ field }) => field),
        fields,
        query,
      );
    }
    const unknown = [
      '__proto__=1&constructor=2&toString=3',
      'a[b][c]=1',
      'status[]=active',
      '&&&==',
      `x=${'&y'.repeat(500)}`,
    ];
    for (const query of unknown) {
      assert.equal((await gateway.call({ url: `/v1/merchants?${query}`, headers })).statusCode, 200, query);
    }
  });

  it('in a path is a route or a thing that does not exist', async () => {
    const before = await house.contents();
    for (const id of [
      '%00',
      '%0a',
      '%20',
      '%F0%9F%8D%A9',
      '..%2f..',
      "'--",
      '%25',
      '*',
      '{id}',
      'x'.repeat(8_000),
      '__proto__',
      'null',
    ]) {
      for (const { method, path, example } of operations('/v1/')) {
        if (!path.includes('{')) continue;
        const url = path.replace(/\{\w+\}/g, id);
        const as = { ...house.scoped, 'idempotency-key': freshKey() };
        const body = example && { payload: example };
        const answer = await refused({ method, url, headers: as, ...body }, `${method} ${url.slice(0, 100)}`);
        // A key opens no route for people.
        const isForPeople = /^\/v1\/(people|sessions|passkeys|api-keys)\//.test(path);
        assert.equal(answer.status, isForPeople ? 401 : 404, `${method} ${url.slice(0, 100)}`);
      }
    }
    const nameless = await refused({ url: '/v1/merchants/', headers }, 'no merchant');
    assert.match(nameless.message, /^The id of the merchant is missing/);
    for (const [url, status] of [
      ['/v1/merchants/%ZZ', 400],
      ['/v1/merchants/%FF', 400],
      [`/v1/merchants/${'x'.repeat(9_000)}`, 404],
      ['/v1/', 404],
      ['/V1/merchants', 404],
      ['//v1/merchants', 404],
      ['/v1/merchants//settlements', 404],
      ['/', 404],
    ] as const) {
      const response = await gateway.app.inject({ url, headers });
      assertRefusal(response.statusCode, response.body, url);
      assert.equal(response.statusCode, status, url);
      assert.ok(response.headers['request-id'], 'even then there is an id to quote');
    }
    assert.deepEqual(await house.contents(), before);
  });

  it('of the wrong method is answered with the allowed methods', async () => {
    for (const [url, allow] of [
      ['/v1/merchants', 'GET, HEAD, POST'],
      [`/v1/merchants/${house.merchantId}`, 'DELETE, GET, HEAD, PATCH'],
      [`/v1/merchants/${house.merchantId}/settlements`, 'GET, HEAD'],
      [`/v1/merchants/${house.merchantId}/settlements/crypto`, 'POST'],
      [`/v1/merchants/${house.merchantId}/settlements/crypto/x`, 'DELETE, PUT'],
      ['/health', 'GET, HEAD'],
    ] as const) {
      for (const method of (['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const).filter(
        (name) => !allow.includes(name),
      )) {
        const response = await gateway.call({ method, url, headers, payload: method === 'GET' ? undefined : '{' });
        assert.equal(response.statusCode, 405, `${method} ${url}`);
        assert.equal(response.json().code, 'invalid_params');
        assert.equal(response.headers.allow, allow);
      }
    }
  });

  it('in generated garbage meets only errors of the catalogue, and leaves nothing behind', async () => {
    const garden = await furnish();
    let contents = await garden.contents();
    await fc.assert(
      fc.asyncProperty(garbage(garden), async (request) => {
        const response = await garden.gateway.call(request);
        const { statusCode, body } = response;
        assert.ok(statusCode < 500, body);
        if (statusCode >= 400) assertRefusal(statusCode, body, JSON.stringify(request).slice(0, 500));
        const now = await garden.contents();
        if (statusCode >= 400 || request.method === 'GET') assert.deepEqual(now, contents, 'nothing is written');
        contents = now;
      }),
      { numRuns: IS_LONG ? 50_000 : 300, ...BOUND },
    );
    await garden.gateway.stop();
  });

  describe('on the wire', () => {
    let wired: Awaited<ReturnType<typeof furnish>>;
    let port: number;
    before(async () => {
      wired = await furnish();
      port = await listen(wired.gateway);
    });
    after(() => wired.gateway.stop());

    const post = (...lines: string[]) => postBy(wired, ...lines);
    const postBy = ({ headers }: typeof wired, ...lines: string[]) =>
      [
        `POST /v1/merchants HTTP/1.1`,
        'Host: localhost',
        `Api-Key: ${headers['api-key']}`,
        'Content-Type: application/json',
        'Idempotency-Key: wire',
        ...lines,
        '',
        '',
      ].join('\r\n');
    const isAlive = async (at = port) =>
      (await exchange(at, 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'))?.status === 200;
    function assertWire(answer: WireAnswer | undefined, what: string, status = 400): void {
      assert.ok(answer, `${what}: no answer`);
      assert.equal(answer.status, status, `${what}: ${answer.body}`);
      assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
      const { code, message } = JSON.parse(answer.body);
      assert.ok(code in CATALOGUE && message.length > 0, what);
    }

    it('is refused when it is no HTTP at all, and the next caller is served', async () => {
      const before = await wired.contents();
      const hello = Buffer.from('16030100c8010000c403035f', 'hex');
      const broken: [name: string, bytes: string | Buffer, status?: number][] = [
        ['text', 'hello\r\n\r\n'],
        ['a TLS handshake', Buffer.concat([hello, Buffer.alloc(200)])],
        ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
        ['HTTP/9.9', 'GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n'],
        ['an unknown method', 'BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
        ['a NUL in a header', 'GET /health HTTP/1.1\r\nHost: localhost\r\nApi-Key: a\0b\r\n\r\n'],
        ['a control character in a header', 'GET /health HTTP/1.1\r\nHost: localhost\r\nApi-Key: a\x07b\r\n\r\n'],
        ['a space in a header name', 'GET /health HTTP/1.1\r\nHost: localhost\r\nApi Key: a\r\n\r\n'],
        ['a header without a name', 'GET /health HTTP/1.1\r\nHost: localhost\r\n: a\r\n\r\n'],
        ['headers without end', `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}`, 431],
        ['a path without end', `GET /${'x'.repeat(20_000)}`, 431],
        ['no Host', 'GET /health HTTP/1.1\r\n\r\n'],
        ['no Host on a route of the API', 'GET /v1/payments HTTP/1.1\r\nApi-Key: x\r\n\r\n'],
        ['an unknown expectation', `${post('Content-Length: 2', 'Expect: 200-ok')}{}`, 417],
        ['an expectation of nothing', 'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n', 417],
        ['no body', post()],
        ['no body for a method that is not there', post().replace('POST', 'DELETE'), 405],
        ['a negative length', post('Content-Length: -1')],
        ['two lengths', post('Content-Length: 2', 'Content-Length: 3')],
        ['a length that is no number', post('Content-Length: 0x10')],
        ['a length and chunks', `${post('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
        ['an unknown encoding', `${post('Transfer-Encoding: gzip, identity')}{}`],
        ['a chunk size that is no number', `${post('Transfer-Encoding: chunked')}ZZ\r\n{}\r\n0\r\n\r\n`],
        ['a chunk longer than its size', `${post('Transfer-Encoding: chunked')}2\r\n{}XX\r\n0\r\n\r\n`],
        ['a chunk size without end', `${post('Transfer-Encoding: chunked')}${'0'.repeat(100)}FFFFFFFFFFFFFFFFF\r\n`],
      ];
      for (const [name, bytes, status] of broken) assertWire(await exchange(port, bytes), name, status);
      assert.ok(await isAlive());
      assert.deepEqual(await wired.contents(), before);
    });

    it('is refused at 64 KiB, however many megabytes follow', async () => {
      const before = await wired.contents();
      const size = 10 * 1024 * 1024;
      const body = Buffer.alloc(size, 'x');
      const chunked = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
      const requests: [name: string, bytes: Buffer, status: number][] = [
        ['with its length', Buffer.concat([Buffer.from(post(`Content-Length: ${size}`)), body]), 413],
        ['in chunks', Buffer.concat([Buffer.from(post('Transfer-Encoding: chunked')), chunked]), 413],
        [
          'without a key',
          Buffer.concat([Buffer.from(post(`Content-Length: ${size}`).replace('Api-Key', 'Other')), body]),
          401,
        ],
        [
          'to nowhere',
          Buffer.concat([Buffer.from(post(`Content-Length: ${size}`).replace('/v1/merchants', '/v1/no')), body]),
          404,
        ],
      ];
      for (const [name, bytes, status] of requests) assertWire(await exchange(port, bytes), name, status);
      assert.ok(await isAlive());
      assert.deepEqual(await wired.contents(), before);
    });

    it('that stops in the middle is closed after a while, and delays no other', async () => {
      const impatient = await furnish();
      // The real limits are for slow networks; what happens at them can be seen sooner.
      const sooner = { headersTimeout: 2_000, requestTimeout: 2_500, connectionsCheckingInterval: 100 };
      Object.assign(impatient.gateway.app.server, sooner);
      const at = await listen(impatient.gateway);
      const before = await impatient.contents();
      const halves: [name: string, bytes: string][] = [
        ['nothing but a request line', 'GET /health HTTP/1.1\r\n'],
        ['half a header', 'GET /health HTTP/1.1\r\nHost: loc'],
        ['half a body', `${postBy(impatient, 'Content-Length: 100')}{"merchantName":`],
        ['half a chunk', `${postBy(impatient, 'Transfer-Encoding: chunked')}50\r\n{"merchantName":`],
      ];
      const sockets = await Promise.all([...halves, ...Array<undefined>(50)].map(() => openSocket(at)));
      try {
        const answers = halves.map(([, bytes], index) => {
          sockets[index]?.write(bytes);
          return readAnswer(sockets[index] as Socket, { withinMs: 20_000 });
        });
        assert.ok(await isAlive(at), 'meanwhile others are served');
        for (const [index, [name]] of halves.entries()) {
          const answer = await answers[index];
          assert.equal(answer?.status, 408, name);
          assert.equal(JSON.parse(answer.body).code, 'invalid_params');
        }
        assert.deepEqual(await impatient.contents(), before);
      } finally {
        for (const socket of sockets) socket.destroy();
        await impatient.gateway.stop();
      }
    });

    it('from a client that hangs up in the middle writes nothing', async () => {
      const before = await wired.contents();
      const body = '{"merchantName":"Half","merchantEmail":"half@example.com"}';
      for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const socket = await openSocket(port);
        socket.on('error', () => {});
        socket.write(`${post(`Content-Length: ${body.length + 1}`)}${body}`);
        socket[how]();
        await until('the socket is closed', () => socket.closed || socket.readableEnded || how === 'end');
        socket.destroy();
      }
      assert.ok(await isAlive());
      assert.deepEqual(await wired.contents(), before);
    });

    it('from a client that has hung up before it is read causes no fault of the gateway', async () => {
      const lines: { level: string; path?: string; status?: number }[] = [];
      const sink = { write: (line: string) => lines.push(JSON.parse(line)) };
      const gateway = await startTestGateway({ log: createLog({ level: 'info', secrets: [], sink }) });
      try {
        const at = await listen(gateway);
        const paths = ['/v1/merchants', '/v1/gateway/payment/pay_0/status', '/?pid=pay_0'];
        for (const path of paths) {
          const socket = connect(at, '127.0.0.1');
          await new Promise((resolve) => socket.once('connect', resolve));
          // Both before the server's turn: it reads a request from a connection that has no peer any more.
          socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
          socket.resetAndDestroy();
        }
        const answered = () => lines.flatMap(({ path, status }) => (path === undefined ? [] : [{ path, status }]));
        await until('all of them are answered', () => answered().length === paths.length);
        assert.deepEqual(
          answered().map(({ status }) => status),
          [401, 401, 404],
        );
        assert.deepEqual(
          lines.filter(({ level }) => level === 'error'),
          [],
        );
      } finally {
        await gateway.stop();
      }
    });

    it('behind a good request does not affect other answers', async () => {
      for (const tail of [
        'GARBAGE\r\n\r\n',
        '\0\0\0\0',
        'POST /v1/merchants HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nQ\r\n',
      ]) {
        const answer = await exchange(
          port,
          `GET /v1/merchants HTTP/1.1\r\nHost: localhost\r\nApi-Key: ${wired.headers['api-key']}\r\n\r\n${tail}`,
        );
        assert.ok(answer === undefined || answer.status < 500, answer?.body);
        assert.ok(await isAlive());
      }
    });

    it('in generated bytes ends in a refusal or a closed connection', async () => {
      const line = fc.oneof(
        fc.constantFrom(
          'GET /v1/merchants HTTP/1.1',
          'POST /v1/merchants HTTP/1.1',
          'Host: localhost',
          'Transfer-Encoding: chunked',
          'Content-Length: 9',
        ),
        fc.string({ unit: 'binary-ascii', maxLength: 40 }),
      );
      const bytes = fc.oneof(
        fc.array(line, { maxLength: 8 }).map((lines) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)),
        fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)),
      );
      await fc.assert(
        fc.asyncProperty(bytes, async (sent) => {
          const socket = await openSocket(port);
          const read = readAnswer(socket);
          socket.end(sent);
          const answer = await read;
          socket.destroy();
          if (answer !== undefined && answer.body !== '') {
            assert.ok(answer.status < 500, answer.body);
            assert.ok(answer.status < 400 || JSON.parse(answer.body).code in CATALOGUE, answer.body);
          }
        }),
        { numRuns: IS_LONG ? 5_000 : 60, ...BOUND },
      );
      assert.ok(await isAlive());
    });
  });
});

/** Requests to every route, each with something wrong in it, or with luck nothing. */
function garbage(house: Awaited<ReturnType<typeof furnish>>): fc.Arbitrary<InjectOptions & { url: string }> {
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
    fc.string({ unit: 'grapheme', maxLength: 50 }),
    fc.string({ unit: 'binary', maxLength: 50 }),
  );
  const value = fc.oneof(
    text,
    fc.jsonValue({ maxDepth: 3 }),
    fc.integer(),
    fc.constantFrom(USDC, ACCOUNT, 'iso4217/USD', '1000'),
  );
  const encoded = fc.oneof(
    text.map((raw) => encodeURIComponent(raw.toWellFormed())),
    fc.constantFrom('%00', '%FF', '%', '%ZZ', '%2F..%2F', ''),
  );
  const ids = [house.othersId, house.settlementId, house.paymentId, 'x'];
  const id = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(house.merchantId, ...ids) }, encoded);
  // Deleting the one merchant would leave the rest of the run with nothing to ask for.
  const harmlessId = fc.oneof(fc.constantFrom(...ids), encoded);

  const headerText = fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,40}$/).map((raw) => raw.trim());
  const header = (...known: string[]) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: headerText },
    );
  const headers = fc
    .record({
      'api-key': fc.oneof({ weight: 8, arbitrary: fc.constant(house.headers['api-key']) }, header('', 'till_test_x')),
      'merchant-id': fc.oneof({ weight: 6, arbitrary: fc.constant(house.merchantId) }, header(house.othersId)),
      'idempotency-key': header('a', '"a"', '""', 'x'.repeat(256)),
      'pay-version': fc.oneof(
        { weight: 8, arbitrary: fc.constant(undefined) },
        header('2026-02-18', '2020-01-01', '2026-02-19.preview'),
      ),
      'content-type': fc.oneof(
        { weight: 8, arbitrary: fc.constant('application/json') },
        header('text/plain', '', 'application/json;'),
      ),
      'x-api-key': header(house.headers['api-key'] ?? ''),
      'if-none-match': header('*', 'W/"x"'),
      'request-id': header('a'),
    })
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, content]) => content !== undefined)) as Headers);

  const requestTo = ({ method, path, parameters, members }: DescribedOperation) => {
    const part = method === 'DELETE' && path === '/v1/merchants/{merchantId}' ? harmlessId : id;
    const parts = path.match(/\{\w+\}/g) ?? [];
    const name = parameters.length > 0 ? fc.oneof(fc.constantFrom(...parameters), encoded) : encoded;
    const query = fc.array(fc.tuple(name, encoded), { maxLength: 4 });
    const known = Object.fromEntries(members.map((member) => [member, value]));
    const nested = fc.record({ asset: value, destination: value, unit: value, value }, { requiredKeys: [] });
    const body = fc.oneof(
      { weight: 5, arbitrary: fc.record(known, { requiredKeys: [] }).map((fields) => JSON.stringify(fields)) },
      fc
        .record({ settlements: fc.array(nested, { maxLength: 3 }), amount: nested })
        .map((fields) => JSON.stringify(fields)),
      fc.json(),
      text,
      fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
    );
    const used = fc.oneof(
      { weight: 8, arbitrary: fc.constant(method) },
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH') as fc.Arbitrary<typeof method>,
    );
    return fc
      .record({
        used,
        parts: fc.tuple(...parts.map(() => part)),
        query,
        headers,
        body: fc.option(body, { nil: undefined }),
      })
      .map((made) => {
        let index = 0;
        const url = path.replace(/\{\w+\}/g, () => made.parts[index++] ?? '');
        const search = made.query.map((pair) => pair.join('=')).join('&');
        return {
          method: made.used,
          url: search === '' ? url : `${url}?${search}`,
          headers: made.headers,
          ...(made.body !== undefined && made.used !== 'GET' && { payload: made.body }),
        };
      });
  };
  return fc.oneof(...operations('/').map(requestTo));
}

const NASTY = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '🍩',
  '‮',
  "' or 1=1 --",
  '%',
  '_',
  '\\',
  '"',
  '{}',
  '[]',
  'null',
  '__proto__',
];
NASTY.push(
  'x'.repeat(300),
  '9'.repeat(100),
  '-1',
  '1e309',
  '0x10',
  'constructor',
  '2026-02-18T00:00:00Z',
  'https://',
  'https://u:p@x',
);
