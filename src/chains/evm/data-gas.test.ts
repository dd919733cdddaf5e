import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTransaction } from 'viem';
import { findNetwork } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';
import { createLocalSigner } from './local-signer.ts';
import { offerOf } from './offer.ts';
import type { Transport } from './transport.ts';

const signer = createLocalSigner(`0x${'17'.repeat(32)}`);
const bid = { slot: 3, offer: offerOf({ max: 10n, tip: 1n }) };
const word = (value: number) => value.toString(16).padStart(64, '0');

/** An Arbitrum node that knows its chain, its height and what data costs. */
function node(estimate: string): Transport {
  const answers: Record<string, string> = { eth_chainId: '0xa4b1', eth_blockNumber: '0x10', eth_call: estimate };
  return {
    post: async (body) => {
      const calls = JSON.parse(body) as { id: number; method: string }[];
      const answered = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: answers[method] }));
      return { status: 200, text: JSON.stringify(answered) };
    },
    close: () => {},
  };
}

describe('gas where it also pays for data', () => {
  const network = findNetwork('eip155:42161') as Network;

  it('is added to the limit, with room for the price to move', async () => {
    const endpoints = [node(`0x${word(40_000)}${word(1)}${word(2)}`)];
    const chain = createEvmChain({ world: systemWorld, network, endpoints });
    const { cost, bytes } = await chain.sender.signNothing(signer, bid);
    assert.equal(cost, (21_000n + 60_000n) * 10n);
    assert.equal(parseTransaction(bytes as `0x${string}`).gas, cost / 10n);
    chain.close();
  });

  it('is bounded, whatever the node says', async () => {
    const endpoints = [node(`0x${word(2 ** 50)}${word(1)}${word(2)}`)];
    const chain = createEvmChain({ world: systemWorld, network, endpoints });
    const { cost } = await chain.sender.signNothing(signer, bid);
    assert.equal(cost, (21_000n + 50_000_000n) * 10n);
    chain.close();
  });

  it('is not guessed when the node gives no answer', async () => {
    const chain = createEvmChain({ world: systemWorld, network, endpoints: [node('0x')] });
    await assert.rejects(chain.sender.signNothing(signer, bid), ChainUnavailableError);
    chain.close();
  });
});
