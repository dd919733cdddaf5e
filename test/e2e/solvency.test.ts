import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { checkSolvency } from '../../src/actions/books/audit/solvency.ts';
import { recordEntries } from '../../src/actions/books/record.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import { OPERATOR_FLOAT, revertedEntry } from '../../src/domain/books.ts';
import { lockBookItems } from '../../src/store/money/book-items.ts';
import { listReadings } from '../../src/store/money/solvency.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { SceneInput, TestNode } from './relay-scene.ts';

describe('cover of what the books owe', () => {
  let scene: RefundScene;
  let node: TestNode;
  afterEach(() => scene.close());

  async function open(input: SceneInput = {}) {
    scene = await openRefundScene(input);
    node = await scene.newNode();
    await node.turn();
    await scene.payOut();
  }
  const check = () => checkSolvency(scene, scene.connected);
  const frozen = async () => (await listFreezes(scene.db.sql)).map(({ scope, subject }) => `${scope} ${subject}`);
  const readings = () => listReadings(scene.db.sql, scene.network);
  const lose = (units: bigint, asset = DOLLAR) =>
    scene.control.setBalance(scene.intermediate, asset, scene.control.balanceOf(scene.intermediate, asset) - units);
  /** A block later. */
  async function checkNext() {
    await node.turn();
    await check();
  }

  it('is compared once for each block, and nothing happens while it is there', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await check();
    await check();
    assert.deepEqual(
      (await readings()).map(({ asset, owed, held }) => [asset, owed, held]),
      [[DOLLAR, '100', '100']],
    );
    await checkNext();
    await checkNext();
    assert.equal((await readings()).length, 2, 'old readings are removed');
    assert.deepEqual(await frozen(), []);
  });

  it('freezes what leaves in the asset when it lacks at two successive blocks, and lifts that by itself', async () => {
    await open();
    await scene.register(scene.payers.newAccount());
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await scene.fill(node, OPERATOR_FLOAT, 100n, TETHER);
    lose(40n);
    await checkNext();
    assert.deepEqual(await frozen(), [], 'one reading is not enough');
    await check();
    assert.deepEqual(await frozen(), [], 'the same block is not read twice');
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`], 'the other asset is free');
    const [alert] = (await listAlerts(scene.db.sql)).filter(({ name }) => name === 'shortfall');
    assert.equal(alert?.subject, DOLLAR);
    const { item, id } = await scene.paid(node, { isHeld: true });
    const before = scene.control.balanceOf(scene.intermediate, DOLLAR);
    await scene.live(node, 3);
    assert.equal((await scene.payout(id))?.state, 'held', `${item.amount} stay`);
    assert.equal(scene.control.balanceOf(scene.intermediate, DOLLAR), before);
    lose(-40n);
    await checkNext();
    assert.deepEqual(await frozen(), []);
    assert.deepEqual(
      (await listAlerts(scene.db.sql)).filter(({ name }) => name === 'shortfall'),
      [],
    );
    await scene.live(node, 4);
    assert.ok(scene.control.balanceOf(scene.intermediate, DOLLAR) < before + 40n, 'it was paid out');
  });

  it('leaves a freeze of an operator in force', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await freeze(scene, { scope: 'asset', subject: DOLLAR, reason: 'case 42', actor: 'operator:ann' });
    await checkNext();
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
  });

  it('is not missed for a payout that is final on chain and not booked yet', async () => {
    await open();
    await scene.register(scene.payers.newAccount());
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await scene.paid(node, { isHeld: true });
    const before = scene.control.balanceOf(scene.intermediate, DOLLAR);
    await scene.payOut();
    await node.relay();
    for (let block = 0; block < 3; block += 1) {
      scene.control.mine();
      // The watcher stops after reading, as in a crash.
      await node.follow();
      await check();
    }
    assert.ok(scene.control.balanceOf(scene.intermediate, DOLLAR) < before);
    assert.deepEqual(await frozen(), []);
    assert.ok((await readings()).every(({ owed, held }) => owed === held));
    await node.watch();
    await checkNext();
    assert.ok((await readings()).every(({ owed, held }) => owed === held));
  });

  it('is not decided by one endpoint that lies, or one that lags behind', async () => {
    await open({ witnesses: 2 });
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    for (const lies of [{ addsToHoldings: -60n }, { headAhead: -20 }, { hasOtherBlocks: true }]) {
      scene.control.testify(1, lies);
      scene.control.mine();
      await check();
      assert.deepEqual(await readings(), [], Object.keys(lies).join());
      scene.control.testify(1);
    }
    // A lie does not lift a freeze either.
    lose(40n);
    await checkNext();
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
    scene.control.testify(1, { addsToHoldings: 60n });
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
  });

  it('is not decided by an endpoint that is alone: it stops nobody, and vouches for nothing', async () => {
    await open({ witnesses: 2 });
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    scene.control.testify(1, { silentForMs: 10 * 60_000 });
    lose(60n);
    for (let block = 0; block < 3; block += 1) {
      scene.control.mine();
      await node.follow();
      await check();
    }
    assert.deepEqual([await readings(), await frozen()], [[], []]);
    scene.control.testify(1);
    await checkNext();
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
  });

  it('is read once by two nodes at the same time', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    lose(1n);
    await node.turn();
    await Promise.all([check(), check()]);
    assert.equal((await readings()).length, 1);
    assert.deepEqual(await frozen(), []);
    await node.turn();
    await Promise.all([check(), check()]);
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
    const set = await scene.db.sql`select from audit_log where action = 'freeze.set'`;
    assert.equal(set.length, 1);
  });

  it('of coin allows for gas that is mined and not booked yet', async () => {
    await open();
    const transactionHash = scene.sendCoin(10n ** 17n);
    await node.turn(3);
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: COIN, transactionHash, actor: 'test' });
    await check();
    assert.deepEqual(await frozen(), []);
    const to = scene.payers.newAccount();
    const ask = { owner: OPERATOR_FLOAT, asset: COIN, units: 10n ** 16n, recipient: to, actor: 'test' };
    await returnFloat(scene, ask);
    await scene.payOut();
    await node.relay();
    for (let block = 0; block < 3; block += 1) {
      scene.control.mine();
      await node.follow();
      await check();
    }
    assert.equal(scene.control.balanceOf(to, COIN), 10n ** 16n);
    assert.deepEqual(await frozen(), []);
    const [last] = (await readings()).filter(({ asset }) => asset === COIN);
    assert.equal(last?.owed, last?.held);
  });

  it('lacks after a payout whose payment left the chain: that takes nothing from what others are owed', async () => {
    await open();
    await scene.register(scene.payers.newAccount());
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    const { id, key } = await scene.paid(node, { isHeld: true });
    await scene.live(node, 3);
    assert.equal((await scene.payout(id))?.state, 'paid');
    await check();
    assert.deepEqual(await frozen(), []);
    // The payout stays, and other money has paid it.
    const net = await command(scene, async (tx, at) => {
      const [item] = await lockBookItems(tx, [key]);
      assert.ok(item);
      await recordEntries(tx, [revertedEntry(item, { isInFlight: true, isUnexpected: false })], at);
      return item.amount - item.fee;
    });
    lose(net);
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
    const [reading] = await readings();
    assert.deepEqual([reading?.owed, reading?.held], ['5000', `${5_000n - net}`]);
  });

  it('counts readings by a right MAC alone', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    lose(1n);
    await checkNext();
    await scene.db.begin(scene.world.random, async (tx) => {
      await tx`update solvency_readings set held = owed`;
    });
    await checkNext();
    assert.deepEqual(await frozen(), []);
    await checkNext();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`], 'forged cover delays it by one block');
  });
});
