import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { makeReceipt } from '../../src/actions/paying/make-receipt.ts';
import { DEPOSIT_CONTRACTS } from '../../src/chains/evm/collectors.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import type { ApiError } from '../../src/errors.ts';
import { listedFee } from '../../src/http/views/payment-list.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import type { Owner } from '../../src/store/parties/merchants.ts';
import { readExportPage } from '../../src/store/payments/payment-export.ts';
import { type ListedPayment, listPayments } from '../../src/store/payments/payment-lists.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { ASSETS, REGISTRY } from '../registry.ts';
import { UNFILTERED } from '../unfiltered.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';

const EVERYTHING = { watching: { sweepFrom: () => 0n } };

const receiptKey = receiptKeyOf(new Uint8Array(32).fill(7));

async function receiptOf(scene: Pick<BooksScene, 'db' | 'payment'>, id: string) {
  const { receipt } = await makeReceipt({ registry: REGISTRY, db: scene.db, receiptKey }, await scene.payment(id));
  const amounts = (parts: readonly { amount: string }[] = []) => parts.map(({ amount }) => amount);
  return { ...receipt, sent: amounts(receipt.transfers), swept: amounts(receipt.sweeps) };
}

describe('money that came by a deposit address', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  const accountOf = (address: string) => {
    const parsed = parseAccount(`${scene.network}:${address}`);
    assert.ok(parsed.ok);
    return parsed.value;
  };

  /** The merchant names a destination, and gets the net amount of the payment there, once. */
  async function isPaidOut(node: Awaited<ReturnType<RefundScene['newNode']>>, id: string, units = 990n): Promise<void> {
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.live(node, 5);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), units);
    assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990', 'only the money that paid settles');
    assert.deepEqual(await scene.differences(), []);
  }

  it('is paid out when the merchant names a destination, and is no unexpected money', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 5);
    assert.deepEqual([(await scene.payment(id)).status, (await scene.payout(id))?.state], ['succeeded', 'held']);
    await isPaidOut(node, id);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('is refunded to an account that the partner names, and to no other', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 5);
    // The operator gives the fee back.
    await scene.fill(node, OPERATOR_FLOAT, 10_000n);
    await assert.rejects(scene.request(id), (error: ApiError) => error.code === 'params_validation');
    const recipient = scene.payers.newAccount();
    await scene.request(id, { destination: accountOf(recipient) });
    await scene.live(node, 6);
    assert.equal((await scene.refund(id))?.state, 'refunded');
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 1_000n);
    assert.deepEqual(
      (await receiptOf(scene, id)).refunds?.map(({ amount, recipient: to }) => [amount, to]),
      [['1000', recipient]],
    );
    assert.deepEqual(await scene.differences(), []);
  });

  it('is refunded up to what has come, where less was tolerated', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isHeld: true, lifeMs: 300_000 });
    send(991n);
    await scene.live(node, 2);
    scene.pass(16 * 60_000);
    await scene.live(node, 6);
    await scene.fill(node, OPERATOR_FLOAT, 10_000n);
    const recipient = scene.payers.newAccount();
    await scene.request(id, { destination: accountOf(recipient) });
    await scene.live(node, 6);
    assert.equal((await scene.refund(id))?.state, 'refunded');
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 991n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('too late, too much or in another token is returned to an account that somebody names, from floats', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const late = await scene.deposit({ lifeMs: 5 * 60_000 });
    const double = await scene.deposit();
    const held = await scene.deposit({ isHeld: true });
    double.send(3_000n);
    held.send(500n, { token: TETHER });
    await scene.live(node, 4);
    scene.pass(16 * 60_000);
    await scene.live(node, 2);
    late.send(1_000n);
    await scene.live(node, 4);
    assert.deepEqual([await scene.status(late.id), await scene.status(double.id)], ['expired', 'succeeded']);
    const unexpectedMoney = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    const bySum = new Map(unexpectedMoney.map((unexpected) => [unexpected.amount, unexpected]));
    assert.deepEqual([...bySum.keys()].sort(), ['1000', '2000', '500']);
    const recipient = scene.payers.newAccount();
    const giveBack = (amount: string, to = accountOf(recipient)) =>
      returnUnexpected(scene, { id: bySum.get(amount)?.id ?? '', to, actor: 'test' });
    await assert.rejects(
      returnUnexpected(scene, { id: bySum.get('1000')?.id ?? '', to: undefined, actor: 'test' }),
      /--to/,
    );
    await assert.rejects(giveBack('1000'), /too little/);
    // The surplus of one sweep bears no fee: the asked amount has borne it.
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.fill(node, scene.merchantId, 2_990n);
    await giveBack('1000');
    await assert.rejects(giveBack('1000'), /returning/);
    await giveBack('2000');
    await scene.live(node, 5);
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 3_000n);
    const floats = await scene.db.sql`select owner, units from floats where asset = ${DOLLAR} and units > 0`;
    assert.deepEqual(floats, []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('twice, by a wallet and by the address, goes to the merchant whole, and settles once', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isHeld: true });
    await scene.accept({ isHeld: true, terms: { subject: id } });
    await scene.live(node, 2);
    send(1_000n);
    await scene.live(node, 4);
    await isPaidOut(node, id, 1_980n);
    assert.deepEqual(await scene.floats(), {});
  });

  it('that a stranger sweeps before a wallet pays does not stand in for the payout', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, item, send } = await scene.deposit({ isHeld: true });
    send(100n);
    await scene.live(node, 2);
    scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    await scene.live(node, 3);
    const { amount } = (await scene.payout(id)) ?? {};
    assert.equal(amount, '99');
    await scene.accept({ isHeld: true, terms: { subject: id } });
    await scene.live(node, 4);
    await isPaidOut(node, id, 1_089n);
    assert.deepEqual(await scene.floats(), {});
  });

  it('is not held a second time when a deep reorganisation takes its sweep away after the payout', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.register(scene.payers.newAccount());
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await node.turn(3);
    await scene.payOut();
    assert.equal((await scene.payout(id))?.state, 'sending');
    scene.control.reorg(2, { transactions: 'dropped', length: 3 });
    assert.equal(scene.control.balanceOf(scene.intermediate, DOLLAR), 0n, 'the sweep is gone');
    await scene.live(node, 8);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.deepEqual(await scene.floats(), {});
    assert.deepEqual(await scene.differences(), []);
  });
});

