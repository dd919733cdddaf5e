import assert from 'node:assert/strict';
import { createAlarms } from '../../src/actions/alarms.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { command } from '../../src/actions/command.ts';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { type RequestRefundInput, requestRefund } from '../../src/actions/outgoing/refund/request-refund.ts';
import { beginReturns } from '../../src/actions/outgoing/return/begin-returns.ts';
import { recordUnexpectedTransfers } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { putDestinations, writeDestination } from '../../src/actions/parties/destination-rows.ts';
import { parseAsset } from '../../src/domain/caip.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { firstPayoutOf } from '../../src/domain/money/money-out.ts';
import { findItemsOf } from '../../src/store/chain/items.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { listFloats } from '../../src/store/money/floats.ts';
import { deleteSpends, findLotsOf } from '../../src/store/money/lots.ts';
import { findOutgoing, findPayoutsOf } from '../../src/store/money/outgoing.ts';
import { findHeldMoney } from '../../src/store/money/payout-lists.ts';
import { findRefundsOf } from '../../src/store/money/refunds.ts';
import { listSettlements } from '../../src/store/parties/destinations.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import type { Tx } from '../../src/store/plumbing/database.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { coinOf } from '../registry.ts';
import { openRelayScene, type SceneInput, type TestNode } from './relay-scene.ts';

export type RefundScene = Awaited<ReturnType<typeof openRefundScene>>;

export const DOLLAR = SANDBOX_ASSETS['eip3009-vrs'];
export const TETHER = SANDBOX_ASSETS.permit2;
export const COIN = SANDBOX_ASSETS.native;

