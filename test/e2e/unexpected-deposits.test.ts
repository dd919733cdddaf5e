import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { searchUnexpected } from '../../src/actions/watch/deposits/search-unexpected.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import type { LateMoney } from '../../src/domain/late-money.ts';
import type { ApiError } from '../../src/errors.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import { BASE_SEPOLIA, BASE_SEPOLIA_USDC } from './paying-shop.ts';
import type { SceneInput } from './relay-scene.ts';

const USDC = SANDBOX_ASSETS['eip3009-vrs'];
const TETHER = SANDBOX_ASSETS.permit2;
const SETTLED = ACCOUNTS.settled('mrch_test');
const PAYABLE = ACCOUNTS.payable('mrch_test');
const DAY_MS = 86_400_000;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };

describe('unexpected money at a deposit address', () => {
  let scene: BooksScene;
  const open = async (input: SceneInput = EVERYTHING) => {
    scene = await openBooksScene(input);
    return scene;
  };
  afterEach(() => scene.close());

  const lateMoney = async (id: string) =>
    (await listEvents(scene.db.sql, id))
      .filter(({ type }) => type === 'payment.late_money')
      .map(({ data }) => {
        const { id: unexpectedId, ...money } = data.lateMoney as LateMoney;
        assert.match(unexpectedId ?? '', /^stry_/);
        return money;
      });

  /** Nothing is in the books that is not on the chain, and the other way round. */
  async function isReconciled(of = scene) {
    assert.deepEqual(await of.differences(), []);
    await of.seal();
    assert.deepEqual(await of.problems(), []);
  }

  it('in another token does not count, is named, and is swept to the merchant', async () => {
    await open();
    const { id, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n, { token: TETHER });
    await node.turn(4);
    assert.equal(await scene.status(id), 'requires_action');
    assert.deepEqual(await lateMoney(id), [{ reason: 'wrong_token', asset: TETHER, amount: '1000' }]);
    assert.equal(scene.control.balanceOf(item.recipient, TETHER), 990n);
    assert.deepEqual(await scene.balances(TETHER), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    await isReconciled();
    // The payment is not touched by it, and its settlement is the sweep of the asked token.
    send(1_000n);
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990');
    const listed = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual(
      listed.map((each) => [each.paymentId, each.account, each.asset, each.amount, each.fee, each.sender]),
      [[id, item.recipient, TETHER, '1000', '10', null]],
    );
    assert.deepEqual(await scene.alerts(), []);
    await isReconciled();
  });

  it('is swept again when more comes, together with the money of others', async () => {
    await open();
    const addresses = [await scene.deposit(), await scene.deposit(), await scene.deposit()];
    const node = await scene.newNode();
    for (const { send } of addresses) send(1_000n, { token: TETHER });
    await node.turn(4);
    assert.equal((await scene.versions()).length, 1, 'one transaction sweeps all');
    addresses[0]?.send(500n, { token: TETHER });
    addresses[0]?.send(700n);
    await node.turn(4);
    const recipient = addresses[0]?.item.recipient ?? '';
    assert.equal(scene.control.balanceOf(recipient, TETHER), 1_485n);
    await isReconciled();
  });

  it('of a merchant without a destination is held for the merchant, once', async () => {
    await open();
    const { send } = await scene.deposit({ isHeld: true });
    const node = await scene.newNode();
    send(1_000n, { token: TETHER });
    await node.turn(4);
    assert.deepEqual(await scene.balances(TETHER), { payer: -1_000n, fees: 10n, [PAYABLE]: 990n });
    await isReconciled();
    // The sweep leaves the chain and is repeated. The money is not there twice.
    scene.control.reorg(3, { transactions: 'dropped', length: 4 });
    assert.equal(scene.control.balanceOf(scene.intermediate, TETHER), 0n, 'the sweep is gone');
    await node.turn(8);
    assert.equal(scene.control.balanceOf(scene.intermediate, TETHER), 990n);
    assert.deepEqual(await scene.balances(TETHER), { payer: -1_000n, fees: 10n, [PAYABLE]: 990n });
    const lots = await scene.db.sql`select net::text, reason from lots where asset = ${TETHER}`;
    assert.deepEqual([...lots], [{ net: '990', reason: 'wrong_token' }]);
    await isReconciled();
  });

  it('is left where it is while a sweep costs more than it brings, and is named all the same', async () => {
    await open({});
    const { id, address, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n, { token: TETHER });
    await node.turn(4);
    assert.equal(scene.control.balanceOf(address, TETHER), 1_000n);
    assert.equal((await lateMoney(id)).length, 1);
    assert.deepEqual(await scene.balances(TETHER), { payer: -1_000n, deposits: 1_000n });
    await isReconciled();
    send(5_000_000n, { token: TETHER });
    await node.turn(4);
    assert.equal(scene.control.balanceOf(address, TETHER), 0n);
    await isReconciled();
  });

  it('of a screened sender is not swept', async () => {
    const hits = new Set<string>();
    const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
    const decide = (accounts: readonly string[]) => ({ hits: accounts.filter((each) => hits.has(each)), list });
    await open({ ...EVERYTHING, screening: { decide } });
    const { address, send, sender } = await scene.deposit();
    hits.add(`${scene.network}:${sender}`);
    const node = await scene.newNode();
    send(1_000n, { token: TETHER });
    await node.turn(4);
    assert.equal(scene.control.balanceOf(address, TETHER), 1_000n);
    assert.ok((await scene.alerts()).some((alert) => alert.startsWith('screened_payer')));
  });

  it('may be swept by a stranger, before and after the gateway orders it', async () => {
    await open({ ...EVERYTHING, depth: 3 });
    const node = await scene.newNode();
    for (const rounds of [0, 3]) {
      const { item, send } = await scene.deposit();
      send(1_000n, { token: TETHER });
      await node.turn(rounds);
      if (rounds > 0) await node.relay();
      scene.control.setFees({ tip: 100_000_000_000n });
      const swept = { ...item, asset: TETHER, asked: USDC };
      scene.control.relayAsStranger([{ item: swept, commitment: '', signature: '0x', hasCode: false }]);
      scene.control.mine();
      scene.control.setFees({ tip: 1_000_000_000n });
      for (let round = 0; round < 5; round += 1) {
        await node.turn(2);
        scene.pass(60_000);
      }
      assert.equal(scene.control.balanceOf(item.recipient, TETHER), 990n);
      const open = await scene.db.sql`select from items where purpose = 'sweep' and state in ('due', 'sent')`;
      assert.equal(open.length, 0);
      await isReconciled();
    }
  });

  it('is no part of the settlement or of the proof of a payout', async () => {
    await open();
    const { id, item, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    send(70_000n, { token: TETHER });
    const swept = [item, { ...item, asset: TETHER, asked: USDC }];
    for (const each of swept) {
      scene.control.relayAsStranger([{ item: each, commitment: '', signature: '0x', hasCode: false }]);
    }
    await node.turn(5);
    assert.equal((await findPaymentSettlement(scene.db.sql, id))?.amount, '990');
    await isReconciled();
  });

  it('comes back with its payment when the database is rebuilt', async () => {
    await open();
    const { id, commitment, send } = await scene.deposit();
    const node = await scene.newNode();
    send(1_000n);
    send(300n, { token: TETHER });
    await node.turn(5);
    await scene.seal();
    await scene.tamper(`delete from strays where payment_id = '${id}'`);
    await scene.forget(id, commitment);
    const report = await rebuild(scene, scene.connected, { from: 0, merchantId: scene.merchantId });
    assert.deepEqual([report?.rebuilt, report?.unplaced], [[id], []]);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.balances(TETHER), { payer: -300n, fees: 3n, [SETTLED]: 297n });
    assert.deepEqual(await scene.differences(), []);
  });

  it('of a screened sender does not count after a rebuild either', async () => {
    const hits = new Set<string>();
    const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
    const decide = (accounts: readonly string[]) => ({ hits: accounts.filter((each) => hits.has(each)), list });
    await open({ ...EVERYTHING, screening: { decide } });
    const { id, item, send, sender } = await scene.deposit();
    hits.add(`${scene.network}:${sender}`);
    const node = await scene.newNode();
    send(1_000n);
    await node.turn(2);
    scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    await node.turn(4);
    const screened = () => scene.db.sql`select is_screened from movements where payment_id = ${id}`;
    assert.deepEqual(await screened(), [{ is_screened: true }]);
    for (const table of ['movements', 'lots', 'positions']) {
      await scene.tamper(`delete from ${table} where payment_id = '${id}'`);
    }
    await scene.tamper('delete from alerts');
    await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual(await screened(), [{ is_screened: true }]);
    assert.ok((await scene.alerts()).some((alert) => alert.startsWith('screened_payer')));
    await node.turn(2);
    assert.equal(await scene.status(id), 'requires_action');
  });

  it('that came when nobody watched any more is read from the chain, and waits while its blocks cannot be read', async () => {
    await open();
    const { id, address, send } = await scene.deposit();
    const node = await scene.newNode();
    await node.turn(2);
    scene.pass(31 * DAY_MS);
    await node.turn(2);
    const { number } = await scene.chain.reader.head();
    const hash = send(1_000n, { token: TETHER });
    scene.control.mine(1_200);
    await node.turn();
    const { reader } = scene.chain;
    const incoming: typeof reader.incoming = async (accounts, from, to) => {
      if (from <= number) throw new ChainUnavailableError(scene.network, 'these blocks are pruned');
      return reader.incoming(accounts, from, to);
    };
    node.watcher.chain = { ...scene.chain, reader: { ...reader, incoming } };
    await searchUnexpected(
      { ...scene, sweepFrom: () => 0n },
      { paymentId: id, network: undefined, isSweep: true, actor: 'operator' },
    );
    // While no address is watched, the cursor moves in steps of a hundred blocks.
    scene.control.mine(100);
    await node.turn(3);
    const movements = () =>
      scene.db.sql`select transaction_hash as hash, source, amount::text from movements where payment_id = ${id}`;
    assert.deepEqual([...(await movements())], []);
    assert.deepEqual(await scene.alerts(), [`deposit_differs ${scene.network}:${address}`]);
    node.watcher.chain = scene.chain;
    scene.control.mine(100);
    await node.turn(4);
    assert.deepEqual([...(await movements())], [{ hash, source: 'log', amount: '1000' }]);
    assert.equal(scene.control.balanceOf(address, TETHER), 0n);
    assert.deepEqual(await scene.alerts(), []);
    await isReconciled();
  });

  describe('on another network', () => {
    let other: BooksScene;
    const openBoth = async (input: SceneInput = EVERYTHING) => {
      await open(input);
      other = await openBooksScene({ ...input, beside: { ...scene, network: BASE_SEPOLIA } });
    };
    afterEach(() => other.close());

    const chains: Chains = {
      find: (network) => [scene, other].find((each) => each.network === network)?.connected,
      list: () => [scene.connected, other.connected],
    };
    const search = (paymentId: string, { isSweep = false, network = undefined as string | undefined } = {}) =>
      searchUnexpected({ ...scene, chains, sweepFrom: () => 0n }, { paymentId, network, isSweep, actor: 'operator' });
    const facts = ({ found }: Awaited<ReturnType<typeof search>>) =>
      found.map(({ network, asset, units, fate }) => [network, asset, units, fate]);

    /** Money on the other network that a stranger has swept by the Collector there. */
    async function sweptByStranger() {
      await openBoth();
      const { id, address, item } = await scene.deposit();
      const there = await other.newNode();
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      await there.turn(1);
      const swept = { ...item, network: other.network, asset: BASE_SEPOLIA_USDC, asked: item.asset };
      other.control.relayAsStranger([{ item: swept, commitment: '', signature: '0x', hasCode: false }]);
      await there.turn(2);
      return { id, address, there };
    }

    it('is found by a search, and swept there to the same recipient', async () => {
      await openBoth();
      const { id, item, address } = await scene.deposit();
      const [node, there] = [await scene.newNode(), await other.newNode()];
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      await Promise.all([node.turn(2), there.turn(2)]);
      assert.equal(other.control.balanceOf(address, BASE_SEPOLIA_USDC), 2_000n, 'nobody watches it');
      const found = await search(id);
      assert.deepEqual(facts(found), [[BASE_SEPOLIA, BASE_SEPOLIA_USDC, '2000', 'sweepable']]);
      assert.equal(found.isOrdered, false);
      assert.deepEqual(facts(await search(id, { network: scene.network })), []);
      assert.equal((await search(id, { isSweep: true })).isOrdered, true);
      await there.turn(4);
      await search(id, { isSweep: true });
      await there.turn(2);
      assert.equal(other.control.balanceOf(item.recipient, BASE_SEPOLIA_USDC), 1_980n);
      assert.deepEqual(facts(await search(id)), []);
      assert.deepEqual(await lateMoney(id), [{ reason: 'wrong_network', asset: BASE_SEPOLIA_USDC, amount: '2000' }]);
      const balances = { payer: -2_000n, fees: 20n, [SETTLED]: 1_980n };
      assert.deepEqual(await other.balances(BASE_SEPOLIA_USDC), balances);
      assert.equal(await scene.status(id), 'requires_action');
      await isReconciled();
      await isReconciled(other);
      const [entry] = await scene.db.sql`select actor, subject from audit_log where action = 'stray.swept' limit 1`;
      assert.deepEqual(entry, { actor: 'operator', subject: id });
    });

    it('of a merchant without a destination is held there, and is no unexpected money of the intermediate account', async () => {
      await openBoth();
      const { id, address } = await scene.deposit({ isHeld: true });
      const there = await other.newNode();
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      await there.turn(1);
      await search(id, { isSweep: true });
      await there.turn(4);
      assert.deepEqual(await other.balances(BASE_SEPOLIA_USDC), { payer: -2_000n, fees: 20n, [PAYABLE]: 1_980n });
      await isReconciled(other);
    });

    it('is counted once if a stranger has swept it before the search', async () => {
      const { id, there } = await sweptByStranger();
      await search(id, { isSweep: true });
      await there.turn(3);
      assert.deepEqual(await other.balances(BASE_SEPOLIA_USDC), { payer: -2_000n, fees: 20n, [SETTLED]: 1_980n });
      const named = await lateMoney(id);
      assert.deepEqual(
        named.map(({ reason, amount }) => [reason, amount]),
        [['wrong_network', '2000']],
      );
      await isReconciled(other);
    });

    it('is counted once if a stranger has swept a part of it before the search', async () => {
      const { id, address, there } = await sweptByStranger();
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 1_000n);
      await there.turn(1);
      await search(id, { isSweep: true });
      await there.turn(5);
      assert.equal(other.control.balanceOf(address, BASE_SEPOLIA_USDC), 0n);
      assert.deepEqual(await other.balances(BASE_SEPOLIA_USDC), { payer: -3_000n, fees: 30n, [SETTLED]: 2_970n });
      const named = await scene.db
        .sql`select reason, amount::text from strays where payment_id = ${id} order by amount`;
      assert.equal(
        named.reduce((sum, { amount }) => sum + Number(amount), 0),
        3_000,
        JSON.stringify(named),
      );
      await isReconciled(other);
    });

    it('is not swept to an account that has no role there', async () => {
      await openBoth();
      const { id, address } = await scene.deposit({ isHeld: true });
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      const foreign = { ...other.connected, intermediateAccount: scene.payers.newAccount() };
      const report = await searchUnexpected(
        { ...scene, chains: { ...chains, list: () => [foreign] }, sweepFrom: () => 0n },
        { paymentId: id, network: undefined, isSweep: true, actor: 'operator' },
      );
      assert.deepEqual([report.found[0]?.fate, report.isOrdered], ['not_our_account', false]);
    });

    it('is not called absent where the network does not answer', async () => {
      await openBoth();
      const { id } = await scene.deposit();
      other.control.goDown();
      const { found, unsearched } = await search(id);
      assert.deepEqual([found, unsearched], [[], [BASE_SEPOLIA]]);
    });

    it('is searched for known payments and networks only', async () => {
      await openBoth();
      const { id } = await scene.deposit();
      const isCode = (code: string) => (error: ApiError) => error.code === code;
      await assert.rejects(search('pay_00000000000000000000000000'), isCode('payment_not_found'));
      await assert.rejects(search(id, { network: 'eip155:1' }), isCode('invalid_params'));
    });
  });
});
