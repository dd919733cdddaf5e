import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { ChainEvent, Incoming } from '../../src/chains/chain-reader.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';

const STATES = ['unclaimed', 'float', 'returning', 'returned'] as const;
const ENDPOINTS = 2;
const HONEST = 10n ** 18n;

describe('the first reading of a network', () => {
  it('begins in a block that two endpoints know, however long one says the chain is', async () => {
    const scene = await openRefundScene({ witnesses: ENDPOINTS });
    try {
      const { head, block } = scene.chain.reader;
      const real = await head();
      const far = { ...real, number: real.number + 1_000_000, hash: `0x${'fa'.repeat(32)}` };
      const invented = (number: number) => ({ ...far, number, hash: `0x${number.toString(16).padStart(64, 'f')}` });
      Object.assign(scene.chain.reader, {
        head: async () => far,
        block: async (number: number) => (number > real.number ? invented(number) : block(number)),
      });
      const node = await scene.newNode();
      // What the cursor says of the chain counts; the made-up blocks themselves cannot be read.
      await node.watch().catch(() => undefined);
      Object.assign(scene.chain.reader, { head, block });
      await scene.paid(node);
      const hash = scene.transfer({ from: scene.payers.newAccount(), units: 70n });
      await scene.live(node, 3);
      const found = await listUnexpected(scene.db.sql, { states: STATES, limit: 10 });
      assert.deepEqual(
        found.map(({ transactionHash }) => transactionHash),
        [hash],
      );
    } finally {
      await scene.close();
    }
  });
});

