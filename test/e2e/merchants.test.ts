import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import type { MerchantStatus } from '../../src/domain/merchant.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';

type Headers = Record<string, string>;
interface Query {
  readonly status?: string;
  readonly search?: string;
  readonly cursor?: string;
  readonly limit?: number;
}
interface Listed {
  readonly merchants: readonly { id: string; name: string; status: string }[];
  readonly totalCount: number;
  readonly nextCursor: string | null;
}

describe('merchants', () => {
  let gateway: TestGateway;
  let headers: Headers;
  before(async () => {
    gateway = await startTestGateway();
    headers = (await createTestPartner(gateway)).headers;
  });
  after(() => gateway.stop());

  async function list(query: Query, as: Headers): Promise<Listed> {
    const text = new URLSearchParams(query as Record<string, string>);
    const response = await gateway.call({ url: `/v1/merchants?${text}`, headers: as });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }
  const namesOf = ({ merchants }: Listed) => merchants.map(({ name }) => name);
  const setStatus = (merchantId: string, status: MerchantStatus) =>
    changeMerchant(gateway, { owner: null, actor: 'test', merchantId, changes: { status } });

  it('are created, read, changed and deleted', async () => {
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { merchantName: 'Café Zoë 🍩', merchantEmail: 'zoe@example.com' },
    });
    assert.equal(created.statusCode, 201);
    const { merchant } = created.json();
    assert.deepEqual(Object.keys(merchant), ['id', 'name', 'email', 'status', 'createdAt']);
    assert.match(merchant.id, /^mrch_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.equal(merchant.status, 'active');
    assert.match(merchant.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const url = `/v1/merchants/${merchant.id}`;
    const read = await gateway.call({ url, headers });
    assert.deepEqual(read.json().merchant, {
      ...merchant,
      iconUrl: null,
      acceptedAssets: null,
      settlements: { crypto: [], fiat: [] },
    });

    const payload = { iconUrl: 'https://example.com/logo.png', merchantName: 'שלום' };
    const changed = await gateway.call({ method: 'PATCH', url, headers, payload });
    const iconUrl = 'https://example.com/logo.png';
    assert.deepEqual(changed.json().merchant, { ...merchant, name: 'שלום', iconUrl, acceptedAssets: null });
    const unset = await gateway.call({ method: 'PATCH', url, headers, payload: { iconUrl: null } });
    assert.equal(unset.json().merchant.iconUrl, null);
    const again = await gateway.call({ url, headers });
    assert.equal(again.json().merchant.name, 'שלום');

    for (let times = 0; times < 2; times += 1) {
      const deleted = await gateway.call({ method: 'DELETE', url, headers });
      assert.deepEqual(deleted.json(), { id: merchant.id, deleted: true });
    }
    const gone = await gateway.call({ url, headers });
    assert.equal(gone.statusCode, 404);
    assert.equal(gone.json().code, 'merchant_not_found');
  });

  it('leave an audit trail of changes with actors', async () => {
    const { key, headers: own } = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, own, { merchantName: 'First' });
    const url = `/v1/merchants/${id}`;
    await gateway.call({ method: 'PATCH', url, headers: own, payload: { merchantName: 'Second' } });
    for (let times = 0; times < 2; times += 1) await gateway.call({ method: 'DELETE', url, headers: own });
    const rows = await gateway.db.sql`select actor, action, detail from audit_log where subject = ${id} order by id`;
    assert.deepEqual(
      rows.map(({ actor, action }) => [actor, action]),
      ['merchant.created', 'merchant.changed', 'merchant.deleted'].map((action) => [`key:${key.id}`, action]),
    );
    assert.deepEqual(rows[1]?.detail, { before: { name: 'First' }, after: { name: 'Second' } });
  });

  describe('in lists', () => {
    it('appear on pages that stay stable while others are added', async () => {
      const own = await createTestPartner(gateway);
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) made.unshift((await createTestMerchant(gateway, own.headers)).id);
      const first = await list({ limit: 2 }, own.headers);
      await createTestMerchant(gateway, own.headers);
      const seen = first.merchants.map(({ id }) => id);
      let cursor = first.nextCursor;
      while (cursor !== null) {
        const next = await list({ limit: 2, cursor }, own.headers);
        seen.push(...next.merchants.map(({ id }) => id));
        cursor = next.nextCursor;
        assert.equal(next.totalCount, 6);
      }
      assert.deepEqual(seen, made);
    });

    it('are 20 a page unless the limit says otherwise, from 1 to 100, and all are counted', async () => {
      const own = await createTestPartner(gateway);
      await Promise.all(Array.from({ length: 21 }, () => createTestMerchant(gateway, own.headers)));
      for (const [query, length] of [
        [{}, 20],
        [{ limit: 1 }, 1],
        [{ limit: 21 }, 21],
        [{ limit: 100 }, 21],
      ] as const) {
        const page = await list(query, own.headers);
        assert.equal(page.merchants.length, length);
        assert.equal(page.totalCount, 21);
        assert.equal(page.nextCursor === null, length === 21);
      }
      for (const limit of ['0', '101', '-1', '1.5', '1e1', '0x10', 'many', '', '+5', '%205', '99999999999999999999']) {
        const refused = await gateway.call({ url: `/v1/merchants?limit=${limit}`, headers: own.headers });
        assert.equal(refused.statusCode, 400, limit);
        assert.equal(refused.json().code, 'params_validation');
        assert.deepEqual(fieldsOf(refused.json()), ['limit']);
      }
    });

    it('are an empty page for a partner without any', async () => {
      const { headers: own } = await createTestPartner(gateway);
      assert.deepEqual(await list({}, own), { merchants: [], totalCount: 0, nextCursor: null });
      assert.deepEqual(await list({ search: 'x' }, own), { merchants: [], totalCount: 0, nextCursor: null });
    });

    it('are filtered by status', async () => {
      const { headers: own } = await createTestPartner(gateway);
      for (const status of ['active', 'inactive', 'suspended'] as const) {
        const { id } = await createTestMerchant(gateway, own, { merchantName: `The ${status} one` });
        await setStatus(id, status);
      }
      for (const status of ['active', 'inactive', 'suspended']) {
        const page = await list({ status }, own);
        assert.deepEqual(namesOf(page), [`The ${status} one`]);
        assert.equal(page.merchants[0]?.status, status);
        assert.equal(page.totalCount, 1);
      }
      assert.equal((await list({ status: 'suspended', search: 'active' }, own)).totalCount, 0);
      const refused = await gateway.call({ url: '/v1/merchants?status=deleted', headers: own });
      assert.equal(refused.json().code, 'params_validation');
      assert.match(refused.json().issues[0].message, /active, inactive, suspended/);
    });

    it('are searched by name and id, without case, and with nothing but text in the text', async () => {
      const { headers: own } = await createTestPartner(gateway);
      const names = ['100% Kaffee', '100 Kaffee', 'a_b', 'axb', 'back\\slash', 'CAFÉ ZOË', '🍩 Donuts', 'محل القهوة'];
      const ids: string[] = [];
      for (const merchantName of names) ids.push((await createTestMerchant(gateway, own, { merchantName })).id);
      for (const [search, found] of [
        ['KAFFEE', ['100 Kaffee', '100% Kaffee']],
        ['100%', ['100% Kaffee']],
        ['%', ['100% Kaffee']],
        ['a_b', ['a_b']],
        // Every id has an underscore; that of a name must not stand for any other character.
        ['_b', ['a_b']],
        ['\\', ['back\\slash']],
        ['K\\SL', ['back\\slash']],
        ['café zoë', ['CAFÉ ZOË']],
        ['🍩', ['🍩 Donuts']],
        ['القهوة', ['محل القهوة']],
        [ids[3]?.toLowerCase(), ['axb']],
        [ids[3]?.slice(-8), ['axb']],
        ['mrch_', names.toReversed()],
        ["'; drop table merchants; --", []],
        ['slashmrch', []],
        ['nobody', []],
      ] as const) {
        const page = await list({ search: search ?? '' }, own);
        assert.deepEqual(namesOf(page), found, search);
        assert.equal(page.totalCount, found.length);
      }
      const first = await list({ search: 'kaffee', limit: 1 }, own);
      assert.equal(first.totalCount, 2);
      const second = await list({ search: 'kaffee', limit: 1, cursor: first.nextCursor ?? '' }, own);
      assert.deepEqual([namesOf(first), namesOf(second)], [['100 Kaffee'], ['100% Kaffee']]);
      assert.deepEqual([second.totalCount, second.nextCursor], [2, null]);
    });

    it('take a search of 1 to 256 characters, however many bytes those are', async () => {
      assert.equal((await list({ search: '🍩'.repeat(256) }, headers)).totalCount, 0);
      assert.equal((await list({ search: '🍩' }, headers)).totalCount, 0);
      for (const search of ['', '🍩'.repeat(257), 'a\u0000b', 'a\nb']) {
        const query = new URLSearchParams({ search });
        const refused = await gateway.call({ url: `/v1/merchants?${query}`, headers });
        assert.equal(refused.statusCode, 400, JSON.stringify(search));
        assert.deepEqual(fieldsOf(refused.json()), ['search']);
      }
    });

    it('refuse a cursor that was altered, is foreign, or belongs to another query', async () => {
      const [own, other] = [await createTestPartner(gateway), await createTestPartner(gateway)];
      for (const { headers: as } of [own, other]) {
        for (let count = 0; count < 3; count += 1) await createTestMerchant(gateway, as);
      }
      const cursorOf = async (query: Query, as: Headers) => (await list({ ...query, limit: 1 }, as)).nextCursor ?? '';
      const cursor = await cursorOf({}, own.headers);
      assert.equal((await list({ cursor, limit: 2 }, own.headers)).merchants.length, 2, 'another limit is fine');

      const elsewhere = await startTestGateway();
      const stranger = await createTestPartner(elsewhere);
      for (let count = 0; count < 2; count += 1) await createTestMerchant(elsewhere, stranger.headers);
      const strange = await elsewhere.call({ url: '/v1/merchants?limit=1', headers: stranger.headers });
      await elsewhere.stop();

      const altered = [...cursor].map(
        (letter, index) => cursor.slice(0, index) + (letter === 'A' ? 'B' : 'A') + cursor.slice(index + 1),
      );
      const unusable: [cursor: string, query: string][] = [
        ...[...altered, cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, 'A', 'x'.repeat(1024), '🍩', '[]'].map(
          (text): [string, string] => [text, ''],
        ),
        [await cursorOf({}, other.headers), ''],
        [strange.json().nextCursor, ''],
        [await cursorOf({ search: 'shop' }, own.headers), ''],
        [await cursorOf({ search: 'shop' }, own.headers), '&search=sho'],
        [await cursorOf({ status: 'active' }, own.headers), '&status=inactive'],
        [cursor, '&status=active'],
        [cursor, '&search=shop'],
      ];
      for (const [text, query] of unusable) {
        const url = `/v1/merchants?cursor=${encodeURIComponent(text)}${query}`;
        const refused = await gateway.call({ url, headers: own.headers });
        assert.equal(refused.statusCode, 400, url);
        assert.equal(refused.json().code, 'invalid_params');
      }
    });
  });

  describe('that are deleted', () => {
    it('are hidden from lists and counts, and their rows are kept', async () => {
      const { headers: own } = await createTestPartner(gateway);
      const [gone, kept] = [await createTestMerchant(gateway, own), await createTestMerchant(gateway, own)];
      await gateway.call({ method: 'DELETE', url: `/v1/merchants/${gone.id}`, headers: own });
      for (const query of [{}, { search: 'shop' }, { search: gone.id }, { status: 'active' }]) {
        const { merchants, totalCount } = await list(query, own);
        const expected = query.search === gone.id ? [] : [kept.id];
        assert.deepEqual([merchants.map(({ id }) => id), totalCount], [expected, expected.length]);
      }
      const [row] = await gateway.db.sql`select name, deleted_at from merchants where id = ${gone.id}`;
      assert.equal(row?.name, gone.name);
      assert.ok(row?.deleted_at instanceof Date);
    });

    it('answer 404 on every route but DELETE', async () => {
      const { headers: own } = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, own);
      await gateway.call({ method: 'DELETE', url: `/v1/merchants/${id}`, headers: own });
      for (const { method, url, payload } of routesOf(id)) {
        const response = await gateway.call({
          method,
          url,
          payload,
          headers: { ...own, 'idempotency-key': freshKey() },
        });
        if (method === 'DELETE' && url === `/v1/merchants/${id}`) {
          assert.deepEqual(response.json(), { id, deleted: true });
        } else {
          assert.equal(response.statusCode, 404, `${method} ${url}`);
          assert.equal(response.json().code, 'merchant_not_found');
        }
      }
    });
  });

  it('are changed only when something is to be changed', async () => {
    const { id } = await createTestMerchant(gateway, headers);
    const url = `/v1/merchants/${id}`;
    for (const payload of [{}, { name: 'Wrong member' }, { status: 'suspended', id: 'mrch_other' }]) {
      const refused = await gateway.call({ method: 'PATCH', url, headers, payload });
      assert.equal(refused.statusCode, 400);
      assert.equal(refused.json().code, 'params_validation');
      assert.deepEqual(refused.json().issues, [
        { field: 'body', message: 'must have at least one of merchantName, merchantEmail, iconUrl, acceptedAssets' },
      ]);
    }
    const payload = { merchantEmail: 'new@example.com', status: 'suspended', id: 'mrch_other' };
    const changed = await gateway.call({ method: 'PATCH', url, headers, payload });
    const { status, email, id: sameId } = changed.json().merchant;
    assert.deepEqual([sameId, status, email], [id, 'active', 'new@example.com'], 'unknown members change nothing');
  });

  describe('of someone else', () => {
    it('are 404 on every route, for another partner and for the other mode', async () => {
      const owner = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, owner.headers);
      const stranger = await createTestPartner(gateway);
      const live = await createTestKey(gateway, owner.partner.id, { mode: 'live' });
      for (const as of [stranger.headers, { 'api-key': live.secret }]) {
        for (const { method, url, payload } of routesOf(id)) {
          const response = await gateway.call({
            method,
            url,
            payload,
            headers: { ...as, 'idempotency-key': freshKey() },
          });
          assert.equal(response.statusCode, 404, `${method} ${url}`);
          assert.equal(response.json().code, 'merchant_not_found');
        }
        assert.equal((await list({}, as)).totalCount, 0);
        assert.equal((await list({ search: id }, as)).totalCount, 0);
      }
      const untouched = await gateway.call({ url: `/v1/merchants/${id}`, headers: owner.headers });
      assert.equal(untouched.json().merchant.name, 'Test shop');
    });

    it('are 404 when unknown', async () => {
      for (const id of [
        'mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
        'x',
        "'%20or%201=1--",
        '%00',
        '%F0%9F%8D%A9',
        'm'.repeat(300),
      ]) {
        for (const { method, url, payload } of routesOf(id)) {
          const response = await gateway.call({
            method,
            url,
            payload,
            headers: { ...headers, 'idempotency-key': freshKey() },
          });
          assert.equal(response.statusCode, 404, `${method} ${url}`);
          assert.equal(response.json().code, 'merchant_not_found');
        }
      }
    });
  });

  it('outside a restricted key answer 403, are left out of its lists, and none can be made with it', async () => {
    const { partner, headers: own } = await createTestPartner(gateway);
    const [mine, other] = [await createTestMerchant(gateway, own), await createTestMerchant(gateway, own)];
    const { secret } = await createTestKey(gateway, partner.id, { key: { merchantIds: [mine.id] } });
    const restricted = { 'api-key': secret };

    for (const { method, url, payload } of routesOf(other.id)) {
      const response = await gateway.call({
        method,
        url,
        payload,
        headers: { ...restricted, 'idempotency-key': freshKey() },
      });
      assert.equal(response.statusCode, 403, `${method} ${url}`);
      assert.equal(response.json().code, 'forbidden');
    }
    const { merchants, totalCount } = await list({}, restricted);
    assert.deepEqual([merchants.map(({ id }) => id), totalCount], [[mine.id], 1]);
    assert.equal((await list({ search: other.id }, restricted)).totalCount, 0);
    assert.equal((await gateway.call({ url: `/v1/merchants/${mine.id}`, headers: restricted })).statusCode, 200);

    const refused = await gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...restricted, 'idempotency-key': freshKey() },
      payload: { merchantName: 'New', merchantEmail: 'new@example.com' },
    });
    assert.equal(refused.statusCode, 403);
    assert.equal(refused.json().code, 'forbidden');
    assert.equal((await list({}, own)).totalCount, 2);
  });

  describe('have fields with rules', () => {
    const GOOD = { merchantName: 'Shop', merchantEmail: 'shop@example.com' };
    const good: [field: string, values: unknown[]][] = [
      [
        'merchantName',
        ['x', '🍩'.repeat(256), 'مقهى ‮', "Robert'); drop table merchants;--", '<b>&amp;</b>', ' padded '],
      ],
      ['merchantEmail', ['a@b.co', "o'neil+tag@sub.example.co.uk", `${'a'.repeat(242)}@example.com`]],
      ['iconUrl', [null, 'https://example.com', 'https://例え.jp/ロゴ.png', 'https://example.com/a.png?b=c#d']],
    ];
    const bad: [field: string, values: unknown[]][] = [
      [
        'merchantName',
        [undefined, null, '', ' ', '\u2003\t', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(257), 5, true, {}, ['x']],
      ],
      [
        'merchantEmail',
        [undefined, null, '', 'a', 'a@b', '@example.com', 'a b@example.com', '.a@example.com', 'a..b@example.com'],
      ],
      ['merchantEmail', ['a@-.com', 'a@example.c', 'ä@example.com', `${'a'.repeat(243)}@example.com`, 7, ['a@b.co']]],
      [
        'iconUrl',
        [
          '',
          'http://example.com/a.png',
          'ftp://example.com',
          '//example.com',
          'example.com',
          'https://',
          'HTTPS',
          'data:,x',
        ],
      ],
      [
        'iconUrl',
        [
          'javascript:alert(1)',
          'https://a b.com',
          'https://[',
          'https://u:p@example.com/',
          'https://u@example.com/',
          3,
        ],
      ],
      ['iconUrl', [`https://example.com/${'x'.repeat(2048)}`, 'https://exa\u0000mple.com', false, {}]],
    ];

    it('accept valid values, and return them unchanged', async () => {
      for (const [field, values] of good) {
        for (const value of values) {
          const merchant = await createTestMerchant(gateway, headers, { [field]: value });
          const read = await gateway.call({ url: `/v1/merchants/${merchant.id}`, headers });
          const stored = { merchantName: 'name', merchantEmail: 'email', iconUrl: 'iconUrl' }[field] ?? '';
          assert.equal(read.json().merchant[stored], value);
        }
      }
    });

    it('refuse invalid values, by name, on POST and on PATCH', async () => {
      const { id } = await createTestMerchant(gateway, headers);
      for (const [field, values] of bad) {
        for (const value of values) {
          const created = await gateway.call({
            method: 'POST',
            url: '/v1/merchants',
            headers: { ...headers, 'idempotency-key': freshKey() },
            payload: { ...GOOD, [field]: value },
          });
          const patch = { ...(value === undefined ? {} : { [field]: value }) };
          const changed = await gateway.call({
            method: 'PATCH',
            url: `/v1/merchants/${id}`,
            headers,
            payload: patch,
          });
          for (const refused of [created, ...(value === undefined ? [] : [changed])]) {
            assert.equal(refused.statusCode, 400, `${field}: ${JSON.stringify(value)} ${refused.body}`);
            assert.equal(refused.json().code, 'params_validation');
            assert.deepEqual(fieldsOf(refused.json()), [field]);
          }
        }
      }
    });

    it('are all named when several are broken, whatever is wrong with each', async () => {
      const payload = { merchantName: '', merchantEmail: 'nobody', iconUrl: 'https://user:secret@example.com/' };
      const refused = await gateway.call({
        method: 'POST',
        url: '/v1/merchants',
        headers: { ...headers, 'idempotency-key': freshKey() },
        payload,
      });
      assert.deepEqual(fieldsOf(refused.json()), ['merchantName', 'merchantEmail', 'iconUrl']);
      assert.ok(!refused.body.includes('secret'), 'what was sent is not repeated');
      for (const field of ['merchantName', 'merchantEmail', 'iconUrl'])
        assert.match(refused.json().message, new RegExp(field));
    });
  });
});

