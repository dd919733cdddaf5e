import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { findNetwork } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Chain } from '../chain.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';

/** Answers of nodes that have not seen the last blocks of a range. */
const BEHIND: readonly (readonly [client: string, code: number, message: string])[] = [
  ['geth and reth', -32_602, 'block range extends beyond current head block'],
  ['reth', -32_602, 'block range extends beyond current head block: requested 50162452, head 50162449'],
  ['geth and nitro', -32_000, 'invalid block range params'],
  ['erigon', -32_000, 'requested block range [1, 8] is beyond latest executed block 7 (node is still syncing)'],
  ['anvil', -32_602, 'BlockOutOfRangeError: block height is 7 but requested was 8'],
];

/** Answers of providers that allow fewer blocks. */
const TOO_MANY: readonly (readonly [code: number, message: string])[] = [
  [-32_005, 'block range is too large'],
  [-32_602, 'eth_getLogs is limited to a 3 blocks range'],
  [-32_000, 'Requested range exceeds maximum RPC range limit'],
  [-32_602, 'invalid block range: at most 3 blocks are allowed'],
  [-32_000, 'query goes beyond the maximum block range of 3'],
];

const BLOCKS = 12;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly { readonly fromBlock: string; readonly toBlock: string }[];
}

describe('reading logs', () => {
  let evm: LocalEvm;
  let chain: Chain;
  /** The clock is this far ahead. */
  let aheadMs = 0;
  let asked: number[] = [];
  let errorFor: (blocks: number) => { readonly code: number; readonly message: string } | undefined;

  async function answer(request: Request): Promise<unknown> {
    const [filter] = request.params;
    if (request.method === 'eth_getLogs' && filter !== undefined) {
      const blocks = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
      asked.push(blocks);
      const error = errorFor(blocks);
      if (error !== undefined) return { jsonrpc: '2.0', id: request.id, error };
    }
    return JSON.parse(await evm.rpc(JSON.stringify(request)));
  }

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    for (let mined = 0; mined < BLOCKS; mined += 1) await evm.mine();
  });
  beforeEach(() => {
    aheadMs = 0;
    asked = [];
    errorFor = () => undefined;
    const post = async (body: string) => {
      const requests = JSON.parse(body) as Request | Request[];
      const answers = Array.isArray(requests) ? await Promise.all(requests.map(answer)) : await answer(requests);
      return { status: 200, text: JSON.stringify(answers) };
    };
    const world = { ...systemWorld, clock: { nowMs: () => systemWorld.clock.nowMs() + aheadMs } };
    const network = findNetwork('eip155:31337') as Network;
    chain = createEvmChain({ world, network, endpoints: [{ post, close: () => {} }] });
  });
  afterEach(() => chain.close());
  after(() => evm.close());

  for (const [client, code, message] of BEHIND) {
    it(`asks for as many blocks again when the endpoint has not seen all of them (${client}: ${message})`, async () => {
      errorFor = () => (asked.length === 1 ? { code, message } : undefined);
      await chain.reader.events(1, BLOCKS);
      assert.deepEqual(asked, [BLOCKS, BLOCKS]);
    });
  }

  for (const [code, message] of TOO_MANY) {
    it(`asks for fewer blocks when the provider refuses so many (${message})`, async () => {
      errorFor = (blocks) => (blocks > 3 ? { code, message } : undefined);
      await chain.reader.events(1, BLOCKS);
      assert.deepEqual(asked, [12, 6, 3, 3, 3, 3]);
    });
  }

  it('remembers the limit of a provider for ten minutes, and not for ever', async () => {
    errorFor = (blocks) => (blocks > 3 ? { code: -32_005, message: 'block range is too large' } : undefined);
    await chain.reader.events(1, BLOCKS);
    errorFor = () => undefined;
    for (const [minutes, expected] of [
      [9, [3, 3, 3, 3]],
      [11, [BLOCKS]],
    ] as const) {
      aheadMs = minutes * 60_000;
      asked = [];
      await chain.reader.events(1, BLOCKS);
      assert.deepEqual(asked, expected);
    }
  });
});