/** A scene with payouts of the intermediate account, whose workers run step by step. */
export async function openRefundScene(input: SceneInput = {}) {
  const base = await openRelayScene(input);
  const keyless = createAlarms(base, 'intermediate_key_missing');
  const scene = {
    ...base,
    keyless,
    refused: createAlarms(base, 'outgoing_refused'),
    limited: createAlarms(base, 'outgoing_limited'),
    disputed: createAlarms(base, 'endpoints_disagree'),
    hourlyLimit: input.hourlyLimit ?? (() => undefined),
    config: { signedRefundFees: 'keep' } as const,
  };
  const { connected, control, intermediate, merchantId, network, db } = scene;
  control.setAllowance(intermediate, TETHER, 2n ** 256n - 1n);

  const payOut = async () => {
    await coverRefunds(scene);
    await beginReturns(scene);
    await payOutHeld(scene);
    await beginOutgoing(scene, connected);
    await recordUnexpectedTransfers(scene, connected);
  };

  /** Transfers tokens from a stranger, in its own block; returns the hash. */
  function transfer({ from, to = intermediate, asset = DOLLAR, units }: TransferInput): string {
    control.setBalance(from, asset, control.balanceOf(from, asset) + units);
    control.setBalance(from, coinOf(network), 10n ** 18n);
    const word = (value: string) => value.slice(2).toLowerCase().padStart(64, '0');
    const data = `0xa9059cbb${word(to)}${word(`0x${units.toString(16)}`)}`;
    const token = asset.slice(asset.lastIndexOf(':') + 1);
    const hash = control.send({ method: 'eth_sendTransaction', params: [{ from, to: token, data }] });
    control.mine();
    return hash;
  }

  /** Sends coin from a stranger, by default to the intermediate account, in its own block; returns the hash. */
  function sendCoin(units: bigint, { from = scene.payers.newAccount(), to = intermediate } = {}): string {
    control.setBalance(from, COIN, 10n ** 18n);
    const params = [{ from, to, value: `0x${units.toString(16)}` }];
    const hash = control.send({ method: 'eth_sendTransaction', params });
    control.mine();
    return hash;
  }

  /** The id of the first payout of the money that paid a payment. */
  async function payoutIdOf(paymentId: string): Promise<string> {
    const lots = await findLotsOf(db.sql, [paymentId]);
    const lot = lots.find(({ isPaying }) => isPaying);
    if (lot === undefined) throw new Error('The payment has no lot that paid it.');
    return firstPayoutOf(lot.id);
  }

  /** Forgets a transfer out of our account, its entries, and the floats that it took. */
  async function forgetTransfer(id: string, more: (tx: Tx) => Promise<void>): Promise<void> {
    await command(scene, async (tx) => {
      for (const table of ['events', 'book_entries', 'float_changes']) {
        await tx.unsafe(`alter table ${table} disable trigger all`);
      }
      await tx`
        update floats f set units = f.units - c.units
        from (select owner, asset, sum(units) as units from float_changes where subject = ${id} group by owner, asset) c
        where c.owner = f.owner and c.asset = f.asset`;
      await tx`delete from float_changes where subject = ${id}`;
      await tx`delete from book_entries where reference = ${id}`;
      await tx`delete from events where object_id = ${id}`;
      await tx`delete from outgoing where id = ${id}`;
      await tx`delete from relay_items where commitment in (select commitment from items where subject = ${id})`;
      await tx`delete from items where subject = ${id}`;
      await more(tx);
      for (const table of ['events', 'book_entries', 'float_changes']) {
        await tx.unsafe(`alter table ${table} enable trigger all`);
      }
    });
  }

  return {
    ...scene,
    payOut,
    sendCoin,
    transfer,
    /** A payment that has succeeded; its item and its payer. */
    async paid(node: TestNode, ask: Parameters<typeof scene.accept>[0] = {}) {
      const accepted = await scene.accept(ask);
      await node.turn(2);
      if ((await scene.status(accepted.id)) !== 'succeeded') throw new Error('The payment was not paid.');
      return accepted;
    },
    /** Runs some blocks with all workers. */
    async live(node: TestNode, turns = 4) {
      for (let turn = 0; turn < turns; turn += 1) {
        await payOut();
        await node.turn();
      }
    },
    /** Requests a refund of all that is left, or of so much. */
    request: (
      paymentId: string,
      wish: Partial<Pick<RequestRefundInput, 'amount' | 'destination' | 'reason' | 'coolingOffMs'>> = {},
    ) =>
      requestRefund(
        scene,
        { ...wish, paymentId, merchantId, actor: 'test', isOperators: false },
        undefined,
        ({ refund }) => ({ status: 200, body: refund.id }),
      ),
    refunds: (paymentId: string) => findRefundsOf(db.sql, [paymentId]),
    async register(destination: string, asset = DOLLAR) {
      const parsed = parseAsset(asset);
      if (!parsed.ok) throw new Error(parsed.problem);
      const row = { id: `crypto_${destination}`, merchantId, asset, assetKey: parsed.value.key };
      await command(scene, (tx, now) => {
        const terms = termsOfNew(`${network}:${destination}`, undefined, { now, periodMs: 0 });
        return putDestinations(tx, scene, [{ ...row, ...terms, createdAt: now }]);
      });
    },
    /** Replaces the registered destination. */
    async redirect(destination: string, asset = DOLLAR) {
      const { crypto } = await listSettlements(db.sql, merchantId);
      const settlement = crypto.find((each) => each.asset === asset);
      assert.ok(settlement);
      const changed = { ...settlement, destination: `${network}:${destination}` };
      await command(scene, (tx, at) => writeDestination(tx, scene, changed, at));
    },
    /** A payment in coin that goes to the intermediate account. */
    offerHeld: () => scene.offer(undefined, { isHeld: true }),
    /** Fills a float by a transfer on chain. */
    async fill(node: TestNode, owner: string, units: bigint, asset = DOLLAR) {
      const transactionHash = transfer({ from: scene.payers.newAccount(), asset, units });
      control.mine(input.depth ?? 1);
      await node.watch();
      return addFloat(scene, { owner, asset, transactionHash, actor: 'test' });
    },
    /** Restores the database from before a refund, with its cover and its entries; the chain stays. */
    async forget(paymentId: string, number = 1) {
      const id = refundIdOf(paymentId, number);
      await forgetTransfer(id, async (tx) => {
        await tx`delete from refunds where id = ${id}`;
        await deleteSpends(tx, id);
      });
    },
    /** The same for the return of late money. */
    async forgetReturn(id: string) {
      await forgetTransfer(id, async (tx) => {
        await deleteSpends(tx, id);
        await tx`
          update strays set state = 'unclaimed', recipient = null, requested_at = null, send_after = null, mac = null
          where id = ${id}`;
      });
    },
    /** The same for the payout of a payment. */
    async forgetPayout(paymentId: string) {
      const id = await payoutIdOf(paymentId);
      await forgetTransfer(id, async (tx) => {
        await tx`delete from payment_settlements where payment_id = ${paymentId}`;
        await deleteSpends(tx, id);
      });
    },
    payoutIdOf,
    refund: async (paymentId: string) => {
      const [refund] = await findRefundsOf(db.sql, [paymentId]);
      if (refund === undefined) throw new Error('There is no such refund.');
      return refund;
    },
    history: async (paymentId: string) =>
      (await listEvents(db.sql, refundIdOf(paymentId, 1))).map(
        ({ evidence, data }) => `${evidence.move ?? 'requested'} ${data.state}`,
      ),
    /** The held money of a payment, if it has any; else its last payout; else what refunds took. */
    async payout(paymentId: string) {
      const [held] = await findHeldMoney(db.sql, paymentId);
      if (held !== undefined) return { ...held, state: 'held' };
      const payouts = await findPayoutsOf(db.sql, paymentId, 10);
      const payout = payouts.find(({ state }) => state !== 'failed');
      if (payout !== undefined) return payout;
      const refunds = (await findRefundsOf(db.sql, [paymentId])).filter(({ fromHeld }) => fromHeld !== '0');
      const amount = refunds.reduce((sum, { fromHeld }) => sum + BigInt(fromHeld), 0n).toString();
      const isOver = refunds.every(({ state }) => state === 'refunded');
      return refunds.length === 0 ? undefined : { state: isOver ? 'refunded' : 'refunding', amount, problem: null };
    },
    lots: (paymentId: string) => findLotsOf(db.sql, [paymentId]),
    outgoing: (id: string) => findOutgoing(db.sql, id),
    itemsOf: (id: string) => findItemsOf(db.sql, id),
    settlement: (paymentId: string) => findPaymentSettlement(db.sql, paymentId),
    floats: async () => Object.fromEntries((await listFloats(db.sql)).map(({ owner, units }) => [owner, units])),
    /** The balance of every book account in the asset. */
    async books(asset = DOLLAR) {
      const rows = await db.sql<{ account: string; units: string }[]>`
        select line ->> 'account' as account, sum((line ->> 'units')::numeric)::text as units
        from book_entries, jsonb_array_elements(lines) as line where asset = ${asset}
        group by 1 having sum((line ->> 'units')::numeric) <> 0 order by 1`;
      return Object.fromEntries(rows.map(({ account, units }) => [account, BigInt(units)]));
    },
    /** The differences between the books and the chain. */
    async differences() {
      const report = await reconcile(scene, connected, { from: 0 });
      return report?.differences.map(({ message }) => message);
    },
  };
}

interface TransferInput {
  readonly from: string;
  readonly to?: string;
  readonly asset?: string;
  readonly units: bigint;
}
