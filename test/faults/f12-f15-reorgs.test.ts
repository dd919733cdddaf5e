import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { listEvents } from '../../src/store/events/events.ts';
import type { RpcProxy } from '../rpc-proxy.ts';
import type { RpcCall } from '../stale-view.ts';
import { until } from '../until.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { AMOUNT, type SignedPayment, WITHIN } from './shopper.ts';

const DEPTH = 3;

describe('a chain that changes its mind', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ depth: DEPTH });
  });
  after(() => scene.close());

  const cursor = async () =>
    Number((await scene.sql<{ block_number: string }[]>`select block_number from chain_cursors`)[0]?.block_number);
  /** The watcher has read all there is. */
  const isRead = () => until('it is read', async () => (await cursor()) === (await scene.chain.height()), WITHIN);
  const events = async ({ id }: SignedPayment) => [
    ...(await scene.sql<{ block_hash: string; type: string }[]>`
      select e.block_hash, e.type from chain_events e join items i on i.commitment = e.commitment where i.subject = ${id}`),
  ];

  /** Paid in the newest block, which the watcher has read. */
  async function paidAtHead(): Promise<SignedPayment> {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine();
    await isRead();
    assert.equal(await scene.shopper.charged(payment), AMOUNT);
    return payment;
  }

  it('F12: a payment whose block is taken back before final depth is sent again and paid once', async () => {
    const payment = await paidAtHead();
    assert.equal(await scene.shopper.status(payment), 'processing');
    await scene.chain.evm.reorg(1, 'forgotten');
    assert.equal(await scene.shopper.charged(payment), 0n);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('F12: a chain that gets shorter is followed down, and its payments are paid once', async () => {
    const payment = await paidAtHead();
    await scene.chain.evm.rollback(2);
    await scene.chain.mine();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F12: a reorg below final depth leaves the payment succeeded, raises an alert, and the money arrives after all', async () => {
    const payment = await paidAtHead();
    await scene.shopper.reaches(payment, 'succeeded');
    const { info } = await scene.shopper.view(payment);
    const receipt = await scene.chain.request<{ blockNumber: Hex }>('eth_getTransactionReceipt', info?.txId);
    await scene.chain.evm.reorg((await scene.chain.height()) - Number(receipt.blockNumber) + 1, 'forgotten');
    assert.equal(await scene.shopper.charged(payment), 0n);
    await until('somebody is told', async () => (await scene.alerts()).includes(`deep_reorg ${payment.id}`), WITHIN);
    assert.equal(await scene.shopper.status(payment), 'succeeded');
    await until(
      'the money has arrived',
      async () => {
        await scene.chain.mine();
        return (await scene.item(payment.id))?.state === 'paid';
      },
      WITHIN,
    );
    await scene.shopper.isPaidOnce(payment);
    await until('the alert is cleared', async () => (await scene.alerts()).length === 0, WITHIN);
  });

  it('F12: a payment that another transaction carries after such a reorganisation names that one from then on', async () => {
    const payment = await paidAtHead();
    await scene.shopper.reaches(payment, 'succeeded');
    const before = (await scene.shopper.view(payment)).info?.txId;
    const receipt = await scene.chain.request<{ blockNumber: Hex }>('eth_getTransactionReceipt', before);
    const [stored] = await scene.versionsOf(payment.id);
    await scene.chain.evm.reorg((await scene.chain.height()) - Number(receipt.blockNumber) + 1, 'forgotten');
    // The relayer's nonce is used by something else meanwhile, so its old transaction can never be mined again.
    await scene.chain.send(privateKeyToAccount(SANDBOX_KEYS.relayer), { to: scene.relayer as Hex, value: 1n });
    await until(
      'the money has arrived after all',
      async () => {
        await scene.chain.mine();
        return (await scene.item(payment.id))?.state === 'paid' && (await scene.shopper.charged(payment)) === AMOUNT;
      },
      WITHIN,
    );
    await until(
      'the payment names the transaction that carried it',
      async () => (await scene.shopper.view(payment)).info?.txId !== before,
      WITHIN,
    );
    assert.equal(before, stored?.hash);
    await scene.shopper.isPaidOnce(payment);
    const events = await listEvents(scene.sql, payment.id);
    const types = events.map(({ type }) => type);
    assert.deepEqual(
      types.slice(-2),
      ['payment.reorged', 'payment.reorged'],
      'taken back, and paid by another transaction',
    );
    assert.equal(events.at(-1)?.evidence.transaction, (await scene.shopper.view(payment)).info?.txId);
  });

  it('F13: a transaction that moves to another block counts once, in the block it is in', async () => {
    const payment = await paidAtHead();
    const [before] = await events(payment);
    await scene.chain.evm.reorg(2, 'kept');
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    const [now, ...more] = await events(payment);
    assert.deepEqual(more, []);
    assert.notEqual(now?.block_hash, before?.block_hash);
    const { info } = await scene.shopper.view(payment);
    const receipt = await scene.chain.request<{ blockHash: Hex }>('eth_getTransactionReceipt', info?.txId);
    assert.equal(now?.block_hash, receipt.blockHash);
  });

  it('F15: a replica that lags behind the blocks already read is waited for, and is no reorg', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine(2);
    await isRead();
    const [before] = await events(payment);
    const asked = scene.proxy.calls.length;
    scene.proxy.lie({ as: 'stale', head: (await scene.chain.height()) - 2 });
    await scene.chain.mine(DEPTH);
    await until('the replica is asked', () => scene.proxy.calls.length > asked + 20, WITHIN);
    assert.equal(await scene.shopper.status(payment), 'processing');
    assert.deepEqual(await events(payment), [before]);
    scene.proxy.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F15: events that a replica did not have yet are read again, and nothing is lost', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    // The receipt of our own transaction would tell of it as well.
    scene.proxy.lie({
      as: 'result',
      of: ({ method }, truth) => {
        if (method === 'eth_getTransactionReceipt' && truth !== null) return { ...(truth as object), logs: [] };
        return method === 'eth_getLogs' ? [] : truth;
      },
    });
    await scene.chain.mine(DEPTH + 1);
    await isRead();
    await scene.chain.mine();
    await isRead();
    assert.deepEqual(await events(payment), []);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.proxy.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });
});

