import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { eventEntries } from '../../src/actions/oversight/event-entries.ts';
import { readHistory } from '../../src/actions/oversight/history.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { IS_LONG } from '../long.ts';
import { REGISTRY } from '../registry.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import { DOLLAR } from './refund-scene.ts';

/** How often a stranger presents an authorization. */
const TIMES = IS_LONG ? 1_000 : 20;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };

describe('an accepted x402 authorization', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  async function open(input: Parameters<typeof openBooksScene>[0] = EVERYTHING) {
    scene = await openBooksScene(input);
    const node = await scene.newNode();
    await node.turn(1);
    return node;
  }

  /** The money is with the merchant, once, and books and chain agree. */
  async function checkPaid(id: string, payer: string): Promise<void> {
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(scene.control.balanceOf(payer, DOLLAR), 5n);
    assert.deepEqual(await scene.balances(DOLLAR), {
      payer: -1_000n,
      fees: 10n,
      [`settled/${scene.merchantId}`]: 990n,
    });
    assert.deepEqual(await scene.differences(), []);
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
    assert.deepEqual(await scene.alerts(), []);
  }

  /** The entry of the timeline about a payment that can be paid again. */
  async function lapseOf(id: string): Promise<string | undefined> {
    const entries = eventEntries(await readHistory(scene.db.sql, await scene.payment(id), 100), REGISTRY);
    return entries.find(({ what }) => what === 'payment.requires_action')?.partnerText;
  }

  it('is carried out and swept by one transaction, which settles the payment', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer, commitment } = await scene.authorize(deposit);
    assert.equal(await scene.status(deposit.id), 'processing');
    await node.turn(4);
    await checkPaid(deposit.id, payer);
    assert.equal((await scene.versions()).length, 1);
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.equal((await scene.payment(deposit.id)).buyerAccount, `${scene.network}:${payer}`);
  });

  it('is not in the books before its money arrives', async () => {
    const node = await open();
    const first = await scene.deposit();
    await scene.authorize(first);
    await node.turn(4);
    await scene.authorize(await scene.deposit());
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
  });

  it('is held for a merchant without a destination, once', async () => {
    const node = await open();
    const deposit = await scene.deposit({ isHeld: true });
    await scene.authorize(deposit);
    await node.turn(4);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    assert.equal((await scene.balances(DOLLAR))[ACCOUNTS.payable(scene.merchantId)], 990n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('pays as well if a stranger presents it to the token: our transaction sweeps the address', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer, signed, commitment } = await scene.authorize(deposit);
    for (let times = 0; times < TIMES; times += 1) scene.control.authorizeAsStranger(signed);
    scene.control.mine();
    await node.turn(8);
    await checkPaid(deposit.id, payer);
    assert.equal((await scene.item(commitment))?.state, 'paid');
  });

  it('pays as well if a stranger sends our transaction first', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer, signed } = await scene.authorize(deposit);
    for (let times = 0; times < TIMES; times += 1) scene.control.relayAsStranger([signed]);
    scene.control.mine();
    await node.turn(8);
    await checkPaid(deposit.id, payer);
    assert.equal((await scene.versions()).length, 0);
  });

  it('pays as well if an endpoint hides the transfer and the sweep of a stranger', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer, signed } = await scene.authorize(deposit);
    const { incoming } = scene.chain.reader;
    Object.assign(scene.chain.reader, { incoming: async () => [] });
    scene.control.lie({ emptyEvents: 4 });
    scene.control.relayAsStranger([signed]);
    scene.control.mine(20);
    await node.watch();
    await node.turn(3);
    Object.assign(scene.chain.reader, { incoming });
    await node.turn(8);
    await checkPaid(deposit.id, payer);
  });

  it('that ran out brings the payment back, and another one pays it', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const first = await scene.authorize(deposit);
    scene.control.setBalance(first.payer, DOLLAR, 0n);
    await node.turn(3);
    assert.equal(await scene.status(deposit.id), 'processing');
    scene.pass(180_000);
    await node.turn(4);
    assert.equal(await scene.status(deposit.id), 'requires_action');
    assert.equal((await scene.item(first.commitment))?.state, 'unpaid');
    assert.equal((await scene.item(first.commitment))?.signature, null);
    assert.match((await lapseOf(deposit.id)) ?? '', /nothing was charged by it\. .* can be paid again/);
    const second = await scene.authorize(deposit);
    await node.turn(4);
    await checkPaid(deposit.id, second.payer);
  });

  it('that its payer has cancelled brings the payment back', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { item, commitment } = await scene.authorize(deposit);
    scene.control.cancelAuthorization(item);
    scene.control.mine();
    await node.turn(6);
    assert.equal((await scene.item(commitment))?.state, 'unpaid');
    assert.equal(await scene.status(deposit.id), 'requires_action');
    const text = await lapseOf(deposit.id);
    assert.match(text ?? '', /The last attempt to pay is over\. The payment can be paid again/);
    assert.doesNotMatch(text ?? '', /charged/, 'a used authorization may have moved the money');
    assert.deepEqual(await scene.differences(), []);
  });

  it('that ran out brings the payment back beside too little money at its address, which still counts', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer } = await scene.authorize(deposit);
    scene.control.setBalance(payer, DOLLAR, 0n);
    deposit.send(400n);
    await node.turn(3);
    scene.pass(180_000);
    await node.turn(4);
    assert.equal(await scene.status(deposit.id), 'requires_action');
    deposit.send(600n);
    await node.turn(5);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    assert.deepEqual(await scene.differences(), []);
  });

  it('does not bring the payment back while enough money is at its address', async () => {
    const node = await open({ ...EVERYTHING, depth: 6 });
    const deposit = await scene.deposit();
    const { payer } = await scene.authorize(deposit);
    scene.control.setBalance(payer, DOLLAR, 0n);
    await node.turn(3);
    scene.pass(180_000);
    await node.turn(4);
    deposit.send(1_000n);
    await node.turn(3);
    assert.equal(await scene.status(deposit.id), 'processing', 'the deadline is final, the money is not');
    await node.turn(5);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    assert.deepEqual(await scene.differences(), []);
  });

  it('is sent again after a reorganisation that forgets it', async () => {
    const node = await open({ ...EVERYTHING, depth: 4 });
    const deposit = await scene.deposit();
    const { payer } = await scene.authorize(deposit);
    await node.turn(2);
    scene.control.reorg(2, { transactions: 'dropped' });
    await node.turn(10);
    await checkPaid(deposit.id, payer);
  });

  it('is not sent once the payment was paid in another way', async () => {
    const node = await open();
    const deposit = await scene.deposit();
    const { payer } = await scene.authorize(deposit);
    scene.control.setPaused(DOLLAR);
    await node.turn(2);
    scene.control.setPaused(DOLLAR, false);
    deposit.send(1_000n);
    scene.control.mine();
    await node.watch();
    await node.turn(6);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    const spent = 1_005n - scene.control.balanceOf(payer, DOLLAR);
    assert.ok(spent === 0n || spent === 1_000n, 'the authorization was carried out as a whole, or not at all');
    assert.deepEqual(await scene.differences(), []);
  });
});
