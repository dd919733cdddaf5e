import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import type { SignedItem } from '../../domain/item.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Chain } from '../chain.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';
import { createLocalSigner } from './local-signer.ts';
import { sampleItem } from './sample-item.fixture.ts';
import type { Transport } from './transport.ts';

const network = findNetwork('eip155:31337') as Network;
const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
const relayer = createLocalSigner(SANDBOX_KEYS.relayer);

describe('an endpoint that answers everything but one question', () => {
  let evm: LocalEvm;
  let chain: Chain;
  let heldBack: string | undefined;
  /** The requests of this test that were held back until their time was over. */
  let late = { count: 0 };

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    const honest: Transport = {
      post: async (body) => ({ status: 200, text: await evm.rpc(body) }),
      close: () => {},
    };
    const silent: Transport = {
      post: (body, signal) => {
        if (heldBack === undefined || !body.includes(heldBack)) return honest.post(body, signal);
        const { promise, reject } = Promise.withResolvers<never>();
        const own = late;
        signal.addEventListener('abort', () => {
          own.count += 1;
          reject(new Error('held back'));
        });
        return promise;
      },
      close: () => {},
    };
    chain = createEvmChain({ world: systemWorld, network, endpoints: [honest, silent] });
  });
  beforeEach(() => {
    heldBack = undefined;
    late = { count: 0 };
  });
  after(async () => {
    chain.close();
    await evm.close();
  });

  it('delays no repeated broadcast that another endpoint takes', async () => {
    const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
    const { bytes } = await chain.sender.signNothing(relayer, bid);
    heldBack = 'eth_sendRawTransaction';
    assert.equal(await chain.sender.broadcast(bytes, { isRepeated: true }), 'accepted');
    assert.equal(await chain.sender.broadcast(bytes, { isRepeated: true }), 'known');
    assert.equal(late.count, 0);
  });

  it('delays a repeated broadcast that nobody takes for a moment only', async () => {
    const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
    const { bytes } = await chain.sender.signNothing(createLocalSigner(`0x${'77'.repeat(32)}`), { ...bid, slot: 0 });
    heldBack = 'eth_sendRawTransaction';
    assert.equal(await chain.sender.broadcast(bytes, { isRepeated: true }), 'short_balance');
    assert.equal(late.count, 0);
  });

  it('delays a doubted simulation for a moment only', async () => {
    const item = await signed(2n ** 100n);
    await chain.sender.simulate([item], { isDoubted: true });
    heldBack = 'eth_call';
    assert.deepEqual(await chain.sender.simulate([item], { isDoubted: true }), [
      { is: 'refused', reason: 'short_balance' },
    ]);
    assert.equal(late.count, 0);
  });

  it('delays a doubted verdict for a moment only', async () => {
    const { item, signature } = await signed(2n ** 100n);
    heldBack = 'eth_call';
    assert.equal((await chain.payerSide.judge(item, signature, relayer.address)).is, 'short_balance');
    assert.equal(late.count, 0);
  });

  async function signed(amount: bigint): Promise<SignedItem> {
    const item = sampleItem('eip3009-vrs', { payer: payer.address, feeAccount: SANDBOX_ACCOUNTS.feeAccount, amount });
    const action = chain.payerSide.walletActions(item, 2n ** 255n).at(-1);
    const signature = await payer.signTypedData(JSON.parse(String(action?.params[1])));
    return { item, commitment: chain.payerSide.commitmentOf(item), signature, hasCode: false };
  }
});