describe('endpoints that do not agree', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ depth: DEPTH, endpoints: 2, payers: 4 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  it('F14: a block that one endpoint alone still shows decides nothing, and the payment is paid once on the chain that is', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine(DEPTH);
    const [stored] = await scene.versionsOf(payment.id);
    const { blockNumber } = await scene.chain.request<{ blockNumber: Hex }>('eth_getTransactionReceipt', stored?.hash);
    const depth = (await scene.chain.height()) - Number(blockNumber) + 1;
    await stayBehind(scene.proxy, Number(blockNumber));
    await scene.chain.evm.reorg(depth, 'forgotten');
    // Both must be seen by the node before anything of it can be believed.
    const asked = scene.proxies.map(({ calls }) => calls.length);
    await until(
      'both are asked',
      () => scene.proxies.every(({ calls }, index) => calls.length > (asked[index] ?? 0) + 20),
      WITHIN,
    );
    assert.equal(await scene.shopper.charged(payment), 0n);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('F14: a payment that only one of two endpoints shows waits for the other', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    const [, second] = scene.proxies as [RpcProxy, RpcProxy];
    second.lie({ as: 'stale', head: await scene.chain.height() });
    const asked = second.calls.length;
    await scene.chain.mine(DEPTH + 1);
    await until('it is asked', () => second.calls.length > asked + 10, WITHIN);
    assert.equal(await scene.shopper.charged(payment), AMOUNT);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  /** From now on the endpoint shows the blocks of this moment from that height on, whatever becomes of them. */
  async function stayBehind(proxy: RpcProxy, from: number): Promise<void> {
    const { chain } = scene;
    const head = await chain.request('eth_blockNumber');
    const hex = (block: number): Hex => `0x${block.toString(16)}`;
    const blocks = new Map<unknown, unknown>();
    for (let block = from; block <= Number(head); block += 1) {
      blocks.set(hex(block), await chain.request('eth_getBlockByNumber', hex(block), false));
    }
    blocks.set('latest', blocks.get(head));
    const logs = await chain.request<unknown[]>('eth_getLogs', { fromBlock: hex(from), toBlock: head });
    const orphaned = ({ method, params = [] }: RpcCall, truth: unknown): unknown => {
      if (method === 'eth_blockNumber') return head;
      if (method === 'eth_getBlockByNumber') return blocks.get(params[0]) ?? truth;
      if (method !== 'eth_getLogs') return truth;
      const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex };
      const wanted = (logs as { blockNumber: Hex; address: Hex }[]).filter(
        ({ blockNumber }) => Number(blockNumber) >= Number(fromBlock) && Number(blockNumber) <= Number(toBlock),
      );
      const { address } = params[0] as { address: string };
      return [
        ...(truth as { blockNumber: Hex }[]).filter(({ blockNumber }) => Number(blockNumber) < from),
        ...wanted.filter((log) => log.address.toLowerCase() === address.toLowerCase()),
      ];
    };
    proxy.lie({ as: 'result', of: orphaned });
  }
});