/** Every route about one merchant, called in a way that would succeed. */
function routesOf(id: string) {
  const asset = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  const destination = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const crypto = `/v1/merchants/${id}/settlements/crypto`;
  return [
    { method: 'GET', url: `/v1/merchants/${id}`, payload: undefined },
    { method: 'PATCH', url: `/v1/merchants/${id}`, payload: { merchantName: 'Mine now' } },
    { method: 'GET', url: `/v1/merchants/${id}/branding`, payload: undefined },
    { method: 'PATCH', url: `/v1/merchants/${id}/branding`, payload: { poweredBy: false } },
    { method: 'GET', url: `/v1/merchants/${id}/currencies`, payload: undefined },
    { method: 'GET', url: `/v1/merchants/${id}/settlements`, payload: undefined },
    { method: 'POST', url: crypto, payload: { settlements: [{ asset, destination }] } },
    { method: 'PUT', url: `${crypto}/crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6`, payload: { destination } },
    { method: 'DELETE', url: `${crypto}/crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6`, payload: undefined },
    { method: 'DELETE', url: `/v1/merchants/${id}`, payload: undefined },
  ] as const;
}

function fieldsOf({ issues }: { issues: readonly { field: string }[] }): string[] {
  return issues.map(({ field }) => field);
}
