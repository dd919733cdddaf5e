import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { recordCoin } from '../../src/actions/books/audit/record-coin.ts';
import { recordEntries } from '../../src/actions/books/record.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { Witness } from '../../src/chains/chain-reader.ts';
import { ACCOUNTS, gasEntry, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listUnexpected, type UnexpectedMoney } from '../../src/store/money/unexpected-money.ts';
import { takeLease } from '../../src/store/plumbing/leases.ts';
import { COIN, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { SceneInput, TestNode } from './relay-scene.ts';

const STATES = ['unclaimed', 'float', 'returning', 'returned'] as const;

describe('coin outside of payments', () => {
  let scene: RefundScene;
  let node: TestNode;
  afterEach(() => scene.close());

  /** A scene whose accounts have been met. */
  async function open(input: SceneInput = {}) {
    scene = await openRefundScene(input);
    node = await scene.newNode();
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    await node.turn(input.depth ?? 1);
    await record();
    assert.deepEqual(await unexpectedMoney(), []);
  }

  async function record(connected = scene.connected) {
    const ask = { name: 'audit', holder: 'test', now: new Date(Date.UTC(2100, 0, 1)), until: new Date(scene.nowMs()) };
    const lease = await command(scene, (tx) => takeLease(tx, ask));
    assert.ok(lease);
    await recordCoin({ ...scene, holder: 'test' }, { connected, lease });
  }

  /** The chain with other answers about balances. */
  function withHoldings(
    answer: (witness: Witness, ...ask: Parameters<Witness['holding']>) => Promise<bigint>,
  ): typeof scene.chain {
    const other = (witness: Witness): Witness => ({
      ...witness,
      holding: async (account, asset, block) => answer(witness, account, asset, block),
    });
    const witnesses = () => scene.chain.reader.witnesses().map(other);
    return { ...scene.chain, reader: { ...scene.chain.reader, witnesses } };
  }

  const unexpectedMoney = async () => [...(await listUnexpected(scene.db.sql, { states: STATES, limit: 10 }))];
  const only = async (): Promise<UnexpectedMoney> => {
    const [unexpected, ...more] = await unexpectedMoney();
    assert.ok(unexpected);
    assert.deepEqual(more, []);
    return unexpected;
  };
  const relayer = () => scene.signers[0]?.address ?? '';

  it('that reached a relayer is found among all that it spent on gas, and the relayer sends it back', async () => {
    await open();
    for (let count = 0; count < 5; count += 1) await scene.paid(node);
    const from = scene.payers.newAccount();
    const hash = scene.sendCoin(500n, { from, to: relayer() });
    const { number } = await scene.chain.reader.head();
    for (let count = 0; count < 5; count += 1) await scene.paid(node);
    await record();
    const unexpected = await only();
    assert.deepEqual(
      [
        unexpected.transactionHash,
        unexpected.sender,
        unexpected.account,
        unexpected.amount,
        unexpected.blockNumber,
        unexpected.asset,
      ],
      [hash, from, relayer(), '500', number, COIN],
    );
    // The operator sends coin to relayers all the time.
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
    await node.turn(2);
    await record();
    await only();
    const held = scene.control.balanceOf(from, COIN);
    await returnUnexpected(scene, { id: unexpected.id, to: undefined, actor: 'test' });
    await scene.live(node);
    assert.equal((await only()).state, 'returned');
    assert.equal(scene.control.balanceOf(from, COIN), held + 500n);
    assert.deepEqual(await scene.differences(), []);
    await record();
    await only();
    assert.equal((await scene.books(COIN))[ACCOUNTS.relayer(relayer())], scene.control.balanceOf(relayer(), COIN));
  });

  it('that reached the intermediate account is found, and becomes a float once', async () => {
    await open();
    const hash = scene.sendCoin(70n);
    await node.turn(3);
    await record();
    assert.deepEqual([(await only()).account, (await only()).amount], [scene.intermediate, '70']);
    const input = { owner: OPERATOR_FLOAT, asset: COIN, transactionHash: hash, actor: 'test' };
    assert.equal(await addFloat(scene, input), 70n);
    await assert.rejects(addFloat(scene, input), /before/);
    await node.turn();
    await record();
    assert.equal((await only()).state, 'float');
    const { 'intermediate/float/operator': float, [ACCOUNTS.relayer(scene.intermediate)]: gas } =
      await scene.books(COIN);
    assert.deepEqual([float, gas], [70n, 10n ** 18n]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that was made a float before the search is no unexpected money, whatever else is in its block', async () => {
    await open();
    const from = scene.payers.newAccount();
    scene.control.setBalance(from, COIN, 10n ** 18n);
    const send = (units: bigint) =>
      scene.control.send({
        method: 'eth_sendTransaction',
        params: [{ from, to: scene.intermediate, value: `0x${units.toString(16)}` }],
      });
    const transactionHash = send(70n);
    const other = send(30n);
    await node.turn(2);
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: COIN, transactionHash, actor: 'test' });
    await record();
    assert.deepEqual(
      (await unexpectedMoney()).map(({ amount, state, transactionHash: hash }) => [amount, state, hash]).sort(),
      [
        ['30', 'unclaimed', other],
        ['70', 'float', transactionHash],
      ],
    );
    assert.deepEqual(await scene.differences(), []);
  });

  describe('that came before the books of its account began', () => {
    /** Coin that was sent to the intermediate account, and then a watcher that reads the chain for the first time. */
    async function openWith(units: bigint) {
      scene = await openRefundScene();
      node = await scene.newNode();
      const transactionHash = scene.sendCoin(units);
      await node.turn(2);
      return { owner: OPERATOR_FLOAT, asset: COIN, transactionHash, actor: 'test' };
    }

    it('becomes a float out of the coin that the account has for gas', async () => {
      const input = await openWith(70n);
      await record();
      assert.equal(await addFloat(scene, input), 70n);
      await assert.rejects(addFloat(scene, input), /before/);
      assert.deepEqual(await scene.floats(), { operator: '70' });
      assert.equal((await scene.books(COIN))[ACCOUNTS.relayer(scene.intermediate)], undefined);
      assert.deepEqual(await scene.differences(), []);
      await node.turn();
      await record();
      assert.equal((await only()).state, 'float');
      assert.deepEqual(await scene.differences(), []);
    });

    it('becomes no float when it was used for gas since', async () => {
      const input = await openWith(70n);
      await record();
      const burnt = { transaction: `0x${'ab'.repeat(32)}`, block: (await scene.chain.reader.head()).number };
      const gas = gasEntry({ network: scene.network, asset: COIN, signer: scene.intermediate }, 30n, burnt);
      await command(scene, (tx, at) => recordEntries(tx, [gas], at));
      await assert.rejects(addFloat(scene, input), /used for transactions: 40 of the coin/);
      assert.deepEqual([await unexpectedMoney(), await scene.floats()], [[], {}]);
    });

    it('is counted once when it becomes a float in the very moment the books begin', async () => {
      const input = await openWith(70n);
      const chain = withHoldings(async (witness, account, asset, block) => {
        const units = await witness.holding(account, asset, block);
        if (account === scene.intermediate) await addFloat(scene, input);
        return units;
      });
      await record({ ...scene.connected, chain });
      await record();
      assert.deepEqual(await scene.floats(), { operator: '70' });
      assert.deepEqual(await scene.differences(), []);
    });
  });

  it('that a contract sent is recorded with its block, and returned to whom the operator names', async () => {
    await open();
    await node.turn(7);
    scene.control.setBalance(scene.intermediate, COIN, scene.control.balanceOf(scene.intermediate, COIN) + 9n);
    const { number } = await scene.chain.reader.head();
    await node.turn(20);
    await record();
    const unexpected = await only();
    assert.deepEqual(
      [unexpected.transactionHash, unexpected.sender, unexpected.amount, unexpected.blockNumber],
      [null, null, '9', number],
    );
    await assert.rejects(returnUnexpected(scene, { id: unexpected.id, to: undefined, actor: 'test' }), /--to/);
    const address = scene.payers.newAccount();
    await returnUnexpected(scene, { id: unexpected.id, to: { chainId: scene.network, address }, actor: 'test' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(address, COIN), 9n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is separated block by block', async () => {
    await open();
    const hashes = [];
    for (const units of [1n, 2n, 3n]) {
      hashes.push(scene.sendCoin(units, { to: relayer() }));
      await node.turn(3);
    }
    await record();
    assert.deepEqual(
      (await unexpectedMoney()).map(({ amount, transactionHash }) => [amount, transactionHash]).sort(),
      hashes.map((hash, index) => [String(index + 1), hash]),
    );
  });

  it('counts at final depth only, and not at all when its block is gone by then', async () => {
    await open({ depth: 3 });
    scene.sendCoin(5n, { to: relayer() });
    await node.watch();
    await record();
    assert.deepEqual(await unexpectedMoney(), []);
    scene.control.reorg(1, { transactions: 'dropped', length: 2 });
    await node.turn(4);
    await record();
    assert.deepEqual(await unexpectedMoney(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is recorded without its origin where no endpoint knows the past, and waits where one is out of reach', async () => {
    await open();
    scene.sendCoin(5n, { to: relayer() });
    await node.turn(100);
    const { number } = await scene.chain.reader.head();
    const keeping = (keptBlocks: number) =>
      withHoldings((witness, account, asset, block) => {
        if (block < number - keptBlocks) throw new ChainUnavailableError(scene.network, 'gone');
        return witness.holding(account, asset, block);
      });
    await record({ ...scene.connected, chain: keeping(2) });
    assert.deepEqual(await unexpectedMoney(), []);
    await record({ ...scene.connected, chain: keeping(70) });
    const unexpected = await only();
    assert.deepEqual([unexpected.amount, unexpected.sender], ['5', null]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that was used for gas since becomes no float from money of others', async () => {
    await open();
    const transactionHash = scene.sendCoin(70n);
    await node.turn(3);
    await record();
    const burnt = { transaction: `0x${'ab'.repeat(32)}`, block: (await scene.chain.reader.head()).number };
    const gas = gasEntry({ network: scene.network, asset: COIN, signer: scene.intermediate }, 10n ** 18n + 1n, burnt);
    await command(scene, (tx, at) => recordEntries(tx, [gas], at));
    const input = { owner: OPERATOR_FLOAT, asset: COIN, transactionHash, actor: 'test' };
    await assert.rejects(addFloat(scene, input), /used for transactions: 69 of the coin/);
    assert.deepEqual([(await only()).state, await scene.floats()], ['unclaimed', {}]);
  });

  it('that was used for gas since is not returned from money of others', async () => {
    await open();
    scene.sendCoin(100n);
    await node.turn(2);
    await record();
    const { id } = await only();
    const signer = { network: scene.network, asset: COIN, signer: scene.intermediate };
    const proof = { transaction: '0x1', block: 1 };
    await command(scene, (tx, now) => recordEntries(tx, [gasEntry(signer, 10n ** 18n + 1n, proof)], now));
    await assert.rejects(returnUnexpected(scene, { id, to: undefined, actor: 'test' }), /used for transactions: 99/);
    assert.equal((await only()).state, 'unclaimed');
  });

  it('does not include a payment whose entries were lost', async () => {
    await open();
    const { pay, commitment } = await scene.offerHeld();
    pay();
    await node.turn(2);
    await record();
    const forget = async () =>
      command(scene, async (tx) => {
        await tx.unsafe('set local session_replication_role = replica');
        await tx.unsafe(`delete from book_entries where reference = '${commitment}'`);
      });
    await forget();
    await node.turn(2);
    await record();
    assert.deepEqual(await unexpectedMoney(), []);
  });
});
