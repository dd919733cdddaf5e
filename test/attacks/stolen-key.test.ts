import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { retryRefund } from '../../src/actions/outgoing/refund/retry-refund.ts';
import { vetoRefund } from '../../src/actions/outgoing/refund/veto-refund.ts';
import {
  changeDestination,
  registerSettlements,
  removeSettlement,
} from '../../src/actions/parties/change-destinations.ts';
import { createCoolOff, expelDestination, vetoDestination } from '../../src/actions/parties/cool-off-destinations.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { parseAccount, parseAsset } from '../../src/domain/caip.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { waitOf } from '../../src/domain/refund.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { findShownRefunds } from '../../src/store/money/refunds.ts';
import { listSettlements } from '../../src/store/parties/destinations.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
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
import { DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';
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
    const job = housekeepingJobs(paying.gateway).find(({ name }) => name === 'apply-destinations');
    assert.ok(job);
    await job.run();
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
  it('redirects nothing at once by a change: the old destination stays in force until the period is over', async () => {
    const { id } = await register(OWN);
    await pass(HOURS * HOUR_MS);
    const asked = await change(id, THIEF);
    const pending = { id, asset: USDC, destination: OWN, pendingDestination: THIEF, effectiveAt: inHours(HOURS) };
    assert.deepEqual(asked, pending);
    assert.deepEqual(await listed(), [pending]);
    assert.equal(await paysTo(), DESTINATION);
    await pass(HOURS * HOUR_MS - 1_000);
    assert.equal(await paysTo(), DESTINATION);
    assert.deepEqual(await typesOf(id), ['changed', 'pending']);
    await pass(1_000);
    assert.deepEqual(await listed(), [{ id, asset: USDC, destination: THIEF }]);
    assert.equal(await paysTo(), THIEF_ADDRESS);
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
    assert.equal(await paysTo(), DESTINATION);
    await remove(added.id);
    await change((await register(OTHER)).id, THIEF);
    assert.equal(await paysTo(), DESTINATION, 'however often');
    await pass(HOURS * HOUR_MS);
    assert.equal(await paysTo(), THIEF_ADDRESS);
  });

  it('takes new payments at once by a first destination alone', async () => {
    assert.deepEqual(Object.keys(await register(THIEF)).toSorted(), ['asset', 'destination', 'id']);
    assert.equal(await paysTo(), THIEF_ADDRESS);
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

describe('held money, when a thief has a stolen API key', () => {
  let scene: RefundScene;
  let node: TestNode;
  let own: string;
  let thief: string;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    own = scene.payers.newAccount();
    thief = scene.payers.newAccount();
  });
  afterEach(() => scene.close());

  const who = () => ({
    owner: { partnerId: 'prtn_test', mode: 'test' } as const,
    actor: 'key:stolen',
    merchantId: scene.merchantId,
    coolingOffMs: HOURS * HOUR_MS,
  });
  const account = (address: string) => {
    const parsed = parseAccount(`${scene.network}:${address}`);
    assert.ok(parsed.ok);
    return parsed.value;
  };
  async function register(address: string): Promise<string> {
    const asset = parseAsset(DOLLAR);
    assert.ok(asset.ok);
    const settlements = [{ asset: asset.value, destination: account(address) }];
    const request = {
      scope: { partnerId: 'prtn_test', mode: 'test', merchantId: scene.merchantId, route: 'test', key: freshKey() },
      meaning: address,
    } as const;
    await registerSettlements(scene, { ...who(), settlements }, request, (rows) => ({ status: 201, body: rows }));
    const { crypto } = await listSettlements(scene.db.sql, scene.merchantId);
    return crypto[0]?.id ?? '';
  }
  const change = (settlementId: string, address: string) =>
    changeDestination(scene, { ...who(), settlementId, destination: account(address) });
  const remove = (settlementId: string) => removeSettlement(scene, { ...who(), settlementId });
  /** Time passes, and all jobs run. */
  async function pass(ms: number) {
    scene.pass(ms);
    await createCoolOff(scene)();
    await scene.live(node);
  }
  const received = () => [own, thief].map((address) => scene.control.balanceOf(address, DOLLAR));

  it('waits for the period, also when the destination is the first one and is added again', async () => {
    await scene.paid(node, { isHeld: true });
    await remove(await register(thief));
    await pass(HOUR_MS);
    await register(thief);
    await pass((HOURS - 2) * HOUR_MS);
    assert.deepEqual(received(), [0n, 0n]);
    await pass(HOUR_MS);
    assert.deepEqual(received(), [0n, 990n]);
  });

  it('goes to the old destination until a change, or a removal and a new one, has cooled off', async () => {
    const id = await register(own);
    await pass(HOURS * HOUR_MS);
    await change(id, thief);
    await scene.paid(node, { isHeld: true });
    await pass(0);
    assert.deepEqual(received(), [990n, 0n]);
    await remove(id);
    await register(thief);
    await scene.paid(node, { isHeld: true });
    await pass((HOURS - 1) * HOUR_MS);
    assert.deepEqual(received(), [1_980n, 0n]);
    await pass(HOUR_MS);
    await scene.paid(node, { isHeld: true });
    await pass(0);
    assert.deepEqual(received(), [1_980n, 990n]);
  });

  it('is taken back from a destination that has cooled off, as long as nothing is signed', async () => {
    const id = await register(own);
    await change(id, thief);
    const merchant = { scope: 'merchant', subject: scene.merchantId, ...BY } as const;
    const payments = [await scene.paid(node, { isHeld: true }), await scene.paid(node, { isHeld: true })];
    scene.pass(HOURS * HOUR_MS);
    await createCoolOff(scene)();
    await payOutHeld(scene);
    await freeze(scene, merchant);
    await pass(0);
    await expelDestination(scene, { settlementId: id, ...BY });
    await unfreeze(scene, merchant);
    await pass(0);
    for (const payment of payments) assert.equal((await scene.payout(payment.id))?.state, 'held');
    await register(own);
    await pass(HOURS * HOUR_MS);
    assert.deepEqual(received(), [1_980n, 0n]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is not given away by refunds to the thief: they cool off, and the operator ends them', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.request(id, { destination: account(thief), coolingOffMs: HOURS * HOUR_MS });
    await pass((HOURS - 1) * HOUR_MS);
    assert.deepEqual(received(), [0n, 0n]);
    const refundId = refundIdOf(id, 1);
    const [shown] = await findShownRefunds(scene.db.sql, { paymentId: id, now: new Date(scene.nowMs()) });
    assert.equal(shown && waitOf(shown)?.what, 'cooling_off');
    await vetoRefund(scene, { id: refundId, reason: 'stolen key', actor: 'operator' });
    await pass(2 * HOUR_MS);
    assert.deepEqual(received(), [0n, 0n]);
    await assert.rejects(retryRefund(scene, { id: refundId, actor: 'operator' }), /vetoed, and cannot be retried/);
    // The merchant's money is there as before.
    await register(own);
    await pass(HOURS * HOUR_MS);
    assert.deepEqual(received(), [990n, 0n]);
    assert.deepEqual(await scene.differences(), []);
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
