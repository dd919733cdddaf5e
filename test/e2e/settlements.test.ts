import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { addFiatSettlement, removeFiatSettlement } from '../../src/actions/parties/keep-fiat.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const ETH = 'eip155:1/slip44:60';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const SOLANA_ACCOUNT = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OTHER_ADDRESS = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const on = (chain: string, address = ADDRESS) => `${chain}:${address}`;

interface Pair {
  readonly asset: unknown;
  readonly destination: unknown;
}

describe('settlement destinations', () => {
  let gateway: TestGateway;
  let partner: Awaited<ReturnType<typeof createTestPartner>>;
  let headers: Record<string, string>;
  let merchantId: string;
  before(async () => {
    gateway = await startTestGateway();
    partner = await createTestPartner(gateway);
    headers = partner.headers;
  });
  beforeEach(async () => {
    merchantId = (await createTestMerchant(gateway, headers)).id;
  });
  after(() => gateway.stop());

  const register = (settlements: unknown, key = freshKey(), as = headers, id = merchantId) =>
    gateway.call({
      method: 'POST',
      url: `/v1/merchants/${id}/settlements/crypto`,
      headers: { ...as, 'idempotency-key': key },
      payload: { settlements },
    });
  const change = (id: string, destination: unknown, of = merchantId) =>
    gateway.call({
      method: 'PUT',
      url: `/v1/merchants/${of}/settlements/crypto/${id}`,
      headers,
      payload: { destination },
    });
  const remove = (id: string, of = merchantId) =>
    gateway.call({ method: 'DELETE', url: `/v1/merchants/${of}/settlements/crypto/${id}`, headers });
  const listed = async (as = headers, id = merchantId) =>
    (await gateway.call({ url: `/v1/merchants/${id}/settlements`, headers: as })).json();
  async function registered(pair: Pair): Promise<{ id: string; asset: string; destination: string }> {
    const response = await register([pair]);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().settlements[0];
  }

  it('are registered, listed with the merchant, changed and removed', async () => {
    const response = await register([
      { asset: USDC, destination: on('eip155:8453') },
      { asset: ETH, destination: on('eip155:1') },
    ]);
    assert.equal(response.statusCode, 201);
    const { settlements } = response.json();
    assert.deepEqual(
      settlements.map(({ asset, destination }: Pair) => [asset, destination]),
      [
        [USDC, on('eip155:8453')],
        [ETH, on('eip155:1')],
      ],
    );
    for (const { id } of settlements) assert.match(id, /^crypto_[0-9A-HJKMNP-TV-Z]{26}$/);

    const [usdc, eth] = settlements;
    const changed = await change(usdc.id, on('eip155:8453', OTHER_ADDRESS));
    assert.deepEqual(changed.json(), { ...usdc, destination: on('eip155:8453', OTHER_ADDRESS) });
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    const expected = { crypto: [changed.json(), eth].sort(byId), fiat: [] };
    assert.deepEqual(await listed(), expected);
    const profile = await gateway.call({ url: `/v1/merchants/${merchantId}`, headers });
    assert.deepEqual(profile.json().merchant.settlements, expected);

    assert.deepEqual((await remove(usdc.id)).json(), { id: usdc.id, deleted: true });
    assert.deepEqual(await listed(), { crypto: [eth], fiat: [] });
    const repeated = await remove(usdc.id);
    assert.equal(repeated.statusCode, 404);
    assert.equal(repeated.json().code, 'invalid_params');
    assert.equal((await change(usdc.id, on('eip155:8453'))).json().code, 'invalid_params');
    assert.equal(
      (await register([{ asset: USDC, destination: on('eip155:8453') }])).statusCode,
      201,
      'it is free again',
    );
  });

  it('let the later of two people know what the earlier one has changed', async () => {
    const { id, destination } = await registered({ asset: USDC, destination: on('eip155:8453') });
    const changeSeen = (payload: object) =>
      gateway.call({ method: 'PUT', url: `/v1/merchants/${merchantId}/settlements/crypto/${id}`, headers, payload });
    const wanted = [on('eip155:8453', OTHER_ADDRESS), on('eip155:8453', `0x${'1'.repeat(40)}`)];
    const seen = { destination, pendingDestination: null };
    const both = await Promise.all(wanted.map((each) => changeSeen({ destination: each, ifUnchanged: seen })));
    const [accepted, refused] = both.sort((a, b) => a.statusCode - b.statusCode);
    assert.deepEqual([accepted?.statusCode, refused?.statusCode], [200, 409]);
    const current = { ...seen, destination: accepted?.json().destination };
    assert.deepEqual([refused?.json().code, refused?.json().details], ['invalid_state', { current }]);
    const other = { destination, ifUnchanged: { pendingDestination: wanted[0] } };
    assert.equal((await changeSeen(other)).statusCode, 409, 'the change that was pending is over');
    assert.equal((await changeSeen({ destination, ifUnchanged: current })).json().destination, destination);
  });

  it('take 1 to 50 at once', async () => {
    const pairs = Array.from({ length: 51 }, (_, index) => ({
      asset: `eip155:1/erc20:0x${(index + 1).toString(16).padStart(40, '0')}`,
      destination: on('eip155:1'),
    }));
    for (const wrong of [[], pairs]) {
      const refused = await register(wrong);
      assert.equal(refused.statusCode, 400);
      assert.equal(refused.json().code, 'params_validation');
      assert.deepEqual(fieldsOf(refused.json()), ['settlements']);
    }
    const all = await register(pairs.slice(0, 50));
    assert.equal(all.json().settlements.length, 50);
    assert.equal((await listed()).crypto.length, 50);
  });

  it('are one per asset: another one is refused, and so is everything that came with it', async () => {
    await registered({ asset: USDC, destination: on('eip155:8453') });
    const before = await listed();
    const refused = await register([
      { asset: ETH, destination: on('eip155:1') },
      { asset: USDC, destination: on('eip155:8453', OTHER_ADDRESS) },
    ]);
    assert.equal(refused.statusCode, 409);
    assert.equal(refused.json().code, 'invalid_state');
    assert.match(refused.json().message, new RegExp(USDC));
    assert.deepEqual(await listed(), before);
    const other = await createTestMerchant(gateway, headers);
    const elsewhere = await register([{ asset: USDC, destination: on('eip155:8453') }], freshKey(), headers, other.id);
    assert.equal(elsewhere.statusCode, 201, 'another merchant has its own');
  });

  it('of one asset that are sent at the same moment leave one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => register([{ asset: USDC, destination: on('eip155:8453') }])),
    );
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409, 409]);
    assert.equal((await listed()).crypto.length, 1);
  });

  it('compare EVM assets without case, and Solana assets exactly', async () => {
    const lower = USDC.toLowerCase();
    const upper = `eip155:8453/erc20:0x${USDC.slice(-40).toUpperCase()}`;
    assert.equal((await registered({ asset: lower, destination: on('eip155:8453') })).asset, USDC, 'checksummed');
    for (const asset of [USDC, lower, upper]) {
      const refused = await register([{ asset, destination: on('eip155:8453') }]);
      assert.equal(refused.statusCode, 409, asset);
      assert.equal(refused.json().code, 'invalid_state');
    }
    const twice = await register([
      { asset: `eip155:1/erc20:${OTHER_ADDRESS}`, destination: on('eip155:1') },
      { asset: `eip155:1/erc20:${OTHER_ADDRESS.toLowerCase()}`, destination: on('eip155:1') },
    ]);
    assert.equal(twice.statusCode, 400);
    assert.deepEqual(fieldsOf(twice.json()), ['settlements[1].asset']);

    const otherCase = MINT.replace('W', 'w');
    const destination = `${SOLANA}:${SOLANA_ACCOUNT}`;
    const both = await register([
      { asset: `${SOLANA}/token:${MINT}`, destination },
      { asset: `${SOLANA}/token:${otherCase}`, destination },
    ]);
    assert.equal(both.statusCode, 201, 'two mints');
    assert.equal((await register([{ asset: `${SOLANA}/token:${MINT}`, destination }])).statusCode, 409);
  });

  it('may be in any well-formed EVM or Solana asset, known to the gateway or not', async () => {
    const pairs = [
      { asset: 'eip155:999999/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a', destination: on('eip155:999999') },
      { asset: 'eip155:84532/slip44:60', destination: on('eip155:84532') },
      { asset: 'eip155:1/slip44:0', destination: on('eip155:1') },
      { asset: `${SOLANA}/slip44:501`, destination: `${SOLANA}:${SOLANA_ACCOUNT}` },
      { asset: `${SOLANA}/token:${MINT}`, destination: `${SOLANA}:${SOLANA_ACCOUNT}` },
    ];
    const response = await register(pairs);
    assert.equal(response.statusCode, 201);
    assert.equal((await listed()).crypto.length, pairs.length);
    const { notices } = response.json();
    assert.deepEqual(
      notices.map(({ asset }: Pair) => asset),
      pairs.map(({ asset }) => asset),
      'the answer says that no configured network has them',
    );
    assert.match(notices[0].message, /^No payment is offered in this asset/);
  });

  it('store EVM addresses with their checksum', async () => {
    const { id, destination } = await registered({
      asset: USDC,
      destination: on('eip155:8453', ADDRESS.toLowerCase()),
    });
    assert.equal(destination, on('eip155:8453', ADDRESS));
    const upper = `0x${OTHER_ADDRESS.slice(2).toUpperCase()}`;
    assert.equal((await change(id, on('eip155:8453', upper))).json().destination, on('eip155:8453', OTHER_ADDRESS));
    assert.equal((await listed()).crypto[0].destination, on('eip155:8453', OTHER_ADDRESS));
  });

  describe('are refused', () => {
    const wrongChecksum = ADDRESS.replace('aA', 'AA');
    const zero = `0x${'0'.repeat(40)}`;
    const badDestinations: [destination: unknown, message: RegExp][] = [
      [on('eip155:8453', wrongChecksum), /checksum/],
      [on('eip155:8453', zero), /all-zero/],
      [on('eip155:1'), /must be an account on eip155:8453/],
      [`${SOLANA}:${MINT}`, /must be an account on eip155:8453/],
      [on('eip155:08453'), /decimal/],
      [on('cosmos:cosmoshub-3'), /cosmos/],
      [on('EIP155:8453'), /CAIP-10/],
      [`eip155:8453:${MINT}`, /40 hexadecimal digits/],
      [on('eip155:8453', ADDRESS.slice(0, -1)), /40 hexadecimal digits/],
      [ADDRESS, /CAIP-10/],
      ['', /characters/],
      [`eip155:8453:0x${'a'.repeat(300)}`, /characters/],
      [null, /string/],
      [{ address: ADDRESS }, /string/],
      [undefined, /required/],
      ['eip155:8453:0x\u0000', /CAIP-10/],
      [`${on('eip155:8453')}\n`, /CAIP-10/],
    ];
    const badAssets: [asset: unknown, message: RegExp][] = [
      [`eip155:8453/erc20:${wrongChecksum}`, /checksum/],
      [`eip155:8453/erc20:${zero}`, /all-zero/],
      ['eip155:8453/slip44:060', /slip44/],
      ['eip155:8453/slip44:2147483648', /slip44/],
      [`eip155:8453/erc721:${ADDRESS}`, /erc721/],
      [`eip155:8453/token:${ADDRESS}`, /token/],
      [`eip155:0/erc20:${ADDRESS}`, /decimal/],
      ['cosmos:cosmoshub-3/slip44:118', /cosmos/],
      ['bip122:000000000019d6689c085ae165831e93/slip44:0', /bip122/],
      [`${SOLANA}/erc20:${ADDRESS}`, /erc20/],
      [`${SOLANA}/token:${MINT}1`, /32 bytes/],
      ['caip19/eip155:8453/slip44:60', /CAIP-19/],
      ['iso4217/USD', /CAIP-19/],
      [5, /string/],
      [undefined, /required/],
    ];

    it('when the destination is not an account on the chain of the asset', async () => {
      const { id } = await registered({ asset: USDC, destination: on('eip155:8453') });
      for (const [destination, message] of badDestinations) {
        const asset = 'eip155:8453/slip44:60';
        for (const [refused, field] of [
          [await register([{ asset, destination }]), 'settlements[0].destination'],
          [await change(id, destination), 'destination'],
        ] as const) {
          assert.equal(refused.statusCode, 400, `${destination}: ${refused.body}`);
          assert.equal(refused.json().code, 'params_validation');
          assert.deepEqual(fieldsOf(refused.json()), [field]);
          assert.match(refused.json().issues[0].message, message, String(destination));
        }
      }
      assert.equal((await listed()).crypto[0].destination, on('eip155:8453'));
      assert.equal((await listed()).crypto.length, 1);
    });

    it('when the asset is not one of an EVM or Solana chain', async () => {
      for (const [asset, message] of badAssets) {
        const refused = await register([{ asset, destination: on('eip155:8453') }]);
        assert.equal(refused.statusCode, 400, String(asset));
        assert.equal(refused.json().code, 'params_validation');
        assert.equal(fieldsOf(refused.json())[0], 'settlements[0].asset');
        assert.match(refused.json().issues[0].message, message, String(asset));
      }
      assert.deepEqual(await listed(), { crypto: [], fiat: [] });
    });

    it('with every broken field named, whatever is wrong with each', async () => {
      const refused = await register([
        { asset: USDC, destination: on('eip155:8453', zero) },
        { asset: 'nonsense' },
        { asset: `eip155:1/erc20:${wrongChecksum}`, destination: 7 },
        { asset: ETH, destination: on('eip155:1') },
        'not even an object',
      ]);
      assert.deepEqual(fieldsOf(refused.json()).sort(), [
        'settlements[0].destination',
        'settlements[1].asset',
        'settlements[1].destination',
        'settlements[2].asset',
        'settlements[2].destination',
        'settlements[4]',
      ]);
      const between = await register([
        { asset: USDC, destination: on('eip155:1') },
        { asset: ETH, destination: on('eip155:8453') },
        { asset: ETH, destination: on('eip155:1') },
      ]);
      assert.deepEqual(fieldsOf(between.json()), [
        'settlements[0].destination',
        'settlements[1].destination',
        'settlements[2].asset',
      ]);
      assert.deepEqual(await listed(), { crypto: [], fiat: [] });
    });

    it('when a live key names an asset of a test network', async () => {
      const { secret } = await createTestKey(gateway, partner.partner.id, { mode: 'live' });
      const live = { 'api-key': secret };
      const { id } = await createTestMerchant(gateway, live);
      const key = freshKey();
      for (const chain of ['eip155:84532', 'eip155:31337', 'eip155:11155111']) {
        const pairs = [
          { asset: USDC, destination: on('eip155:8453') },
          { asset: `${chain}/slip44:60`, destination: on(chain) },
        ];
        const refused = await register(pairs, key, live, id);
        assert.equal(refused.statusCode, 403, chain);
        assert.equal(refused.json().code, 'not_sandbox_api_key');
      }
      assert.deepEqual(await listed(live, id), { crypto: [], fiat: [] });
      const accepted = await register([{ asset: USDC, destination: on('eip155:8453') }], key, live, id);
      assert.equal(accepted.statusCode, 201, 'the refusals used up no key');
    });
  });

  it("answer 404 when they are another merchant's or unknown", async () => {
    const { id } = await registered({ asset: USDC, destination: on('eip155:8453') });
    const other = await createTestMerchant(gateway, headers);
    const nobodys = ['crypto_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'x', '%00', "'%20or%20true--", 'c'.repeat(300)];
    const targets = [[id, other.id] as const, ...nobodys.map((name) => [name, merchantId] as const)];
    for (const [settlementId, of] of targets) {
      for (const response of [await change(settlementId, on('eip155:8453'), of), await remove(settlementId, of)]) {
        assert.equal(response.statusCode, 404, settlementId);
        assert.equal(response.json().code, 'invalid_params');
      }
    }
    assert.equal((await listed()).crypto.length, 1);
  });

  it('in fiat are kept by the operator and listed to the partner', async () => {
    const record = { actor: 'operator', merchantId, bankType: 'ACH', status: 'active' } as const;
    const { id } = await addFiatSettlement(gateway, record);
    assert.match(id, /^fiat_/);
    const expected = { crypto: [], fiat: [{ id, status: 'active', bankType: 'ACH' }] };
    assert.deepEqual(await listed(), expected);
    const profile = await gateway.call({ url: `/v1/merchants/${merchantId}`, headers });
    assert.deepEqual(profile.json().merchant.settlements, expected);
    assert.equal((await remove(id)).statusCode, 404, 'a partner cannot remove them');
    await removeFiatSettlement(gateway, { actor: 'operator', settlementId: id });
    assert.deepEqual(await listed(), { crypto: [], fiat: [] });
  });

  it('leave an unchangeable audit trail', async () => {
    const { id } = await registered({ asset: USDC, destination: on('eip155:8453') });
    await change(id, on('eip155:8453', OTHER_ADDRESS));
    await remove(id);
    const { sql } = gateway.db;
    const rows = await sql`
      select actor, action, detail from audit_log where subject = ${merchantId} and action like 'settlement.%' order by id`;
    const actor = `key:${partner.key.id}`;
    const [before, after] = [on('eip155:8453'), on('eip155:8453', OTHER_ADDRESS)];
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { actor, action: 'settlement.registered', detail: { id, asset: USDC, destination: before } },
        { actor, action: 'settlement.changed', detail: { id, asset: USDC, before, after } },
        { actor, action: 'settlement.removed', detail: { id, asset: USDC, destination: after } },
      ],
    );
    await assert.rejects(sql`update audit_log set actor = 'somebody else'`, /never changed/);
    await assert.rejects(sql`delete from audit_log`, /never changed/);
    await assert.rejects(sql`truncate audit_log`, /never changed/);
  });
});

function fieldsOf({ issues }: { issues: readonly { field: string }[] }): string[] {
  return issues.map(({ field }) => field);
}
