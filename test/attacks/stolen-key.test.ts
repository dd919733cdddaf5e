import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { applyCooledOff, vetoDestination } from '../../src/actions/parties/cool-off-destinations.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { listEvents } from '../../src/store/events/events.ts';
import {
  DESTINATION,
  EURC,
  INTERMEDIATE,
  openPayingShop,
  type PayingShop,
  refusal,
  SANDBOX,
  USDC,
} from '../e2e/paying-shop.ts';
import { freshKey } from '../gateway.ts';

const HOURS = 24;
const HOUR_MS = 3_600_000;
const OWN = `${SANDBOX}:${DESTINATION}`;
const THIEF_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const THIEF = `${SANDBOX}:${THIEF_ADDRESS}`;
const OTHER = `${SANDBOX}:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359`;
const BY = { actor: 'operator:alice (self-declared)', reason: 'not ordered by the merchant' };

interface Settlement {
  readonly id: string;
  readonly asset: string;
  readonly destination: string;
  readonly pendingDestination?: string;
  readonly effectiveAt?: string;
}

describe('a thief with a stolen API key', () => {
  let paying: PayingShop;
  beforeEach(async () => {
    paying = await openPayingShop({ config: { coolingOffHours: HOURS } });
  });
  afterEach(() => paying.gateway.stop());

  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path = '', payload?: object) =>
    paying.gateway.call({
      method,
      url: `/v1/merchants/${paying.shop.merchant.id}/settlements${path}`,
      headers: { ...paying.shop.headers, ...(method === 'POST' && { 'idempotency-key': freshKey() }) },
      ...(payload && { payload }),
    });
  async function register(destination: string, asset = USDC): Promise<Settlement> {
    const response = await call('POST', '/crypto', { settlements: [{ asset, destination }] });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().settlements[0];
  }
  async function change(id: string, destination: string): Promise<Settlement> {
    const response = await call('PUT', `/crypto/${id}`, { destination });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }
  const remove = async (id: string) => assert.equal((await call('DELETE', `/crypto/${id}`)).statusCode, 200);
  const listed = async (): Promise<Settlement[]> => (await call('GET')).json().crypto;
  /** Time passes, and the job that applies changes runs. */
  async function pass(ms: number) {
    await paying.time.advance(ms);
    await applyCooledOff(paying.gateway);
  }
  const inHours = (hours: number) => new Date(paying.time.clock.nowMs() + hours * HOUR_MS).toISOString();
  const typesOf = async (id: string) =>
    (await listEvents(paying.gateway.db.sql, id)).map(({ type }) => type.split('.')[1]);

  /** The account that a new payment pays to. */
  async function paysTo(asset = USDC): Promise<string> {
    const payer = paying.newPayer({ [asset]: 10n ** 9n });
    const id = await paying.created({ amount: { unit: 'iso4217/USD', value: '100' } });
    const option = await paying.wallet.option(id, payer.account, asset);
    const [action] = (await paying.wallet.fetch(id, option.id)).json().actions;
    const confirmed = await paying.wallet.confirm(id, option.id, [
      { type: 'walletRpc', data: [await payer.carryOut(action.data)] },
    ]);
    assert.equal(confirmed.statusCode, 200, confirmed.body);
    return (await paying.items(id))[0]?.recipient ?? '';
  }
  /** The accounts that held money would be paid out to now. */
  async function heldGoesTo(): Promise<string[]> {
    const rows = await paying.gateway.db.sql<{ destination: string }[]>`
      select destination from crypto_settlements
      where held_from <= ${new Date(paying.time.clock.nowMs())}`;
    return rows.map(({ destination }) => destination);
  }

  it('redirects nothing at once by a change: the old destination stays in force until the period is over', async () => {
    const { id } = await register(OWN);
    await pass(HOURS * HOUR_MS);
    const asked = await change(id, THIEF);
    const pending = { id, asset: USDC, destination: OWN, pendingDestination: THIEF, effectiveAt: inHours(HOURS) };
    assert.deepEqual(asked, pending);
    assert.deepEqual(await listed(), [pending]);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [DESTINATION, [OWN]]);
    await pass(HOURS * HOUR_MS - 1_000);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [DESTINATION, [OWN]]);
    assert.deepEqual(await typesOf(id), ['changed', 'pending']);
    await pass(1_000);
    assert.deepEqual(await listed(), [{ id, asset: USDC, destination: THIEF }]);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [THIEF_ADDRESS, [THIEF]]);
    assert.deepEqual(await typesOf(id), ['changed', 'pending', 'changed']);
  });

  it('redirects nothing at once by removing the destination and adding another', async () => {
    const old = await register(OWN);
    await pass(HOURS * HOUR_MS);
    await remove(old.id);
    assert.equal(await paysTo(), INTERMEDIATE, 'without a destination the operator holds the money');
    const added = await register(THIEF);
    assert.deepEqual(added, {
      id: added.id,
      asset: USDC,
      destination: OWN,
      pendingDestination: THIEF,
      effectiveAt: inHours(HOURS),
    });
    assert.deepEqual(await typesOf(added.id), ['changed', 'pending']);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [DESTINATION, [OWN]]);
    await remove(added.id);
    await change((await register(OTHER)).id, THIEF);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [DESTINATION, [OWN]], 'however often');
    await pass(HOURS * HOUR_MS);
    assert.equal(await paysTo(), THIEF_ADDRESS);
  });

  it('gets no held money at once by a first destination, which takes new payments', async () => {
    const { id } = await register(THIEF);
    assert.deepEqual([await paysTo(), await heldGoesTo()], [THIEF_ADDRESS, []]);
    await remove(id);
    await register(THIEF);
    assert.deepEqual(await heldGoesTo(), [], 'adding it again does not hurry it');
    await pass(HOURS * HOUR_MS);
    assert.deepEqual(await heldGoesTo(), [THIEF]);
  });

  it('is vetoed by the operator, and by the owner who asks for the old destination', async () => {
    const { id } = await register(OWN);
    await change(id, THIEF);
    await vetoDestination(paying.gateway, { settlementId: id, ...BY });
    assert.deepEqual(await listed(), [{ id, asset: USDC, destination: OWN }]);
    await change(id, THIEF);
    await change(id, OWN);
    assert.deepEqual(await listed(), [{ id, asset: USDC, destination: OWN }]);
    assert.deepEqual(await typesOf(id), ['changed', 'pending', 'vetoed', 'pending', 'vetoed']);
    await pass(2 * HOURS * HOUR_MS);
    assert.equal(await paysTo(), DESTINATION);
    await assert.rejects(vetoDestination(paying.gateway, { settlementId: id, ...BY }), /No change .* cools off/);
    const [entry] = await paying.gateway.db.sql<{ actor: string; detail: { vetoed: string; reason: string } }[]>`
      select actor, detail from audit_log where action = 'settlement.vetoed' order by id limit 1`;
    assert.deepEqual([entry?.actor, entry?.detail.vetoed, entry?.detail.reason], [BY.actor, THIEF, BY.reason]);
  });

  it('starts the period anew with another destination, and not with the same one', async () => {
    const { id } = await register(OWN);
    const { effectiveAt } = await change(id, THIEF);
    await pass(HOUR_MS);
    assert.equal((await change(id, THIEF)).effectiveAt, effectiveAt);
    assert.equal((await change(id, OTHER)).effectiveAt, inHours(HOURS));
    await pass((HOURS - 1) * HOUR_MS);
    assert.equal(await paysTo(), DESTINATION);
  });

  it('gains nothing by waiting for the end of a freeze: the change waits too, and can still be vetoed', async () => {
    const { id } = await register(OWN);
    await change(id, THIEF);
    const merchant = { scope: 'merchant', subject: paying.shop.merchant.id, ...BY } as const;
    await freeze(paying.gateway, merchant);
    await pass(2 * HOURS * HOUR_MS);
    assert.deepEqual(await refusal(call('PUT', `/crypto/${id}`, { destination: OTHER })), [403, 'forbidden']);
    assert.equal((await listed())[0]?.destination, OWN);
    await vetoDestination(paying.gateway, { settlementId: id, ...BY });
    await unfreeze(paying.gateway, merchant);
    await pass(5_000);
    assert.equal(await paysTo(), DESTINATION);
  });

  it('waits for each asset by itself', async () => {
    await register(OWN);
    assert.equal((await register(THIEF, EURC)).pendingDestination, undefined);
    assert.deepEqual((await listed()).map(({ destination }) => destination).toSorted(), [OWN, THIEF].toSorted());
  });
});

describe('a change of a destination in the sandbox', () => {
  it('applies at once', async () => {
    const paying = await openPayingShop();
    try {
      const url = `/v1/merchants/${paying.shop.merchant.id}/settlements/crypto`;
      const headers = { ...paying.shop.headers, 'idempotency-key': freshKey() };
      const payload = { settlements: [{ asset: USDC, destination: OWN }] };
      const [{ id }] = (await paying.gateway.call({ method: 'POST', url, headers, payload })).json().settlements;
      const changed = await paying.gateway.call({
        method: 'PUT',
        url: `${url}/${id}`,
        headers: paying.shop.headers,
        payload: { destination: OTHER },
      });
      assert.deepEqual(changed.json(), { id, asset: USDC, destination: OTHER });
    } finally {
      await paying.gateway.stop();
    }
  });
});
