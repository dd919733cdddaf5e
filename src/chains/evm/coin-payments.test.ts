import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { findNetwork } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Chain } from '../chain.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';
import { type LyingServer, startLyingServer } from './lying-server.fixture.ts';
import { sampleItem } from './sample-item.fixture.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const ITEM = sampleItem('native', { payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' });

describe('a transaction in coin that one of two endpoints shows', () => {
  let servers: readonly [LyingServer, LyingServer];
  let chain: Chain;
  before(async () => {
    servers = [await startLyingServer(), await startLyingServer()];
  });
  after(() => Promise.all(servers.map((server) => server.close())));
  beforeEach(() => {
    for (const server of servers) {
      server.lie = 'honest';
      server.answers = { eth_getTransactionByHash: { result: null }, eth_getTransactionReceipt: { result: null } };
    }
    const network = findNetwork('eip155:31337') as Network;
    chain = createEvmChain({ world: systemWorld, network, endpoints: servers.map(({ url }) => url) });
  });
  afterEach(() => chain.close());

  function shownBy(server: LyingServer): void {
    const [action] = chain.payerSide.walletActions(ITEM, 0n);
    const { data, ...call } = (action?.params[0] ?? {}) as Record<string, string>;
    server.answers.eth_getTransactionByHash = {
      result: { ...call, hash: HASH, input: data, blockNumber: null },
    };
  }

  for (const [index, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    it(`counts, whichever it is (endpoint ${index + 1})`, async () => {
      shownBy(servers[index]);
      assert.equal(await chain.payerSide.isPaymentShown(ITEM, HASH), true);
    });

    it(`counts while the other is silent (endpoint ${index + 1})`, async () => {
      shownBy(servers[index]);
      servers[other].lie = 'bad_gateway';
      assert.equal(await chain.payerSide.isPaymentShown(ITEM, HASH), true);
    });
  }

  it('is looked for again when neither shows it, and unknown when neither answers', async () => {
    assert.equal(await chain.payerSide.isPaymentShown(ITEM, HASH), false);
    for (const server of servers) server.lie = 'bad_gateway';
    await assert.rejects(chain.payerSide.isPaymentShown(ITEM, HASH), ChainUnavailableError);
  });

  it('does not count when it is another one, or makes a contract', async () => {
    const [first] = servers;
    shownBy(first);
    const { result } = first.answers.eth_getTransactionByHash as { result: Record<string, unknown> };
    for (const wrong of [{ from: `0x${'11'.repeat(20)}` }, { to: null }, { value: '0x1' }, { input: '0x' }]) {
      first.answers.eth_getTransactionByHash = { result: { ...result, ...wrong } };
      assert.equal(await chain.payerSide.isPaymentShown(ITEM, HASH), false, JSON.stringify(wrong));
    }
    first.answers.eth_getTransactionByHash = { result: { ...result, hash: `0x${'cd'.repeat(32)}` } };
    assert.equal(
      await chain.payerSide.isPaymentShown(ITEM, HASH),
      false,
      'an answer about another transaction is no answer',
    );
  });
});
