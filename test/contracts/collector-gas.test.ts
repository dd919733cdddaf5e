import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, keccak256, parseSignature, stringToBytes } from 'viem';
import {
  batchGasLimit,
  COLLECTOR_ADDRESS,
  type ItemKind,
  maxItemsPerBatch,
  type SignedItem,
} from '../../src/chains/evm/collector.ts';
import {
  AUTHORIZATION_FIELDS,
  type CollectorChain,
  createCollectorChain,
  DEADLINE,
  FEE_ACCOUNT,
  results,
  TOKEN_ABI,
  USDC,
} from './collector-chain.ts';

/**
 * The gas of a payment through the Collector, as a share of the gas of one `transferWithAuthorization` on the same
 * token. Gas is exact, so these are no timings. All accounts hold the token before, payers and merchants are distinct.
 */
describe('the gas of a payment', () => {
  let chain: CollectorChain;
  let alone: number;
  before(async () => {
    chain = await createCollectorChain();
    await chain.callToken(USDC, 'mint', [FEE_ACCOUNT, 1n]);
    alone = await gasAlone();
  });
  after(() => chain.evm.close());

  async function merchant() {
    const { address } = chain.someone();
    await chain.callToken(USDC, 'mint', [address, 1n]);
    return address;
  }

  async function gasAlone(): Promise<number> {
    const payer = await chain.payer('eip3009-vrs', USDC);
    const message = {
      from: payer.address,
      to: await merchant(),
      value: 10_000_000n,
      validAfter: 0n,
      validBefore: BigInt(DEADLINE),
      nonce: keccak256(stringToBytes('alone')),
    };
    const signature = await payer.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: USDC },
      types: { TransferWithAuthorization: AUTHORIZATION_FIELDS },
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const { r, s, v } = parseSignature(signature);
    const { from, to, value, validAfter, validBefore, nonce } = message;
    const args = [from, to, value, validAfter, validBefore, nonce, Number(v), r, s] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transferWithAuthorization', args });
    const receipt = await chain.send({ to: USDC, data });
    assert.equal(receipt.status, 'success');
    return receipt.gasUsed;
  }

  async function share(kind: ItemKind, count: number, fee = 100_000n): Promise<number> {
    const items: SignedItem[] = [];
    while (items.length < count) items.push(await chain.item({ kind, fee, recipient: await merchant() }));
    const collected = await chain.collect({ kind, items });
    assert.deepEqual(new Set(results(collected)), new Set(['collected']));
    return collected.receipt.gasUsed / count / alone;
  }

  /** Fails when a payment costs more than that, and also when the figure is out of date by more than a hundredth. */
  function isAbout(actual: number, most: number): void {
    assert.ok(actual <= most && actual > most - 0.01, `${actual.toFixed(4)} is not just below ${most}`);
  }

  it('is below 0.8 in a full batch', async () => {
    isAbout(await share('eip3009-vrs', 100), 0.765);
  });

  it('is below 1.25 alone in its batch without a fee; a fee adds a third transfer', async () => {
    isAbout(await share('eip3009-vrs', 1, 0n), 1.25);
    isAbout(await share('eip3009-vrs', 1), 1.38);
  });

  it('is a little more with signature bytes, and more with Permit2', async () => {
    isAbout(await share('eip3009-bytes', 40), 0.78);
    isAbout(await share('permit2', 40), 0.84);
  });

  it('is less without a fee, if the Collector keeps one unit of the token, and with Permit2 directly', async () => {
    isAbout(await share('eip3009-vrs', 40, 0n), 0.815);
    isAbout(await share('permit2', 40, 0n), 0.81);
    // The balance of the Collector is then never zero, and a storage slot that stays in use is cheaper.
    await chain.callToken(USDC, 'mint', [COLLECTOR_ADDRESS, 1n]);
    isAbout(await share('eip3009-vrs', 40, 0n), 0.77);
  });

  it('fits into a transaction, however many its items are', () => {
    for (const kind of ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const) {
      for (const options of [{}, { allowance: 60_000 }, { allowance: 1_000_000 }]) {
        const most = maxItemsPerBatch(kind, options);
        assert.ok(most >= 1 && batchGasLimit(kind, most, options) <= 2 ** 24);
        assert.ok(batchGasLimit(kind, most + 1, options) > 2 ** 24);
      }
    }
    assert.ok(maxItemsPerBatch('eip3009-vrs') >= 100);
  });
});