describe('lists and exports of a payment by deposit address', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  const feeOf = (payment: ListedPayment | undefined) => payment && listedFee(payment);

  /** A query for all payments of the partner that has this one. */
  const everythingOf = async (id: string) => {
    const [owner] = await scene.db.sql<Owner[]>`
      select m.partner_id as "partnerId", m.mode from payments p join merchants m on m.id = p.merchant_id where p.id = ${id}`;
    assert.ok(owner);
    return {
      ...UNFILTERED,
      ...owner,
      now: new Date(scene.nowMs()),
      afterId: undefined,
      limit: 10,
    };
  };

  it('show the item that paid, and not its sweep', async () => {
    scene = await openBooksScene(EVERYTHING);
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    const { sql } = scene.db;
    const sweeps = await sql`select from items where subject = ${id} and purpose = 'sweep' and state = 'paid'`;
    assert.equal(sweeps.length, 1);
    const terms = { percentage: '1', fixed: null };
    await scene.tamper(`update items set fee_terms = '${JSON.stringify(terms)}' where commitment = '${commitment}'`);
    // The sweep comes first for a scan, as after an update of the other row.
    await scene.tamper(`
      with gone as (delete from items where commitment = '${commitment}' returning *) insert into items select * from gone`);
    const listed = await listPayments(sql, { ...(await everythingOf(id)), sortBy: 'date', sortDir: 'desc' });
    assert.deepEqual([listed[0]?.id, feeOf(listed[0]), listed[0]?.feeTerms], [id, 10n, terms]);
  });

  it('show the address that was paid, and not the x402 authorization that brought the money', async () => {
    scene = await openBooksScene(EVERYTHING);
    const deposit = await scene.deposit();
    const node = await scene.newNode();
    await node.turn(1);
    await scene.authorize(deposit);
    await node.turn(4);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    const { sql } = scene.db;
    const ended = await sql<{ method: string }[]>`
      select method from items where subject = ${deposit.id} and state = 'paid' order by method`;
    assert.deepEqual(
      ended.map(({ method }) => method),
      ['deposit', 'deposit-vrs'],
    );
    const terms = { percentage: '1', fixed: null };
    await scene.tamper(
      `update items set fee_terms = '${JSON.stringify(terms)}' where commitment = '${deposit.commitment}'`,
    );
    // The authorization comes first for any scan, as an account with a low address does, and as after an update of the other row.
    await scene.tamper(`update items set payer = '0x' where subject = '${deposit.id}' and method = 'deposit-vrs'`);
    await scene.tamper(`
      with gone as (delete from items where commitment = '${deposit.commitment}' returning *)
      insert into items select * from gone`);
    const query = { ...(await everythingOf(deposit.id)), sortBy: 'date', sortDir: 'desc' } as const;
    const [listed] = await listPayments(sql, query);
    assert.deepEqual([feeOf(listed), listed?.feeTerms], [10n, terms]);
  });

  it('show the fee of what has come, where less was tolerated', async () => {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const { id, send } = await scene.deposit({ lifeMs: 300_000 });
    const node = await scene.newNode();
    send(991n);
    await node.turn(2);
    scene.pass(16 * 60_000);
    await node.turn(10);
    const { sql } = scene.db;
    const query = await everythingOf(id);
    const listed = await listPayments(sql, { ...query, sortBy: 'date', sortDir: 'desc' });
    assert.deepEqual([listed[0]?.tokenValue, feeOf(listed[0]), listed[0]?.settledAmount], ['991', 9n, '982']);
    const { texts } = await readExportPage(sql, { ...query, content: 'bookkeeping', format: 'jsonl', known: ASSETS });
    const lines = texts.join('').trim().split('\n');
    const movements = lines.map((line) => JSON.parse(line)).map(({ type, amount }) => `${type} ${amount}`);
    assert.deepEqual(movements, ['payment 0.000991', 'fee -0.000009', 'settlement -0.000982']);
  });
});

