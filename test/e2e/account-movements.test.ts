import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { checkSolvency } from '../../src/actions/books/audit/solvency.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { recordUnexpectedTransfers } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { clearOutdatedAlerts } from '../../src/actions/oversight/clear-outdated-alerts.ts';
import { adoptAccount } from '../../src/actions/own-accounts.ts';
import { COLLECTORS } from '../../src/chains/evm/collectors.ts';
import { ACCOUNTS, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { findAccountCursor } from '../../src/store/chain/account-movements.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { SceneInput, TestNode } from './relay-scene.ts';

describe('movements of our own accounts', () => {
  let scene: RefundScene;
  let node: TestNode;
  afterEach(() => scene.close());

  async function open(input: SceneInput = {}) {
    scene = await openRefundScene(input);
    node = await scene.newNode();
    await scene.live(node, 2);
  }
  const read = () => recordUnexpectedTransfers(scene, scene.connected);
  const movements = () => scene.db.sql<
    { sender: string; recipient: string; units: string; from: string; to: string }[]
  >`
    select sender, recipient, amount::text as units, sender_owner as "from", recipient_owner as "to"
    from account_movements order by block_number, log_index`;
  const owners = async () => (await movements()).map(({ units, from, to }) => [units, from, to]);
  const named = async (name: string) => (await scene.alerts()).filter((alert) => alert.startsWith(`${name} `));
  const frozen = async () => (await listFreezes(scene.db.sql)).map(({ scope, subject }) => `${scope} ${subject}`);
  /** Money leaves the intermediate account by a transaction that the gateway did not order. */
  function withdraw(units: bigint, to = scene.payers.newAccount()): string {
    const { control, intermediate } = scene;
    control.setBalance(intermediate, DOLLAR, control.balanceOf(intermediate, DOLLAR) - units);
    return scene.transfer({ from: intermediate, to, units });
  }
  async function checkCover() {
    await scene.live(node, 1);
    await checkSolvency(scene, scene.connected);
  }

  it('are rows with the owners of both ends: of payments, payouts, floats and nobody', async () => {
    await open();
    await scene.register(scene.payers.newAccount());
    await scene.fill(node, OPERATOR_FLOAT, 500n);
    const { item, id } = await scene.paid(node, { isHeld: true });
    await scene.live(node, 5);
    assert.equal((await scene.payout(id))?.state, 'paid');
    const to = scene.payers.newAccount();
    await returnFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 200n, recipient: to, actor: 'test' });
    await scene.live(node, 5);
    const net = `${item.amount - item.fee}`;
    assert.deepEqual(await owners(), [
      ['500', null, 'nobody'],
      [net, null, 'item'],
      [net, 'item', null],
      ['200', 'item', null],
    ]);
    assert.deepEqual([await named('money_left'), await named('stray_money')], [[], []]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that leave without an order take the float of the operator, and nothing of others', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 500n);
    await scene.fill(node, scene.merchantId, 300n);
    await scene.live(node, 2);
    const to = scene.payers.newAccount();
    const hash = withdraw(120n, to);
    await scene.live(node, 4);
    assert.deepEqual((await owners()).at(-1), ['120', 'nobody', null]);
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '380', [scene.merchantId]: '300' });
    assert.equal((await named('money_left')).length, 1);
    const text = (await scene.alertText('money_left')) ?? '';
    assert.ok(text.includes(hash) && text.includes(to), text);
    assert.deepEqual(await scene.differences(), []);
    await checkCover();
    await checkCover();
    assert.deepEqual(await frozen(), []);
    const clear = () => clearOutdatedAlerts(scene);
    await clear();
    assert.equal((await named('money_left')).length, 1);
    scene.pass(8 * 86_400_000);
    await clear();
    assert.deepEqual(await named('money_left'), [], 'it was reported for a week');
  });

  it('that leave beyond that float are missing and freeze the asset, until the operator brings them back', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.fill(node, scene.merchantId, 300n);
    await scene.live(node, 2);
    withdraw(120n);
    await scene.live(node, 4);
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '0', [scene.merchantId]: '300' });
    const missing = ACCOUNTS.missing(scene.intermediate);
    assert.equal((await scene.books())[missing], -70n);
    assert.deepEqual(await scene.differences(), [], 'the books say what the account holds');
    await checkCover();
    await checkCover();
    assert.deepEqual(await frozen(), [`asset ${DOLLAR}`]);
    await scene.fill(node, OPERATOR_FLOAT, 30n);
    assert.equal((await scene.books())[missing], -40n);
    assert.equal((await named('money_left')).length, 1);
    await scene.fill(node, OPERATOR_FLOAT, 45n);
    assert.equal((await scene.books())[missing], undefined);
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '5', [scene.merchantId]: '300' });
    assert.deepEqual(await named('money_left'), []);
    await checkCover();
    assert.deepEqual([await frozen(), await named('money_missing'), await named('shortfall')], [[], [], []]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that leave without an order take the fees first, where the fee account is the same account, or has replaced it', async () => {
    await open();
    Object.assign(scene.connected, { feeAccount: scene.intermediate });
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    const { item } = await scene.paid(node, { isHeld: true, terms: { feeAccount: scene.intermediate } });
    const left = async () => {
      const books = await scene.books();
      return [ACCOUNTS.fees, ACCOUNTS.float(OPERATOR_FLOAT), ACCOUNTS.missing(scene.intermediate)].map(
        (name) => books[name] ?? 0n,
      );
    };
    assert.deepEqual(await left(), [item.fee, 50n, 0n]);
    withdraw(item.fee - 4n);
    await scene.live(node, 4);
    assert.deepEqual(await left(), [4n, 50n, 0n]);
    const next = scene.payers.newAccount();
    Object.assign(scene.connected, { intermediateAccount: next, feeAccount: next });
    await adoptAccount(scene, { network: scene.network, address: next, actor: 'test' });
    withdraw(5n);
    await scene.live(node, 4);
    assert.deepEqual(await left(), [0n, 49n, 0n]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('and fees of a stranger’s item in the batch of ours are unexpected, and ours are no money twice', async () => {
    await open();
    Object.assign(scene.connected, { feeAccount: scene.intermediate });
    // The first release of the Collector shows no seal, which a stranger could not make.
    const terms = { feeAccount: scene.intermediate, collector: COLLECTORS[0]?.address ?? '' };
    const { signed, id } = await scene.accept({ terms });
    const other = await scene.payers.payable('eip3009-vrs', { ...terms, fee: 5n });
    scene.control.relayAsStranger([signed, other.signed]);
    await scene.live(node, 5);
    assert.equal(await scene.status(id), 'succeeded');
    const books = await scene.books();
    assert.deepEqual([books[ACCOUNTS.fees], books[ACCOUNTS.unexpected]], [10n, 5n]);
    assert.deepEqual(await scene.differences(), []);
    const [rest] = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 9 });
    assert.ok(rest !== undefined && rest.amount === '5');
    const stranger = scene.payers.newAccount();
    const to = { chainId: scene.network, address: stranger };
    const give = () => returnUnexpected(scene, { id: rest.id, to, actor: 'test' });
    await scene.db.sql`update strays set amount = 6 where id = ${rest.id}`;
    await assert.rejects(give(), /The chain does not show the transfer that it came by/, 'ours is no part of it');
    await scene.db.sql`update strays set amount = 5 where id = ${rest.id}`;
    await give();
    await scene.live(node, 5);
    assert.equal(scene.control.balanceOf(stranger, DOLLAR), 5n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are booked once by two nodes that read at the same time', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 500n);
    await scene.live(node, 2);
    withdraw(100n);
    scene.transfer({ from: scene.payers.newAccount(), units: 7n });
    await node.turn(3);
    await Promise.all([read(), read(), read()]);
    await read();
    assert.deepEqual(await owners(), [
      ['500', null, 'nobody'],
      ['100', 'nobody', null],
      ['7', null, 'nobody'],
    ]);
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '400' });
    assert.deepEqual(await scene.differences(), []);
  });

  it('of a stranger who sends dust have one alert, which ends with the last of them', async () => {
    await open();
    const hashes = Array.from({ length: 40 }, () => scene.transfer({ from: scene.payers.newAccount(), units: 1n }));
    await scene.live(node, 3);
    assert.equal((await movements()).length, 40);
    assert.deepEqual(await named('stray_money'), [`stray_money ${scene.intermediate} ${DOLLAR}`]);
    assert.match((await scene.alertText('stray_money')) ?? '', /40 transfers, of 0\.00004 USDC/);
    for (const [index, transactionHash] of hashes.entries()) {
      assert.equal((await named('stray_money')).length, 1, `before claim ${index}`);
      await addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' });
    }
    assert.deepEqual(await named('stray_money'), []);
    const again = { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash: hashes[0] ?? '', actor: 'test' };
    await assert.rejects(addFloat(scene, again), /credited or returned before/);
  });

  it('go with a deep reorganisation, and what was booked for them goes, too', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.live(node, 2);
    const { number: before } = await scene.chain.reader.head();
    const arrival = scene.transfer({ from: scene.payers.newAccount(), units: 77n });
    const departure = withdraw(60n);
    await scene.live(node, 4);
    const missing = ACCOUNTS.missing(scene.intermediate);
    assert.deepEqual(
      [await scene.floats(), (await scene.books())[missing], (await listOpen()).length],
      [{ [OPERATOR_FLOAT]: '0' }, -10n, 1],
    );
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - before, { drop: [arrival, departure], length: number - before + 1 });
    await scene.live(node, 6);
    assert.deepEqual(await owners(), [['50', null, 'nobody']]);
    assert.deepEqual(
      [await scene.floats(), (await scene.books())[missing], await listOpen()],
      [{ [OPERATOR_FLOAT]: '50' }, undefined, []],
    );
    assert.deepEqual([await named('money_left'), await named('stray_money')], [[], []]);
  });

  it('that a reorganisation mines again are booked again', async () => {
    await open();
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.live(node, 2);
    const { number: before } = await scene.chain.reader.head();
    scene.transfer({ from: scene.payers.newAccount(), units: 77n });
    await scene.live(node, 4);
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - before, { length: number - before + 1 });
    await scene.live(node, 1);
    await scene.live(node, 6);
    assert.deepEqual(await owners(), [
      ['50', null, 'nobody'],
      ['77', null, 'nobody'],
    ]);
    assert.equal((await scene.books())[ACCOUNTS.unexpected], 77n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are not stored from blocks that were read before a reorganisation', async () => {
    await open();
    scene.transfer({ from: scene.payers.newAccount(), units: 77n });
    await node.turn(3);
    const { number } = await scene.chain.reader.head();
    const witness = () => scene.chain.reader.witnesses();
    const cursor = await findAccountCursor(scene.db.sql, scene.network);
    assert.ok(cursor !== undefined && cursor.readTo < number);
    const connected = {
      ...scene.connected,
      chain: {
        ...scene.connected.chain,
        reader: {
          ...scene.chain.reader,
          witnesses: () =>
            witness().map((each) => ({
              ...each,
              touching: async (...ask: Parameters<typeof each.touching>) => {
                const found = await each.touching(...ask);
                await scene.db.sql`update account_cursors set reorgs = reorgs + 1`;
                return found;
              },
            })),
        },
      },
    };
    assert.equal(await recordUnexpectedTransfers(scene, connected), true, 'it reads them again');
    assert.deepEqual(await movements(), []);
    await read();
    assert.equal((await movements()).length, 1);
  });

  it('begin, after an upgrade, where the search of the older version was, and have the range of each account', async () => {
    await open();
    const { number } = await scene.chain.reader.head();
    await scene.db.sql`delete from account_ranges`;
    await scene.db.sql`delete from account_cursors`;
    const [row] = await scene.db.sql<{ searched: number }[]>`select block_number::int as searched from stray_cursors`;
    scene.transfer({ from: scene.payers.newAccount(), units: 5n });
    await scene.live(node, 3);
    assert.deepEqual(await owners(), [['5', null, 'nobody']]);
    const rows = await scene.db.sql<{ address: string; from: number }[]>`
      select address, from_block::int as from from account_ranges`;
    const ranges = new Map(rows.map(({ address, from }) => [address, from]));
    assert.equal(ranges.get(scene.intermediate), (row?.searched ?? 0) + 1);
    assert.equal(ranges.size, 1 + scene.connected.relayers.length);
    const cursor = await findAccountCursor(scene.db.sql, scene.network);
    assert.ok(cursor !== undefined && cursor.readTo > number - 2);
  });

  it('that the database has forgotten are left to the rebuild', async () => {
    await open();
    await scene.register(scene.payers.newAccount());
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    const { number: before } = await scene.chain.reader.head();
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.live(node, 5);
    assert.equal((await scene.payout(id))?.state, 'paid');
    await scene.forgetPayout(id);
    await scene.db.sql`delete from account_movements where block_number > ${before}`;
    await scene.db.sql`update account_cursors set block_number = ${before}`;
    await read();
    assert.deepEqual(await named('money_left'), []);
    assert.deepEqual(await scene.floats(), { [OPERATOR_FLOAT]: '5000' });
  });

  function listOpen() {
    return listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
  }
});
