import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import { findDepositProgress, findPaidInto } from '../../src/store/chain/deposit-progress.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { markPositionsOutdated } from '../../src/store/money/positions.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { SceneInput, TestNode } from './relay-scene.ts';

const USDC = SANDBOX_ASSETS['eip3009-vrs'];
const SETTLED = ACCOUNTS.settled('mrch_test');
const PAYABLE = ACCOUNTS.payable('mrch_test');
const MINUTE_MS = 60_000;

describe('a deposit address', () => {
  let scene: BooksScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, ...input });
    return scene;
  };
  afterEach(() => scene.close());

  const statusOf = async (id: string) => (await scene.payment(id)).status;
  const typesOf = async (id: string) => (await listEvents(scene.db.sql, id)).map(({ type }) => type);

  /** Nothing is in the books that is not on the chain, and the other way round. */
  async function isReconciled() {
    assert.deepEqual(await scene.differences(), []);
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
  }

  it('is paid by a plain transfer: processing in a block, succeeded when final, settled by the sweep', async () => {
    await open({ depth: 3 });
    const { id, address, item, send, sender } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn();
    assert.equal(await statusOf(id), 'processing');
    assert.equal(scene.control.balanceOf(address, USDC), 1_000n);
    await node.turn(2);
    const { status, buyerAccount, tokenValue, transactionHash } = await scene.payment(id);
    assert.deepEqual([status, buyerAccount, tokenValue], ['succeeded', `${scene.network}:${sender}`, '1000']);
    assert.match(transactionHash ?? '', /^0x/);
    await node.turn(4);
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    assert.equal(scene.control.balanceOf(address, USDC), 0n);
    const settlement = await findPaymentSettlement(scene.db.sql, id);
    assert.deepEqual([settlement?.amount, settlement?.recipient], ['990', item.recipient]);
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    assert.deepEqual(await typesOf(id), [
      'payment.created',
      'payment.processing',
      'payment.succeeded',
      'payment.settled',
    ]);
    await isReconciled();
  });

  for (const point of ['stored', 'recorded', 'paid', 'swept'] as const) {
    it(`pays long before the payment expires when the node dies at deposit.${point}`, async () => {
      await open();
      const { id, item, send } = await scene.deposit();
      const node = await scene.newNode();
      send(1_000n);
      await diesAt(`deposit.${point}`, node);
      await (await scene.newNode()).turn(6);
      assert.equal(await statusOf(id), 'succeeded');
      assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
      assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990');
      await isReconciled();
    });
  }

  for (const point of ['recorded', 'paid', 'swept'] as const) {
    it(`has late money swept although the node dies at deposit.${point}`, async () => {
      await open();
      const { id, item, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      const node = await scene.newNode();
      scene.pass(16 * MINUTE_MS);
      await node.turn(3);
      assert.equal(await statusOf(id), 'expired');
      send(1_000n);
      await diesAt(`deposit.${point}`, node);
      await (await scene.newNode()).turn(6);
      assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
      assert.equal((await typesOf(id)).filter((type) => type === 'payment.late_money').length, 1);
      await isReconciled();
    });
  }

  /** Runs a node until it reaches the point, where it stops for ever. */
  async function diesAt(point: CrashPoint, node: TestNode) {
    const world = scene.world as { crashPoint?: (reached: CrashPoint) => void };
    let hasDied = false;
    world.crashPoint = (reached) => {
      hasDied ||= reached === point;
      if (hasDied) throw new Error(`died at ${point}`);
    };
    for (let round = 0; round < 8 && !hasDied; round += 1) await node.turn().catch(() => {});
    delete world.crashPoint;
    assert.ok(hasDied, `no node reached ${point}`);
  }

  it('waits for the depth of its amount after the deadline, too', async () => {
    await open({ finality: { tiers: [{ from: 2n, depth: 10 }] } });
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS, amount: 3_000_000n });
    const node = await scene.newNode();
    await node.turn(1);
    scene.pass(4 * MINUTE_MS);
    send(3_000_000n);
    await node.turn(1);
    scene.pass(12 * MINUTE_MS);
    await node.turn(3);
    assert.equal(await statusOf(id), 'processing');
    await node.turn(8);
    assert.equal(await statusOf(id), 'succeeded');
    await isReconciled();
  });

  it('raises no alert while its network takes its usual time to call a block finalized', async () => {
    await open({ finality: { tiers: [{ from: 2n, tag: 'finalized' }] } });
    const { id } = await scene.deposit({ lifeMs: 5 * MINUTE_MS, amount: 3_000_000n });
    const node = await scene.newNode();
    await node.turn(1);
    scene.pass(30 * MINUTE_MS);
    await node.turn(3);
    assert.deepEqual([await statusOf(id), await scene.alerts()], ['requires_action', []]);
    scene.pass(30 * MINUTE_MS);
    await node.turn(3);
    assert.deepEqual(await scene.alerts(), [`payments_undetermined ${scene.network}`]);
    await node.turn(16);
    scene.pass(MINUTE_MS);
    await node.turn(1);
    assert.deepEqual([await statusOf(id), await scene.alerts()], ['expired', []]);
  });

  it('is not tolerated as too little while the rest has not reached the depth of its amount', async () => {
    await open({ finality: { tiers: [{ from: 2n, depth: 10 }] }, watching: { toleranceBasisPoints: () => 100 } });
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS, amount: 300_000_000n });
    const node = await scene.newNode();
    send(298_000_000n);
    await node.turn(12);
    scene.pass(4 * MINUTE_MS);
    send(2_000_000n);
    await node.turn(1);
    scene.pass(12 * MINUTE_MS);
    await node.turn(3);
    assert.equal(await statusOf(id), 'processing');
    await node.turn(12);
    assert.deepEqual([await statusOf(id), (await scene.payment(id)).tokenValue], ['succeeded', '300000000']);
    await isReconciled();
  });

  it('is watched although its row was committed after that of a later one', async () => {
    await open();
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    const [row] = await scene.db.sql<{ row: object }[]>`
      select to_jsonb(p) as row from deposit_places p where commitment = ${commitment}`;
    await command(scene, (tx) => tx`delete from deposit_places where commitment = ${commitment}`);
    await scene.deposit();
    await node.turn();
    await command(
      scene,
      (tx) => tx`
        insert into deposit_places overriding system value
        select * from jsonb_populate_record(null::deposit_places, ${tx.json(row?.row as never)}::jsonb)`,
    );
    send(1_000n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
  });

  it('collects parts, and takes them for nothing until they are enough', async () => {
    await open();
    const { id, send } = await scene.deposit();
    const node = await scene.newNode();
    send(400n);
    await node.turn(2);
    assert.equal(await statusOf(id), 'requires_action');
    assert.deepEqual(await scene.balances(USDC), { payer: -400n, deposits: 400n });
    send(600n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    await isReconciled();
  });

  it('shows what has arrived, and since how many blocks it is enough', async () => {
    await open({ depth: 4 });
    const { id, item, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    const deadline = new Date(item.deadlineS * 1000);
    const asked = { commitment, network: scene.network, asset: USDC, deadline, asked: '1000' };
    const progress = () => findDepositProgress(scene.db.sql, asked);
    assert.deepEqual(await progress(), { arrived: 0n, confirmed: 0 });
    assert.equal(await findPaidInto(scene.db.sql, id), undefined);
    send(400n);
    await node.turn(2);
    assert.deepEqual(await progress(), { arrived: 400n, confirmed: 0 });
    assert.equal(await findPaidInto(scene.db.sql, id), USDC);
    send(600n);
    await node.turn();
    const { arrived, confirmed } = await progress();
    assert.ok(arrived === 1_000n && confirmed >= 1 && confirmed < 4, `${arrived} ${confirmed}`);
    await node.turn();
    assert.ok((await progress()).confirmed > confirmed);
    await isReconciled();
  });

  it('with too little expires, and the money is named to the partner and swept to the merchant', async () => {
    await open();
    const { id, item, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    send(400n);
    await node.turn(2);
    scene.pass(16 * MINUTE_MS);
    await node.turn(5);
    assert.equal(await statusOf(id), 'expired');
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 396n);
    assert.ok((await typesOf(id)).includes('payment.late_money'));
    await isReconciled();
  });

  for (const isCancelled of [false, true]) {
    const end = isCancelled ? 'a payment that was cancelled' : 'a payment with too little';
    it(`has its money named and swept although no endpoint listed the transfer: ${end}`, async () => {
      await open({ depth: 3 });
      const { id, item, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      const node = await scene.newNode();
      send(400n);
      await node.turn();
      await scene.tamper('delete from movements');
      await scene.tamper('update deposit_places set is_stale = false');
      await scene.tamper('update deposit_cursors set final_number = read_number');
      if (isCancelled) {
        await scene.movePayment({
          paymentId: id,
          event: { type: 'cancelled', by: 'merchant' },
          actor: 'test',
          evidence: {},
        });
      }
      scene.pass(16 * MINUTE_MS);
      await node.turn(8);
      assert.equal(await statusOf(id), isCancelled ? 'cancelled' : 'expired');
      assert.equal(scene.control.balanceOf(item.recipient, USDC), 396n);
      assert.ok((await typesOf(id)).includes('payment.late_money'));
      await isReconciled();
    });
  }

  it('is paid although one endpoint has made up a late transfer', async () => {
    await open({ depth: 3, witnesses: 3 });
    const { id, commitment, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    send(1_000n);
    await node.turn();
    const { number, hash } = await scene.chain.reader.head();
    await scene.tamper(`
      insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset,
        sender, amount, is_screened)
      values ('${scene.network}', '0x${'f'.repeat(64)}', 0, ${number}, '${hash}', '2100-01-01', '${commitment}', '${id}', '${USDC}',
        '${`0x${'1'.repeat(40)}`}', 1000, false)`);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
  });

  it('with a little too little is paid when its time is over, if the operator tolerates it', async () => {
    await open({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    send(991n);
    await node.turn(2);
    assert.equal(await statusOf(id), 'requires_action');
    scene.pass(16 * MINUTE_MS);
    await node.turn(5);
    const { status, tokenValue } = await scene.payment(id);
    assert.deepEqual([status, tokenValue], ['succeeded', '991'], 'no more is said to be paid than has come');
    await node.turn(5);
    assert.ok(await findPaymentSettlement(scene.db.sql, id), 'it is settled by the sweep of all that has come');
    await isReconciled();
  });

  it('with a little too little is not paid before its time is over, whatever time one endpoint reports', async () => {
    await open({ witnesses: 2, watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    send(991n);
    await node.turn(2);
    scene.control.testify(0, { addsToTimesS: 86_400 });
    await command(scene, (tx, at) => markPositionsOutdated(tx, [id], at));
    await node.turn(2);
    assert.equal(await statusOf(id), 'requires_action');
    scene.control.testify(0);
    send(9n);
    await node.turn(3);
    const { status, tokenValue } = await scene.payment(id);
    assert.deepEqual([status, tokenValue], ['succeeded', '1000']);
    await isReconciled();
  });

  it('with too much is paid, and the surplus is named', async () => {
    await open();
    const { id, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(2_500n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
    // The fee is that of the asked amount.
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 2_490n);
    const events = await listEvents(scene.db.sql, id);
    assert.equal(events.find(({ type }) => type === 'payment.late_money')?.evidence?.amount, '1500');
    await isReconciled();
  });

  it('takes money that comes late, or twice, to the merchant and names it', async () => {
    await open();
    const late = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const twice = await scene.deposit();
    const node = await scene.newNode();
    twice.send(1_000n);
    await node.turn(4);
    twice.send(1_000n);
    scene.pass(16 * MINUTE_MS);
    await node.turn(2);
    assert.equal(await statusOf(late.id), 'expired');
    late.send(1_000n);
    await node.turn(4);
    assert.equal(await statusOf(late.id), 'expired');
    for (const { id, item } of [late, twice]) {
      assert.ok((await typesOf(id)).includes('payment.late_money'));
      assert.ok(scene.control.balanceOf(item.recipient, USDC) >= 990n);
    }
    await isReconciled();
  });

  it('counts nothing of a screened sender, and is not swept', async () => {
    const hits = new Set<string>();
    const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
    await open({ screening: { decide: (accounts) => ({ hits: accounts.filter((each) => hits.has(each)), list }) } });
    const { id, address, send, sender } = await scene.deposit();
    hits.add(`${scene.network}:${sender}`);
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'requires_action');
    assert.equal(scene.control.balanceOf(address, USDC), 1_000n);
    assert.ok((await scene.alerts()).some((alert) => alert.startsWith('screened_payer')));
  });

  it('is swept by a stranger to the same end, before or after the gateway orders it', async () => {
    await open({ depth: 2 });
    const { id, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn();
    scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    await node.turn(6);
    assert.equal(await statusOf(id), 'succeeded');
    assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990');
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    await isReconciled();
  });

  it('holds the money of a merchant without a destination for its payout', async () => {
    await open();
    const { id, send } = await scene.deposit({ isHeld: true });
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [PAYABLE]: 990n });
    const lots = await scene.db.sql`select net::text, is_paying, is_open from lots where payment_id = ${id}`;
    assert.deepEqual([...lots], [{ net: '990', is_paying: true, is_open: true }]);
    await isReconciled();
  });

  it('keeps what comes after the payout of a held amount as a lot of its own', async () => {
    await open();
    const { id, send } = await scene.deposit({ isHeld: true });
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    send(500n);
    await node.turn(4);
    assert.equal((await scene.balances(USDC))[PAYABLE], 1_485n);
    const lots = await scene.db.sql`select net::text, reason from lots where payment_id = ${id} order by number`;
    assert.deepEqual(
      [...lots],
      [
        { net: '990', reason: null },
        { net: '495', reason: 'overpaid' },
      ],
    );
    await isReconciled();
  });

  it('adds nothing to the money that paid another way: its money is a lot of its own', async () => {
    await open();
    const { id, send } = await scene.deposit({ isHeld: true });
    await scene.accept({ terms: { subject: id }, isHeld: true });
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await statusOf(id), 'succeeded');
    send(500n);
    await node.turn(5);
    const lots = await scene.db.sql`
      select net::text, is_paying, reason from lots where payment_id = ${id} order by is_paying desc`;
    assert.deepEqual(
      [...lots],
      [
        { net: '990', is_paying: true, reason: null },
        { net: '495', is_paying: false, reason: 'paid_twice' },
      ],
    );
    await isReconciled();
  });

  it('is of no use any more for a payment that was paid another way, and its money is named', async () => {
    await open();
    const { id, item, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    await scene.accept({ terms: { subject: id } });
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await statusOf(id), 'succeeded');
    send(1_000n);
    await node.turn(4);
    scene.pass(16 * MINUTE_MS);
    await node.turn(4);
    assert.ok((await typesOf(id)).includes('payment.late_money'));
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    const items = await scene.db.sql`select from items where state in ('offered', 'due', 'sent')`;
    assert.equal(items.length, 0);
    assert.deepEqual(await scene.db.sql`select from deposit_places where is_stale`, []);
    assert.deepEqual(await scene.db.sql`select from positions where is_stale`, []);
    await isReconciled();
  });

  it('has its order closed when a stranger sweeps while it is on its way', async () => {
    await open({ depth: 2 });
    const { item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(3);
    await node.relay();
    scene.control.setFees({ tip: 100_000_000_000n });
    scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    scene.control.mine();
    scene.control.setFees({ tip: 1_000_000_000n });
    for (let round = 0; round < 6; round += 1) {
      await node.turn(2);
      scene.pass(MINUTE_MS);
    }
    const left = await scene.db.sql`select from items where purpose = 'sweep' and state in ('due', 'sent')`;
    assert.equal(left.length, 0);
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    await isReconciled();
  });

  it('costs no gas for dust', async () => {
    await open({ watching: {} });
    const { send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    for (let count = 0; count < 50; count += 1) send(1n);
    scene.pass(16 * MINUTE_MS);
    await node.turn(5);
    assert.deepEqual(await scene.db.sql`select * from relay_sends`, []);
  });

  it('is not paid while endpoints contradict each other about its balance', async () => {
    await open({ witnesses: 2 });
    const { id, send } = await scene.deposit();
    const node = await scene.newNode();
    scene.control.testify(1, { addsToHoldings: 999n });
    send(1n);
    await node.turn(3);
    assert.equal(await statusOf(id), 'requires_action');
    assert.ok((await scene.alerts()).some((alert) => alert.startsWith('endpoints_disagree')));
    scene.control.testify(1);
    send(999n);
    await node.turn(4);
    assert.equal(await statusOf(id), 'succeeded');
  });

  it('forgets a transfer whose block leaves the chain', async () => {
    await open({ depth: 4 });
    const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    send(1_000n);
    await node.turn();
    assert.equal(await statusOf(id), 'processing');
    scene.control.reorg(2, { transactions: 'dropped', length: 3 });
    await node.turn(2);
    scene.pass(16 * MINUTE_MS);
    await node.turn(8);
    assert.equal(await statusOf(id), 'expired');
    await isReconciled();
  });

  it('has its sweep undone and repeated after a reorg deeper than final depth', async () => {
    await open();
    const { id, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(4);
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    scene.control.reorg(3, { transactions: 'dropped', length: 4 });
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 0n, 'the sweep is gone');
    await node.turn(8);
    assert.equal(await statusOf(id), 'succeeded');
    assert.equal(scene.control.balanceOf(item.recipient, USDC), 990n);
    await isReconciled();
  });
});