describe('the receipt of a payment by a deposit address', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  it('is there before the sweep, and then names it', async () => {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, depth: 3 });
    const { id, send, sender } = await scene.deposit();
    const node = await scene.newNode();
    send(600n);
    send(500n);
    await node.turn(3);
    const before = await receiptOf(scene, id);
    assert.deepEqual([before.arrived, before.sent, before.swept], ['1100', ['600', '500'], []]);
    assert.deepEqual([before.transfers?.[0]?.sender, before.amount, before.fee], [sender, '1000', '10']);
    await node.turn(4);
    const after = await receiptOf(scene, id);
    assert.deepEqual([after.swept, after.sweeps?.[0]?.fee], [['1100'], '10']);
    assert.deepEqual({ ...after, sweeps: [], swept: [] }, before);
  });

  it('names money that was accepted although some was missing, and none that came too late', async () => {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const { id, send } = await scene.deposit({ lifeMs: 300_000 });
    const node = await scene.newNode();
    send(995n);
    await node.turn(2);
    scene.pass(960_000);
    await node.turn(6);
    assert.deepEqual((await receiptOf(scene, id)).sent, ['995']);
    send(50n);
    await node.turn(6);
    const { arrived, sent, swept } = await receiptOf(scene, id);
    assert.deepEqual([arrived, sent, swept], ['1000', ['995'], ['995', '50']]);
  });

  it('is refused while its transfer is not in the chain', async () => {
    scene = await openBooksScene(EVERYTHING);
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(1);
    assert.deepEqual((await receiptOf(scene, id)).swept, []);
    await scene.tamper(`delete from movements where commitment = '${commitment}'`);
    await assert.rejects(receiptOf(scene, id), /not in the chain at this moment/);
  });
});

describe('till rebuild, for deposit addresses', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  it('restores a payment from the sweep of its address, of the newest release', () => restores('till-receipt/5'));

  it('restores a payment from the sweep of its address, of an older release', () =>
    restores('till-receipt/3', DEPOSIT_CONTRACTS.at(-2)?.address));

  async function restores(expectedForm: string, contract?: string): Promise<void> {
    scene = await openBooksScene(EVERYTHING);
    const { id, commitment, send } = await scene.deposit(contract === undefined ? {} : { contract });
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    await scene.seal();
    await scene.forget(id, commitment);
    const report = await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[id], []]);
    await assert.rejects(receiptOf(scene, id), /Only a succeeded payment/);
    await node.turn(2);
    const { form, arrived, sent, swept, transaction, sweeps } = await receiptOf(scene, id);
    assert.deepEqual([form, arrived, sent, swept], [expectedForm, '1000', ['1000'], ['1000']]);
    assert.notEqual(transaction, sweeps?.[0]?.transaction, 'the transfer paid, and not the sweep');
    const { status, tokenValue } = await scene.payment(id);
    assert.deepEqual([status, tokenValue], ['succeeded', '1000']);
    assert.deepEqual(await scene.balances(DOLLAR), {
      payer: -1_000n,
      fees: 10n,
      [`settled/${scene.merchantId}`]: 990n,
    });
    assert.deepEqual(await scene.differences(), []);
    const again = await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.deepEqual(again?.rebuilt, []);
  }

  it('restores a payment that a watcher ends before its transfers are read', async () => {
    scene = await openBooksScene(EVERYTHING);
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    await scene.seal();
    await scene.forget(id, commitment);
    const { reader } = scene.chain;
    const { incoming } = reader;
    Object.assign(reader, {
      incoming: async (...ask: Parameters<typeof incoming>) => {
        Object.assign(reader, { incoming });
        await node.turn(3);
        return incoming.apply(reader, ask);
      },
    });
    await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.equal(await scene.status(id), 'succeeded', 'the watcher was faster');
    await node.turn(3);
    const lots = await scene.db.sql<{ transaction: string }[]>`
      select is_paying as "isPaying", reason, amount::text as amount, id like '%/balance %' as "isResidual" from lots where payment_id = ${id}`;
    assert.deepEqual([...lots], [{ isPaying: true, reason: null, amount: '1000', isResidual: false }]);
    assert.deepEqual(await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 }), []);
    assert.deepEqual(await scene.differences(), []);
  });
});
