import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import type { PayMethod } from '../../src/domain/item.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from '../e2e/books-scene.ts';
import type { SceneInput, TestNode } from '../e2e/relay-scene.ts';
import { IS_LONG } from '../long.ts';

const MINUTE_MS = 60_000;
/** Transfers of one unit, all of them less than the amount. */
const DUST = IS_LONG ? 999 : 60;
/** Every way to pay by a signature. */
const SIGNED = (Object.keys(SANDBOX_ASSETS) as PayMethod[]).filter((method) => method !== 'native');

describe('a stranger who opens an address of a payment', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  async function open(input: SceneInput = {}): Promise<TestNode> {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, ...input });
    return scene.newNode();
  }

  const inSeconds = (ms: number) => Math.floor((scene.nowMs() + ms) / 1_000);

  /** A signature that runs out before the payment does, of a payer without money. */
  async function signedForNothing(subject: string, lifeMs: number, method: PayMethod = 'eip3009-vrs') {
    const terms = { subject, deadlineS: inSeconds(lifeMs) };
    const accepted = await scene.accept({ method, terms });
    scene.control.setBalance(accepted.payer.address, accepted.item.asset, 0n);
    return accepted;
  }

  const openItems = async (subject: string) => {
    const rows = await scene.db.sql`
      select from items where subject = ${subject} and state in ('offered', 'due', 'sent') and purpose = 'payment'`;
    return rows.length;
  };

  for (const method of SIGNED)
    it(`cannot keep a signature alive by an opened address and dust (${method})`, async () => {
      const node = await open();
      const deposit = await scene.deposit();
      const { commitment } = await signedForNothing(deposit.id, 2 * MINUTE_MS, method);
      for (let sent = 0; sent < DUST; sent += 1) deposit.send(1n);
      scene.pass(3 * MINUTE_MS);
      await node.turn(3);
      assert.equal(await scene.status(deposit.id), 'requires_action');
      assert.equal((await scene.item(commitment))?.signature, null);
      assert.equal(await openItems(deposit.id), 1, 'the address stays open');
      // The dust counts.
      deposit.send(1_000n - BigInt(DUST));
      await node.turn(3);
      assert.equal(await scene.status(deposit.id), 'succeeded');
      assert.deepEqual(await scene.differences(), []);
    });

  it('cannot keep a coin transaction alive that left the chain, by an opened address', async () => {
    const node = await open({ depth: 4 });
    const deposit = await scene.deposit();
    const coin = await scene.offer(2 * MINUTE_MS, { subject: deposit.id });
    coin.pay();
    await node.turn();
    assert.equal(await scene.status(deposit.id), 'processing');
    scene.control.reorg(1, { transactions: 'dropped' });
    scene.pass(3 * MINUTE_MS);
    await node.turn(6);
    assert.equal(await scene.status(deposit.id), 'requires_action');
  });

  it('does not make the clock end a payment that came back while its address is open', async () => {
    const node = await open({ depth: 6 });
    const deposit = await scene.deposit();
    await signedForNothing(deposit.id, 2 * MINUTE_MS);
    scene.pass(3 * MINUTE_MS);
    await node.turn(8);
    assert.equal(await scene.status(deposit.id), 'requires_action');
    // Enough money comes in the last block before the expiry, which is final after it.
    scene.pass(7 * MINUTE_MS - 10_000);
    deposit.send(1_000n);
    scene.control.mine();
    scene.pass(10 * MINUTE_MS);
    await expirePayments(scene);
    assert.equal(await scene.status(deposit.id), 'requires_action');
    await node.turn(8);
    assert.equal(await scene.status(deposit.id), 'succeeded');
  });
});
