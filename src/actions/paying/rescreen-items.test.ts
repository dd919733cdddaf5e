import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../../../test/gateway.ts';
import { itemKeyOf } from '../../domain/item.ts';
import type { Screening } from '../../screening/screening.ts';
import { findItems } from '../../store/chain/items.ts';
import { listEvents } from '../../store/events/events.ts';
import { listAlerts } from '../../store/plumbing/alerts.ts';
import { command } from '../command.ts';
import { createRescreener } from './rescreen-items.ts';
import { screenPaid } from './screen-paid.ts';

const NETWORK = 'eip155:31337';

/** Screens by whatever is listed now. */
function changingList() {
  const state = { version: 'one', accounts: [] as readonly string[] };
  const screening: Screening = {
    decide: (asked) => ({
      hits: asked.filter((account) => state.accounts.includes(account)),
      list: { hash: `hash of ${state.version}`, version: state.version, date: '2026-03-01' },
    }),
  };
  return { state, screening };
}

let count = 0;
/** An address nobody else uses. */
function freshAddress(): string {
  count += 1;
  return `0x${count.toString(16).padStart(40, '0')}`;
}

describe('screening again', () => {
  let gateway: TestGateway;
  let create: () => Promise<string>;
  before(async () => {
    gateway = await startTestGateway();
    const { headers } = await createTestPartner(gateway);
    const merchant = await createTestMerchant(gateway, headers);
    create = async () => {
      const response = await gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: { ...headers, 'merchant-id': merchant.id, 'idempotency-key': freshKey() },
        payload: { referenceId: freshKey(), amount: { unit: 'iso4217/USD', value: '1000' } },
      });
      assert.equal(response.statusCode, 201, response.body);
      return response.json().paymentId;
    };
  });
  after(() => gateway.stop());

  /** A payment that is being paid: its item is due, or in a transaction already. */
  async function underWay({ isSent = false } = {}) {
    const paymentId = await create();
    const payer = freshAddress();
    const key = itemKeyOf({ network: NETWORK, commitment: `commitment of ${paymentId}` });
    const asset = `${NETWORK}/slip44:60`;
    const account = `${NETWORK}:${payer}`;
    const nowMs = gateway.world.clock.nowMs();
    const item = {
      ...({ network: NETWORK, asset, method: 'permit2', subject: paymentId, payer } as const),
      ...{ collector: freshAddress(), recipient: freshAddress(), feeAccount: freshAddress(), amount: 10n, fee: 0n },
      deadlineS: Math.floor(nowMs / 1000) + 600,
    };
    const accepted = {
      ...({ key, item, account, quote: null, buyerName: 'Wallet', buyerIcon: null, state: 'due' } as const),
      ...{ signature: '0x01', hasCode: false, resultsHash: null, hintedHash: null },
    };
    const moved = await gateway.movePayment({
      paymentId,
      event: {
        type: 'confirmed',
        buyer: { account, name: 'Wallet', icon: null },
        token: { asset, value: 10n },
        isNative: false,
      },
      actor: 'test',
      evidence: {},
      items: { accepted: [accepted] },
    });
    assert.ok(moved.ok);
    if (isSent) await command(gateway, (tx) => tx`update items set state = 'sent' where commitment = ${key}`);
    return { paymentId, account, key };
  }

  const statusOf = async (paymentId: string) => (await gateway.readPayment(paymentId))?.status;
  const alertsOf = async (paymentId: string) =>
    (await listAlerts(gateway.db.sql)).filter(({ subject }) => subject === paymentId);

  it('declines only unsent items of payers on the new list, and destroys their signatures', async () => {
    const { state, screening } = changingList();
    const [bad, good] = [await underWay(), await underWay()];
    const run = createRescreener({ ...gateway, screening });
    assert.equal(await run(), false);
    assert.equal(await statusOf(bad.paymentId), 'processing');

    Object.assign(state, { version: 'two', accounts: [bad.account] });
    assert.equal(await run(), false);
    const payment = await gateway.readPayment(bad.paymentId);
    assert.deepEqual([payment?.status, payment?.failureCode], ['failed', 'declined_user']);
    const [item] = await findItems(gateway.db.sql, [bad.key]);
    assert.deepEqual([item?.state, item?.signature], ['unpaid', null]);
    assert.equal(await statusOf(good.paymentId), 'processing');
    assert.deepEqual(await alertsOf(bad.paymentId), []);
  });

  it('keeps the list it went by as evidence', async () => {
    const { state, screening } = changingList();
    const { paymentId, account } = await underWay();
    Object.assign(state, { accounts: [account] });
    await createRescreener({ ...gateway, screening })();
    const events = await listEvents(gateway.db.sql, paymentId);
    const { actor, evidence } = events.at(-1) ?? {};
    assert.deepEqual({ actor, evidence }, { actor: 'screening', evidence: { screening: screening.decide([]).list } });
  });

  it('leaves items that may have been broadcast to the chain, and raises an alert', async () => {
    const { state, screening } = changingList();
    const { paymentId, account } = await underWay({ isSent: true });
    Object.assign(state, { accounts: [account] });
    await createRescreener({ ...gateway, screening })();
    assert.equal(await statusOf(paymentId), 'processing');
    const [alert] = await alertsOf(paymentId);
    assert.equal(alert?.name, 'screened_payer');
    assert.match(alert?.message ?? '', /list one of 2026-03-01, and was found too late/);
  });

  it('looks once for each list, and once after a start', async () => {
    const { state, screening } = changingList();
    const { paymentId, account } = await underWay();
    const run = createRescreener({ ...gateway, screening });
    await run();
    // A list never changes without changing its hash: this one stands for whatever was accepted by the list since.
    state.accounts = [account];
    await run();
    assert.equal(await statusOf(paymentId), 'processing');
    await createRescreener({ ...gateway, screening })();
    assert.equal(await statusOf(paymentId), 'failed');
  });

  it('does nothing where nothing is screened', async () => {
    const { paymentId } = await underWay();
    assert.equal(
      await createRescreener({ ...gateway, screening: { decide: () => ({ hits: [], list: null }) } })(),
      false,
    );
    assert.equal(await statusOf(paymentId), 'processing');
  });

  it('flags a payer who has paid already, and alerts', async () => {
    const { state, screening } = changingList();
    const { paymentId, account } = await underWay({ isSent: true });
    assert.deepEqual(await screenPaid({ ...gateway, screening }, { paymentId, account }), {});
    assert.deepEqual(await alertsOf(paymentId), []);
    Object.assign(state, { accounts: [account] });
    const flag = await screenPaid({ ...gateway, screening }, { paymentId, account });
    assert.deepEqual(flag, { screenedPayer: screening.decide([]).list });
    assert.deepEqual(
      (await alertsOf(paymentId)).map(({ name }) => name),
      ['screened_payer'],
    );
  });
});
