import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { insertItems } from '../../src/store/chain/items.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import { insertPartner } from '../../src/store/parties/partners.ts';
import { type BooksScene, openBooksScene } from '../e2e/books-scene.ts';
import type { SceneInput, TestNode } from '../e2e/relay-scene.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** More than the watcher judges in one round. */
const MANY = 600;

describe('a stranger who knows the id of a payment', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  async function open(input: SceneInput = {}): Promise<TestNode> {
    scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, ...input });
    return scene.newNode();
  }

  const inSeconds = (ms: number) => Math.floor((scene.nowMs() + ms) / 1_000);

  /** Coin actions of one payment, as `fetch` stores them, whose deadline is soon over. */
  async function offerMany(subject: string, count: number): Promise<void> {
    const items: Parameters<typeof insertItems>[1][number][] = [];
    for (let made = 0; made < count; made += 1) {
      const terms = { subject, deadlineS: inSeconds(MINUTE_MS) };
      const item = await scene.payers.newItem(scene.payers.newPayer(), 'native', terms);
      items.push(scene.newItem(item, { state: 'offered', signature: null }));
    }
    await command(scene, (tx, now) => insertItems(tx, items, now));
  }

  const openItems = async (subject: string) => {
    const rows = await scene.db.sql`
      select from items where subject = ${subject} and state in ('offered', 'due', 'sent') and purpose = 'payment'`;
    return rows.length;
  };

  const cancel = (paymentId: string) =>
    scene.movePayment({ paymentId, event: { type: 'cancelled', by: 'user' }, actor: 'test', evidence: {} });

  /** A payment whose signature runs out before the payment does, and whose payer has no money. */
  async function signedForNothing(lifeMs: number) {
    const accepted = await scene.accept({ terms: { deadlineS: inSeconds(lifeMs) } });
    scene.control.setBalance(accepted.payer.address, accepted.item.asset, 0n);
    return accepted;
  }

  it('delays no ending of others by actions of a cancelled payment whose address stays open', async () => {
    const node = await open();
    const { id } = await scene.deposit({ lifeMs: 10 * DAY_MS });
    await offerMany(id, MANY);
    await cancel(id);
    const victim = await signedForNothing(2 * MINUTE_MS);
    scene.pass(5 * MINUTE_MS);
    await node.turn(3);
    assert.equal(await scene.status(victim.id), 'requires_action');
    assert.equal(await openItems(id), 1, 'the address alone is open');
    scene.pass(15 * MINUTE_MS);
    await node.turn(2);
    assert.deepEqual(await scene.alerts(), [], 'no outcome is called unknown');
  });

  /** Adds an action on a network that nobody reads, so that the payments wait for it. */
  async function waitForOtherNetwork(payments: readonly string[]): Promise<void> {
    await scene.db.sql`
      insert into items select (jsonb_populate_record(i, jsonb_build_object('commitment', md5(i.commitment),
        'network', 'eip155:999', 'state', 'offered', 'method', 'native', 'signature', null))).*
      from items i where subject = any(${payments as string[]})`;
  }

  /** Gives the payment to a new merchant, of the scene's partner or of a new one. */
  async function giveTo(id: string, payment: string, partner: string | undefined): Promise<void> {
    await command(scene, async (tx, at) => {
      if (partner !== undefined) {
        const row = { id: partner, name: 'Test', pinnedVersion: '2026-02-18', frameOrigins: [] } as const;
        await insertPartner(tx, { ...row, createdAt: at });
      }
      const owner = { partnerId: partner ?? 'prtn_test', mode: 'test' } as const;
      const row = { ...owner, id, name: 'Shop', email: null, status: 'active', iconUrl: null } as const;
      await insertMerchant(tx, { ...row, createdAt: at, updatedAt: at });
      await tx`update payments set merchant_id = ${id}, partner_id = ${owner.partnerId} where id = ${payment}`;
    });
  }

  it('delays no ending of others by payments that must wait', async () => {
    const node = await open({ watching: { mostPerRound: 2 } });
    const waiting: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      const { id } = await signedForNothing(MINUTE_MS);
      waiting.push(id);
    }
    await waitForOtherNetwork(waiting);
    const victim = await signedForNothing(2 * MINUTE_MS);
    scene.pass(5 * MINUTE_MS);
    await node.turn(3);
    for (const id of waiting) assert.equal(await scene.status(id), 'processing');
    assert.equal(await scene.status(victim.id), 'requires_action');
  });

  for (const whose of ['merchants', 'partners']) {
    it(`delays no ending of others by payments of other ${whose} that must wait`, async () => {
      const node = await open({ watching: { mostPerRound: 2 } });
      const waiting: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        const { id } = await signedForNothing(MINUTE_MS);
        await giveTo(`mrch_${name}`, id, whose === 'partners' ? `prtn_${name}` : undefined);
        waiting.push(id);
      }
      await waitForOtherNetwork(waiting);
      const victim = await signedForNothing(2 * MINUTE_MS);
      await giveTo('mrch_z', victim.id, whose === 'partners' ? 'prtn_z' : undefined);
      scene.pass(5 * MINUTE_MS);
      await node.turn(3);
      for (const id of waiting) assert.equal(await scene.status(id), 'processing');
      assert.equal(await scene.status(victim.id), 'requires_action');
    });
  }

  it('delays no payment at an address by dust in every block at other addresses', async () => {
    const node = await open({ depth: 3, watching: { mostPerRound: 2 } });
    const dusty = [await scene.deposit(), await scene.deposit(), await scene.deposit()];
    const victim = await scene.deposit();
    victim.send(1_000n);
    for (let turns = 0; turns < 8; turns += 1) {
      for (const { send } of dusty) send(1n);
      await node.turn();
    }
    assert.equal(await scene.status(victim.id), 'succeeded');
  });

  it('piles up no actions: they end while the payment waits, all but the last, which ends it', async () => {
    const node = await open();
    const { id } = await scene.offer(MINUTE_MS);
    await offerMany(id, 30);
    await node.turn();
    assert.equal(await openItems(id), 31);
    scene.pass(2 * MINUTE_MS);
    await node.turn(2);
    assert.equal(await openItems(id), 1);
    assert.equal(await scene.status(id), 'requires_action');
    scene.pass(15 * MINUTE_MS);
    await expirePayments(scene);
    assert.equal(await scene.status(id), 'requires_action', 'the chain ends it, not the clock');
    await node.turn(2);
    assert.equal(await scene.status(id), 'expired');
    assert.equal(await openItems(id), 0);
  });

  it('takes no evidence away: coin that was sent by one of many actions still pays', async () => {
    const node = await open({ depth: 3 });
    const { id, pay, payer } = await scene.offer(MINUTE_MS);
    await offerMany(id, 30);
    scene.control.lie({ emptyEvents: 4 });
    pay();
    await node.turn();
    scene.pass(2 * MINUTE_MS);
    await node.turn(8);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.payment(id)).buyerAccount, `${scene.network}:${payer.address}`);
  });
});
