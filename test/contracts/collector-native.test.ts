import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, encodeFunctionData, type Hex } from 'viem';
import awkwardReceiver from '../../contracts/artifacts/AwkwardReceiver.json' with { type: 'json' };
import {
  COLLECTOR_ABI,
  COLLECTOR_ADDRESS,
  type CollectorItem,
  encodeBatch,
  encodeNativePayment,
  NATIVE_TOKEN,
} from '../../src/chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import {
  type CollectorChain,
  collectorLogs,
  commitmentByTheBook,
  createCollectorChain,
  DEADLINE,
  errorSelector,
  FEE_ACCOUNT,
  hex,
} from './collector-chain.ts';

const { payer } = SANDBOX_ACCOUNTS;
const [REFUSES, ANSWERS_MEGABYTE, REENTERS] = [0, 1, 2];
const COIN = { token: NATIVE_TOKEN, nonceSpace: 0n } as const;

describe('a payment in native coin', () => {
  let chain: CollectorChain;
  before(async () => {
    chain = await createCollectorChain();
  });
  after(() => chain.evm.close());

  const payment = (given: Partial<CollectorItem> = {}): CollectorItem => ({
    subject: chain.newSubject(),
    payer,
    amount: 10n ** 18n,
    fee: 10n ** 15n,
    recipient: chain.someone().address,
    deadline: DEADLINE,
    ...given,
  });

  const inputOf = (item: CollectorItem): Hex => encodeNativePayment({ ...item, feeAccount: FEE_ACCOUNT });

  const pay = (item: CollectorItem, value = item.amount) =>
    chain.send({ from: item.payer, to: COLLECTOR_ADDRESS, data: inputOf(item), value });

  async function isRefused(item: CollectorItem, error: string, value = item.amount): Promise<void> {
    const asked = chain.call(COLLECTOR_ADDRESS, inputOf(item), { from: item.payer, value });
    await assert.rejects(asked, ({ data }: { data: Hex }) => data.startsWith(errorSelector(error)));
    const before = await chain.coinOf(item.recipient);
    assert.equal((await pay(item, value)).status, 'reverted');
    assert.equal(await chain.coinOf(item.recipient), before);
    assert.equal(await chain.coinOf(COLLECTOR_ADDRESS), 0n);
  }

  it('reaches the recipient net and the fee account, and says so in the same event', async () => {
    const item = payment();
    const fees = await chain.coinOf(FEE_ACCOUNT);
    const receipt = await pay(item);
    const { deadline, ...fields } = item;
    const commitment = commitmentByTheBook(item, COIN);
    const terms = { nonceSpace: 0n, feeAccount: FEE_ACCOUNT, deadline: BigInt(deadline) };
    assert.deepEqual(collectorLogs(receipt), [
      { type: 'collected', commitment, token: NATIVE_TOKEN, ...fields, terms },
    ]);
    assert.equal(await chain.coinOf(item.recipient), item.amount - item.fee);
    assert.equal((await chain.coinOf(FEE_ACCOUNT)) - fees, item.fee);
    assert.equal(await chain.coinOf(COLLECTOR_ADDRESS), 0n);
    const asked = encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'isPaid', args: [commitment] });
    assert.equal(Number(await chain.call(COLLECTOR_ADDRESS, asked)), 1);
  });

  it('can be free of fees, or all fee', async () => {
    const [free, allFee] = [payment({ fee: 0n }), payment({ fee: 10n ** 18n })];
    for (const item of [free, allFee]) assert.equal((await pay(item)).status, 'success');
    assert.equal(await chain.coinOf(free.recipient), 10n ** 18n);
    assert.equal(await chain.coinOf(allFee.recipient), 0n);
  });

  it('sends nothing to an account whose part is zero', async () => {
    const refuser = await chain.deploy(awkwardReceiver, [REFUSES, '0x']);
    const allFee = payment({ fee: 10n ** 18n, recipient: refuser });
    assert.equal((await pay(allFee)).status, 'success');
    const free = payment({ fee: 0n });
    const data = encodeNativePayment({ ...free, feeAccount: refuser });
    const sent = await chain.send({ from: payer, to: COLLECTOR_ADDRESS, data, value: free.amount });
    assert.equal(sent.status, 'success');
  });

  it('is made once', async () => {
    const item = payment();
    assert.equal((await pay(item)).status, 'success');
    await isRefused(item, 'AlreadyPaid()');
  });

  it('is made in time: at its deadline, and not after', async () => {
    const { timestamp } = await chain.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]);
    const deadline = Number(timestamp) + 100;
    const [inTime, late] = [payment({ deadline }), payment({ deadline })];
    await chain.rpc('evm_setNextBlockTimestamp', [deadline]);
    assert.equal((await pay(inTime)).status, 'success');
    await chain.evm.mine();
    await isRefused(late, 'Late()');
  });

  it('is made with exactly its amount', async () => {
    const item = payment();
    await isRefused(item, 'InexactValue()', item.amount - 1n);
    await isRefused(item, 'InexactValue()', item.amount + 1n);
    await isRefused(item, 'InexactValue()', 0n);
    await isRefused(payment({ fee: 10n ** 18n + 1n }), 'FeeAboveAmount()');
    assert.equal((await pay(item)).status, 'success');
  });

  it('cannot be taken for another: any changed term is another payment', async () => {
    const item = payment();
    const alike: CollectorItem[] = [
      { ...item, payer: SANDBOX_ACCOUNTS.merchant },
      { ...item, recipient: chain.someone().address },
      { ...item, fee: item.fee - 1n },
      { ...item, deadline: item.deadline - 1 },
    ];
    const commitments = [];
    for (const one of [item, ...alike]) commitments.push(...collectorLogs(await pay(one)).map((log) => log.commitment));
    assert.equal(new Set(commitments).size, 5);
    assert.equal(commitments[0], commitmentByTheBook(item, COIN));
  });

  it('is undone when the recipient or the fee account refuses it', async () => {
    const refuser = await chain.deploy(awkwardReceiver, [REFUSES, '0x']);
    await isRefused(payment({ recipient: refuser }), 'PayoutFailed(bytes)');
    const item = payment();
    const data = encodeNativePayment({ ...item, feeAccount: refuser });
    const sent = await chain.send({ from: payer, to: COLLECTOR_ADDRESS, data, value: item.amount });
    assert.equal(sent.status, 'reverted');
    assert.equal(await chain.coinOf(item.recipient), 0n);
  });

  it('cannot be made to itself: the Collector takes no coin but for a payment', async () => {
    await isRefused(payment({ recipient: COLLECTOR_ADDRESS }), 'PayoutFailed(bytes)');
  });

  it('does not pay for the recipient’s return data', async () => {
    const talker = await chain.deploy(awkwardReceiver, [ANSWERS_MEGABYTE, '0x']);
    const quiet = await pay(payment({ recipient: SANDBOX_ACCOUNTS.merchant }));
    const loud = await pay(payment({ recipient: talker }));
    // The megabyte costs its owner two million to make; copying it would cost the payer as much again.
    assert.equal(loud.status, 'success');
    assert.ok(loud.gasUsed - quiet.gasUsed < 2_300_000, `${loud.gasUsed} against ${quiet.gasUsed}`);
  });

  it('lets no recipient back in, at any entry', async () => {
    const reentries = [
      inputOf(payment({ amount: 10n ** 18n - 10n ** 15n, fee: 0n })),
      encodeBatch({ kind: 'eip3009-vrs', token: NATIVE_TOKEN, feeAccount: FEE_ACCOUNT, items: [] }),
    ];
    for (const reentry of reentries) {
      const recipient: Address = await chain.deploy(awkwardReceiver, [REENTERS, reentry]);
      await isRefused(payment({ recipient }), 'PayoutFailed(bytes)');
    }
  });

  it('never mixes with coin that was forced on the Collector', async () => {
    await chain.rpc('hardhat_setBalance', [COLLECTOR_ADDRESS, hex(5n * 10n ** 18n)]);
    const item = payment();
    assert.equal((await pay(item, 0n)).status, 'reverted');
    assert.equal((await pay(item)).status, 'success');
    assert.equal(await chain.coinOf(COLLECTOR_ADDRESS), 5n * 10n ** 18n);
    await chain.rpc('hardhat_setBalance', [COLLECTOR_ADDRESS, '0x0']);
  });
});
