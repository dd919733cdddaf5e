import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Hex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import type { SignedItem } from '../../domain/item.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Chain } from '../chain.ts';
import { SenderShortError } from '../chain-errors.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';
import { createLocalSigner } from './local-signer.ts';
import { offerOf } from './offer.ts';
import { sampleItem } from './sample-item.fixture.ts';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [Record<string, string>, ...unknown[]];
}

const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
const relayer = createLocalSigner(SANDBOX_KEYS.relayer);
const offer = offerOf({ max: 5_000_000_000n, tip: 1_000_000n });

/** Nodes of real networks refuse a call like this, before any code runs. */
const SHORT = { code: -32_000, message: 'insufficient funds for gas * price + value' };
const ALSO_SHORT = [
  'InsufficientFunds, Account balance: 0, cumulative cost: 1',
  'Upfront cost exceeds account balance',
  "Sender doesn't have enough funds to send tx.",
];

describe('the simulation of a batch', () => {
  let evm: LocalEvm;
  let chain: Chain;
  let item: SignedItem;
  /** The answer to calls that name a sender, in place of the chain's. */
  let failure: { readonly code: number; readonly message: string } | undefined;
  const calls: Record<string, string>[] = [];

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    /** Notes every call to the Collector. */
    const post = async (body: string) => {
      const parsed = [JSON.parse(body)].flat() as Request[];
      const asked = parsed.filter(({ method, params }) => method === 'eth_call' && params[0].gas !== undefined);
      calls.push(...asked.map(({ params }) => params[0]));
      const error = failure;
      if (error === undefined || asked.every(({ params }) => params[0].from === undefined)) {
        return { status: 200, text: await evm.rpc(body) };
      }
      const answers = await Promise.all(
        parsed.map(async (each) =>
          asked.includes(each)
            ? { jsonrpc: '2.0', id: each.id, error }
            : JSON.parse(await evm.rpc(JSON.stringify(each))),
        ),
      );
      return { status: 200, text: JSON.stringify(Array.isArray(JSON.parse(body)) ? answers : answers[0]) };
    };
    const network = findNetwork('eip155:31337') as Network;
    chain = createEvmChain({ world: systemWorld, network, endpoints: [{ post, close: () => {} }] });
    const sample = sampleItem('eip3009-bytes', { payer: payer.address, feeAccount: SANDBOX_ACCOUNTS.feeAccount });
    const [action] = chain.payerSide.walletActions(sample, 0n);
    const signature = await payer.signTypedData(JSON.parse(String(action?.params[1])));
    item = { item: sample, commitment: chain.payerSide.commitmentOf(sample), signature, hasCode: true };
  });
  beforeEach(() => {
    calls.length = 0;
    failure = undefined;
  });
  after(async () => {
    chain.close();
    await evm.close();
  });

  it('has the sender, the fees, the gas and the data of the transaction', async () => {
    assert.deepEqual(await chain.sender.simulate([item], { as: { from: relayer.address, offer } }), [{ is: 'paid' }]);
    const { bytes } = await chain.sender.signBatch(relayer, [item], { slot: 0, offer });
    const { to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(bytes as Hex);
    const [call] = calls;
    assert.equal(call?.from, relayer.address);
    assert.deepEqual(
      [call?.to?.toLowerCase(), call?.data?.toLowerCase(), BigInt(call?.gas ?? 0)],
      [to?.toLowerCase(), data, gas],
    );
    assert.deepEqual(
      [BigInt(call?.maxFeePerGas ?? 0), BigInt(call?.maxPriorityFeePerGas ?? 0)],
      [maxFeePerGas, maxPriorityFeePerGas],
    );
  });

  it('blames the sender and no item when the sender cannot pay for gas', async () => {
    for (const message of [SHORT.message, ...ALSO_SHORT]) {
      failure = { ...SHORT, message };
      await assert.rejects(
        chain.sender.simulate([item], { as: { from: relayer.address, offer } }),
        (error) => error instanceof SenderShortError,
        message,
      );
    }
  });

  it('does not take the words of a contract for a sender without coin', async () => {
    failure = { code: 3, message: 'execution reverted: insufficient funds' };
    const outcomes = await chain.sender.simulate([item], { as: { from: relayer.address, offer } });
    assert.deepEqual(outcomes, [{ is: 'refused', reason: 'unknown' }]);
  });

  it('of a judgement does without the sender when the sender cannot pay for gas', async () => {
    await evm.request({ method: 'hardhat_setCode', params: [payer.address, '0x00'] });
    failure = SHORT;
    const verdict = await chain.payerSide.judge(item.item, item.signature, relayer.address);
    // The code of this account says nothing, so the token takes the signature for wrong.
    assert.equal(verdict.is, 'wrong_signature');
    assert.deepEqual(
      calls.map(({ from }) => from),
      [relayer.address, undefined],
    );
    await evm.request({ method: 'hardhat_setCode', params: [payer.address, '0x'] });
  });
});