describe('money on our accounts that one endpoint of two makes up', () => {
  let scene: RefundScene;
  let node: TestNode;
  afterEach(() => scene.close());

  async function open() {
    scene = await openRefundScene({ witnesses: ENDPOINTS });
    node = await scene.newNode();
    scene.control.setBalance(scene.intermediate, COIN, HONEST);
    await node.turn(2);
  }

  /** True if the coin could be compared. While the endpoints contradict each other it cannot. */
  async function record(): Promise<boolean> {
    const ask = { name: 'audit', holder: 'test', now: new Date(Date.UTC(2100, 0, 1)), until: new Date(scene.nowMs()) };
    const lease = await command(scene, (tx) => takeLease(tx, ask));
    assert.ok(lease);
    try {
      await recordCoin({ ...scene, holder: 'test' }, { connected: scene.connected, lease });
      return true;
    } catch (error) {
      if (error instanceof ChainUnavailableError) return false;
      throw error;
    }
  }

  const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: STATES, limit: 10 });
  const bookedCoin = async () => (await scene.books(COIN))[ACCOUNTS.relayer(scene.intermediate)];

  it('is no opening balance of coin', async () => {
    await open();
    scene.control.testify(0, { addsToHoldings: 10n ** 20n });
    assert.equal(await record(), false);
    assert.equal(await bookedCoin(), undefined);
    scene.control.testify(0);
    assert.equal(await record(), true);
    assert.equal(await bookedCoin(), HONEST);
  });

  it('is no unexpected coin', async () => {
    await open();
    await record();
    await node.turn(3);
    const { number: addsFrom } = await scene.chain.reader.head();
    scene.control.testify(0, { addsToHoldings: 10n ** 20n, addsFrom });
    await record();
    assert.deepEqual([...(await unexpectedMoney())], []);
    assert.equal(await bookedCoin(), HONEST);
  });

  it('is no unexpected coin, by gas that was never spent', async () => {
    await open();
    await record();
    await scene.accept();
    scene.control.testify(0, { addsToCosts: 10n ** 17n });
    await node.turn(3);
    await record();
    assert.deepEqual([...(await unexpectedMoney())], []);
  });

  /** A transfer of tokens to the intermediate account that nobody has made, in a block that everybody knows. */
  async function forgedTransfer(from: string, units: bigint): Promise<Incoming> {
    const { number, hash } = await scene.chain.reader.head();
    return {
      block: { number, hash },
      transactionHash: `0x${'f0'.repeat(32)}`,
      logIndex: 0,
      asset: DOLLAR,
      from,
      to: scene.intermediate,
      amount: units,
    };
  }

  it('is no unexpected token, and the true transfer beside it is found when the lies stop', async () => {
    await open();
    const forged = await forgedTransfer(scene.payers.newAccount(), 5_000n);
    scene.control.testify(0, { inventedTransfers: [forged] });
    const hash = scene.transfer({ from: scene.payers.newAccount(), units: 70n });
    await scene.live(node, 2);
    assert.deepEqual([...(await unexpectedMoney())], []);
    assert.match((await scene.alertText('endpoints_disagree')) ?? '', /endpoint 1 says .*endpoint 2 says/);
    scene.control.testify(0);
    await scene.live(node, 2);
    assert.deepEqual(
      (await unexpectedMoney()).map(({ transactionHash, amount }) => [transactionHash, amount]),
      [[hash, '70']],
    );
    assert.deepEqual(await scene.differences(), []);
    assert.equal(await scene.alertText('endpoints_disagree'), undefined);
  });

  it('is no unexpected token that its own receipts do not show', async () => {
    await open();
    const forged = await forgedTransfer(scene.payers.newAccount(), 5_000n);
    scene.control.testify(0, { inventedTransfers: [forged], hasHonestReceipts: true });
    const hash = scene.transfer({ from: scene.payers.newAccount(), units: 70n });
    await scene.live(node, 2);
    assert.deepEqual(
      (await unexpectedMoney()).map((each) => each.transactionHash),
      [hash],
    );
  });

  it('hides no true transfer either: a list without it is compared with receipts', async () => {
    await open();
    await scene.live(node, 1);
    scene.control.testify(0, { listsNoTransfers: true });
    const hash = scene.transfer({ from: scene.payers.newAccount(), units: 70n });
    await scene.live(node, 2);
    assert.deepEqual(
      (await unexpectedMoney()).map(({ transactionHash, amount }) => [transactionHash, amount]),
      [[hash, '70']],
    );
  });

  it('names no sender of coin, to whom it would be returned', async () => {
    await open();
    await record();
    const hash = scene.sendCoin(70n, { to: scene.intermediate });
    const forged = { ...(await forgedTransfer(scene.payers.newAccount(), 70n)), asset: COIN, logIndex: -1 };
    await node.turn(2);
    scene.control.testify(0, { inventedTransfers: [forged] });
    await record();
    assert.deepEqual([...(await unexpectedMoney())], []);
    scene.control.testify(0);
    await record();
    assert.deepEqual(
      (await unexpectedMoney()).map(({ transactionHash, amount }) => [transactionHash, amount]),
      [[hash, '70']],
    );
  });

  it('keeps a payment processing until its action is over', async () => {
    await open();
    const lifeMs = 60_000;
    const { id, item, commitment } = await scene.offer(lifeMs);
    const { number, hash } = await scene.chain.reader.head();
    const { subject, payer, asset, amount, fee, recipient, collector, seal } = item;
    const forged: ChainEvent = {
      type: 'paid',
      block: { number, hash },
      transactionHash: `0x${'f0'.repeat(32)}`,
      logIndex: 0,
      collector,
      commitment,
      subject: seal ?? subject,
      payer,
      asset,
      amount: BigInt(amount),
      fee: BigInt(fee),
      recipient,
    };
    scene.control.lie({ inventedEvents: [forged] });
    scene.control.testify(0, { invented: [forged] });
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.pass(2 * lifeMs);
    await node.turn(4);
    assert.equal(await scene.status(id), 'processing', 'while one of two shows it');
    scene.control.beHonest();
    scene.control.testify(0);
    await node.turn(4);
    assert.equal(await scene.status(id), 'requires_action');
  });

  it('is not restored by a rebuild', async () => {
    await open();
    await scene.live(node, 2);
    const forged = await forgedTransfer(scene.payers.newAccount(), 5_000n);
    await scene.live(node, 1);
    scene.control.testify(0, { inventedTransfers: [forged] });
    await assert.rejects(rebuild(scene, scene.connected, { from: 0 }), ChainUnavailableError);
    assert.deepEqual([...(await unexpectedMoney())], []);
  });
});
