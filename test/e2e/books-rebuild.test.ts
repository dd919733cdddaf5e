import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import { makeReceipt } from '../../src/actions/paying/make-receipt.ts';
import { COLLECTORS, DEPOSIT_CONTRACTS } from '../../src/chains/evm/collectors.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { TestNode } from './relay-scene.ts';

const MERCHANT = 'mrch_test';
const USDC = SANDBOX_ASSETS['eip3009-vrs'];

describe('till rebuild', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  /** A payment that was paid to the intermediate account, and one that was not. */
  async function openPaid() {
    scene = await openBooksScene();
    const held = await scene.accept({ terms: { recipient: scene.connected.intermediateAccount }, isHeld: true });
    const direct = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    await scene.seal();
    assert.deepEqual(await scene.differences(), []);
    return { held, direct, node };
  }

  const lose = async (...statements: readonly string[]) => {
    for (const statement of statements) await scene.tamper(statement);
  };
  const itemRows = (commitment: string) => [
    `delete from relay_items where commitment = '${commitment}'`,
    `delete from items where commitment = '${commitment}'`,
  ];

  it('asks for the owner of a payment that the chain does not show, and uses the answer', async () => {
    const { held } = await openPaid();
    await lose(
      `delete from events where object_id = '${held.id}'`,
      `delete from lots where payment_id = '${held.id}'`,
      `delete from book_entries where reference = '${held.commitment}'`,
      ...itemRows(held.commitment),
      `delete from payments where id = '${held.id}'`,
    );
    const first = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual([first?.rebuilt, first?.unplaced.map(({ id }) => id)], [[], [held.id]]);
    assert.match(first?.unplaced[0]?.problem ?? '', /--merchant/);
    const unknown = await rebuild(scene, scene.connected, { from: 0, merchantId: 'mrch_nobody' });
    assert.deepEqual([unknown?.rebuilt, unknown?.unplaced.map(({ id }) => id)], [[], [held.id]]);
    const second = await rebuild(scene, scene.connected, { from: 0, merchantId: MERCHANT });
    assert.deepEqual([second?.rebuilt, second?.unplaced], [[held.id], []]);
    assert.equal((await scene.balances(USDC))[ACCOUNTS.payable(MERCHANT)], 990n);
    const [lot] = await scene.db.sql<{ net: string; isOpen: boolean }[]>`
      select net, is_open as "isOpen" from lots where payment_id = ${held.id}`;
    assert.deepEqual(lot, { net: '990', isOpen: true });
    assert.deepEqual(await scene.differences(), []);
  });

  it('makes the item of a payment again that is still there, and leaves the payment as it is', async () => {
    const { direct } = await openPaid();
    const before = await scene.payment(direct.id);
    await lose(...itemRows(direct.commitment));
    assert.deepEqual(await scene.differences(), [`${direct.id} was paid on chain, and nothing is known of its item.`]);
    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual(report?.rebuilt, [direct.id]);
    assert.deepEqual(await scene.payment(direct.id), before);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await scene.problems(), []);
  });

  it('rebuilds a payment whose item still exists', async () => {
    const { direct } = await openPaid();
    await lose(`delete from events where object_id = '${direct.id}'`, `delete from payments where id = '${direct.id}'`);
    assert.deepEqual(await scene.differences(), [`${direct.id} was paid on chain, and nothing is known of its item.`]);
    const report = await rebuild(scene, scene.connected, { from: 0, merchantId: MERCHANT });
    assert.deepEqual(report?.rebuilt, [direct.id]);
    assert.equal(await scene.status(direct.id), 'succeeded');
    assert.deepEqual(await scene.differences(), []);
  });

  it('rebuilds payments with a receipt: the commitment proves the terms that no event holds', async () => {
    const { direct } = await openPaid();
    const receiptKey = receiptKeyOf(new Uint8Array(32).fill(7));
    const receiptOf = async () => (await makeReceipt({ ...scene, receiptKey }, await scene.payment(direct.id))).receipt;
    const before = await receiptOf();
    await lose(
      `delete from events where object_id = '${direct.id}'`,
      `delete from payment_settlements where payment_id = '${direct.id}'`,
      `delete from chain_events where commitment = '${direct.commitment}'`,
      `delete from book_entries where reference = '${direct.commitment}'`,
      ...itemRows(direct.commitment),
      `delete from payments where id = '${direct.id}'`,
    );
    await rebuild(scene, scene.connected, { from: 0, merchantId: MERCHANT });
    const after = await receiptOf();
    // The chain knows neither the price nor what the merchant called it.
    const lost = { referenceId: 'rebuilt', priceUnit: `caip19/${USDC}`, priceValue: before.amount };
    assert.deepEqual(after, { ...before, ...lost, succeededAt: after.succeededAt });
  });

  it('rebuilds a payment that arrived after the end, and its late money', async () => {
    scene = await openBooksScene();
    const late = await scene.accept({ terms: { recipient: scene.connected.intermediateAccount }, isHeld: true });
    const failed = { type: 'failed', failureCode: null } as const;
    await scene.movePayment({ paymentId: late.id, event: failed, actor: 'test', evidence: {} });
    await (await scene.newNode()).turn(2);
    const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 5 });
    const [before] = await unexpectedMoney();
    await lose(
      `delete from strays where payment_id = '${late.id}'`,
      `delete from alerts`,
      `delete from book_entries where reference = '${late.commitment}'`,
      ...itemRows(late.commitment),
    );
    assert.deepEqual((await rebuild(scene, scene.connected, { from: 0 }))?.rebuilt, [late.id]);
    assert.deepEqual([...(await unexpectedMoney())], [{ ...before, seenAt: new Date(scene.nowMs()) }]);
    assert.deepEqual(await scene.alerts(), [`paid_after_end ${late.id}`]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('makes entries again, and the balances right, when only they were lost', async () => {
    const { direct } = await openPaid();
    await lose(`delete from book_entries where reference = '${direct.commitment}' and kind = 'paid'`);
    const differences = await scene.differences();
    assert.ok(differences.includes(`${direct.id} is in the books with 0.001 USDC on in_flight instead of 0.00 USDC.`));
    assert.ok(
      differences.includes(
        `${direct.id} is in the books with 0.00 USDC on settled/${MERCHANT} instead of 0.00099 USDC.`,
      ),
    );
    assert.deepEqual((await rebuild(scene, scene.connected, { from: 0 }))?.rebuilt, [direct.id]);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await scene.balances(USDC), {
      payer: -2_000n,
      fees: 20n,
      [ACCOUNTS.payable(MERCHANT)]: 990n,
      [ACCOUNTS.settled(MERCHANT)]: 990n,
    });
    await scene.seal();
    // Removed entries stay missing in the chain of hashes. Everything else adds up.
    const problems = await scene.problems();
    assert.deepEqual(
      problems.filter((problem) => !/missing/.test(problem)),
      [],
    );
  });

  it('takes nothing for ours that a stranger did', async () => {
    const { node } = await openPaid();
    const stranger = scene.payers.newPayer();
    // One seal is made up. The other is that of a real item, on other terms.
    const item = await scene.payers.newItem(stranger, 'eip3009-vrs');
    scene.control.emitLookAlike({ ...item, seal: '5e'.repeat(32) });
    scene.control.emitLookAlike({ ...item, amount: 1n });
    // The Collector reports that our own account has paid, and no token has moved anything.
    scene.control.emitLookAlike({ ...item, payer: scene.connected.intermediateAccount, amount: 2n });
    await node.turn(2);
    assert.deepEqual(await scene.differences(), []);
    const report = await rebuild(scene, scene.connected, { from: 0, merchantId: MERCHANT });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[], []]);
  });

  describe('lets no stranger pay an open payment that a call names', () => {
    /** An open payment, and the terms of a stranger who pays one unit to our account in its name. */
    async function openOffer() {
      const { node } = await openPaid();
      const { id } = await scene.offer();
      const offered = { subject: id, recipient: scene.intermediate, amount: 1n, fee: 0n } as const;
      return { node, id, offered };
    }
    const isStillOpen = async (id: string, node: TestNode) => {
      await node.turn(2);
      await freeze(scene, { scope: 'restored', subject: scene.network, reason: 'restored', actor: 'operator' });
      const report = await rebuild(scene, scene.connected, { from: 0, merchantId: MERCHANT });
      // The stranger's money is unexpected money.
      assert.deepEqual(
        report?.rebuilt.filter((each) => !each.startsWith('stry_')),
        [],
      );
      assert.equal(report?.isLifted, true, 'it keeps no payout frozen');
      await node.turn(3);
      assert.equal(await scene.status(id), 'requires_action');
    };

    it('by the first release of the Collector, which shows no seal', async () => {
      const { node, id, offered } = await openOffer();
      const collector = COLLECTORS[0]?.address ?? '';
      const { signed } = await scene.payers.payable('eip3009-vrs', { ...offered, collector });
      assert.equal(signed.item.seal, undefined);
      scene.control.relayAsStranger([signed]);
      await isStillOpen(id, node);
    });

    it('by the newest release, with a seal that belongs to other terms', async () => {
      const { node, id, offered } = await openOffer();
      const { seal } = await scene.payers.newItem(scene.payers.newPayer(), 'eip3009-vrs', {
        ...offered,
        amount: 1_000n,
      });
      const { payer } = await scene.payers.payable('eip3009-vrs', offered);
      const spliced = {
        ...(await scene.payers.newItem(payer, 'eip3009-vrs', offered)),
        ...(seal !== undefined && { seal }),
      };
      scene.control.emitLookAlike(spliced);
      await isStillOpen(id, node);
    });

    it('by a deposit address with terms of its own', async () => {
      const { node, id, offered } = await openOffer();
      const contract = DEPOSIT_CONTRACTS[0]?.address ?? '';
      const terms = { ...offered, method: 'deposit', collector: contract, payer: contract } as const;
      const item = await scene.payers.newItem(scene.payers.newPayer(), 'eip3009-vrs', terms);
      assert.equal(item.seal, undefined);
      const address = scene.chain.payerSide.depositAddressOf(item);
      scene.control.setBalance(address, USDC, 1n);
      scene.control.relayAsStranger([
        { item: { ...item, payer: address }, commitment: '', signature: '0x', hasCode: false },
      ]);
      await isStillOpen(id, node);
    });
  });
});
