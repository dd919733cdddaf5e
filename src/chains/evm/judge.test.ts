import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import type { Item, PayMethod } from '../../domain/item.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Network } from '../network.ts';
import { COLLECTORS } from './collectors.ts';
import { createEvmContext, type EvmContext } from './evm-context.ts';
import { itemCommitment } from './item-terms.ts';
import { judge } from './judge.ts';
import { createRpc } from './rpc.ts';
import { sampleItem } from './sample-item.fixture.ts';
import type { Transport } from './transport.ts';
import { walletActions } from './wallet-actions.ts';

const network = findNetwork('eip155:31337') as Network;
const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
const stranger = privateKeyToAccount(`0x${'42'.repeat(32)}`);

describe('the judgement of a signature', () => {
  let evm: LocalEvm;
  let context: EvmContext;
  /** Requests by the calls for money, and by those for surveys. */
  const sent = { money: 0, surveys: 0 };

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    const counted = (as: keyof typeof sent) => {
      const transport: Transport = {
        post: async (body) => {
          sent[as] += 1;
          return { status: 200, text: await evm.rpc(body) };
        },
        close: () => {},
      };
      return createRpc({
        world: systemWorld,
        network: network.chainId,
        chainId: 31337,
        blockTimeMs: 1_000,
        endpoints: [transport],
      });
    };
    const [rpc, surveyRpc] = [counted('money'), counted('surveys')];
    context = createEvmContext({ world: systemWorld, network, chainId: 31337, rpc, surveyRpc, collectors: COLLECTORS });
    // The first request to an endpoint asks for its chain as well.
    const { item, signature } = await signedBy(payer);
    assert.equal((await judged(item, signature)).is, 'good');
    await judged(item, (await signedBy(stranger)).signature);
  });
  after(async () => {
    context.rpc.close();
    context.surveyRpc.close();
    await evm.close();
  });

  async function signedBy(signer: typeof payer, fields: Partial<Item> = {}, method: PayMethod = 'eip3009-bytes') {
    const item = sampleItem(method, { payer: payer.address, feeAccount: SANDBOX_ACCOUNTS.feeAccount, ...fields });
    const action = walletActions(item, context.termsOf(item.asset), 31337, commitmentOf(item), 0n).at(-1);
    return { item, signature: await signer.signTypedData(JSON.parse(String(action?.params[1]))) };
  }
  const commitmentOf = (item: Item) =>
    itemCommitment(item, { chainId: 31337, token: context.termsOf(item.asset).token });
  const judged = (item: Item, signature: string, onUnproved?: () => void) =>
    judge(context, { item, commitment: commitmentOf(item), signature, sender: undefined, onUnproved });

  it('takes one request for a signature of the account’s key, and none of those for surveys', async () => {
    const { item, signature } = await signedBy(payer);
    Object.assign(sent, { money: 0, surveys: 0 });
    assert.equal((await judged(item, signature, () => assert.fail('it is proved'))).is, 'good');
    assert.deepEqual(sent, { money: 1, surveys: 0 });
  });

  it('leaves the calls for money unused by made-up signatures', async () => {
    const { item } = await signedBy(payer);
    const { signature } = await signedBy(stranger);
    Object.assign(sent, { money: 0, surveys: 0 });
    for (let count = 0; count < 20; count += 1) {
      assert.deepEqual(await judged(item, signature), { is: 'wrong_signature' });
    }
    assert.deepEqual(sent, { money: 0, surveys: 20 });
    const older = await signedBy(stranger, {}, 'eip3009-vrs');
    assert.deepEqual(await judged(older.item, older.signature), { is: 'wrong_signature' });
    assert.deepEqual(sent, { money: 0, surveys: 20 }, 'only a key signs the older form');
  });

  it('can be refused before a made-up signature or a second opinion costs a request', async () => {
    const { item, signature } = await signedBy(stranger);
    Object.assign(sent, { money: 0, surveys: 0 });
    const refuse = () => {
      throw new RangeError('enough');
    };
    await assert.rejects(judged(item, signature, refuse), RangeError);
    assert.deepEqual(sent, { money: 0, surveys: 0 });
    const dear = await signedBy(payer, { amount: 2n ** 100n });
    await assert.rejects(judged(dear.item, dear.signature, refuse), RangeError);
    assert.deepEqual(sent, { money: 1, surveys: 0 });
  });
});
