import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import type { Item, PayMethod } from '../../domain/item.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
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

const WALLET = `0x${'5a'.repeat(20)}`;
const NEWLY_RICH = `0x${'5b'.repeat(20)}`;
/** A contract that confirms every signature (ERC-1271). */
const SIGNS_ALL = '0x631626ba7e60e01b60005260206000f3';

function withCode(code: string, request: string, response: string): string {
  const [calls, answers] = [request, response].map((text) => JSON.parse(text));
  const denied = (call: { method: string }, answer: object) =>
    call.method === 'eth_getCode' ? { ...answer, result: code } : answer;
  const all = Array.isArray(calls) ? calls.map((call, index) => denied(call, answers[index])) : denied(calls, answers);
  return JSON.stringify(all);
}

function close({ rpc, surveyRpc }: EvmContext): void {
  rpc.close();
  surveyRpc.close();
}

describe('the judgement of a signature', () => {
  let evm: LocalEvm;
  /** Another chain with the same contracts and accounts, for an endpoint that reports other code. */
  let other: LocalEvm;
  let context: EvmContext;
  /** Requests by the calls for money, and by those for surveys. */
  const sent = { money: 0, surveys: 0 };

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    other = await createSandboxEvm({ mining: 'manual' });
    context = openContext([undefined]);
    // The first request to an endpoint asks for its chain as well.
    const { item, signature } = await signedBy(payer);
    assert.equal((await judged(item, signature)).is, 'good');
    await judged(item, (await signedBy(stranger)).signature);
  });
  after(async () => {
    close(context);
    await evm.close();
    await other.close();
  });

  /** A context with an endpoint for each element, which shows this code at every address, another chain, or the truth. */
  function openContext(codes: readonly (string | LocalEvm | undefined)[]): EvmContext {
    const opened = (as: keyof typeof sent) =>
      createRpc({
        world: systemWorld,
        network: network.chainId,
        chainId: 31337,
        blockTimeMs: 1_000,
        endpoints: codes.map(
          (code): Transport => ({
            post: async (body) => {
              sent[as] += 1;
              const text = await (typeof code === 'object' ? code : evm).rpc(body);
              return { status: 200, text: typeof code === 'string' ? withCode(code, body, text) : text };
            },
            close: () => {},
          }),
        ),
      });
    const [rpc, surveyRpc] = [opened('money'), opened('surveys')];
    return createEvmContext({ world: systemWorld, network, chainId: 31337, rpc, surveyRpc, collectors: COLLECTORS });
  }

  async function signedBy(signer: typeof payer, fields: Partial<Item> = {}, method: PayMethod = 'eip3009-bytes') {
    const item = sampleItem(method, { payer: payer.address, feeAccount: SANDBOX_ACCOUNTS.feeAccount, ...fields });
    const action = walletActions(item, context.termsOf(item.asset), 31337, commitmentOf(item), 0n).at(-1);
    return { item, signature: await signer.signTypedData(JSON.parse(String(action?.params[1]))) };
  }
  /** Gives the payer of the item its amount, on this chain. */
  async function mint(chain: LocalEvm, { asset, payer: to, amount }: Item) {
    const minter = privateKeyToAccount(SANDBOX_KEYS.minter);
    const nonce = await chain.request({ method: 'eth_getTransactionCount', params: [minter.address, 'latest'] });
    const abi = parseAbi(['function mint(address, uint256)']);
    const bytes = await minter.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: Number(nonce),
      to: context.termsOf(asset).token as Hex,
      data: encodeFunctionData({ abi, args: [to as Hex, amount] }),
      gas: 200_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    });
    await chain.request({ method: 'eth_sendRawTransaction', params: [bytes] });
    await chain.mine();
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

  it('takes the signature of an account with code, if one endpoint of three shows no code', async () => {
    const { item, signature } = await signedBy(stranger, { payer: WALLET });
    await evm.request({ method: 'hardhat_setCode', params: [WALLET, SIGNS_ALL] });
    const lying = openContext([other, undefined, undefined]);
    const ask = { item, commitment: commitmentOf(item), signature, sender: undefined };
    const [before] = lying.rpc.inOrder();
    const verdict = await judge(lying, ask).finally(() => close(lying));
    assert.equal(before?.name, 'endpoint 1', 'the liar is asked first');
    assert.deepEqual(verdict, { is: 'short_balance' });
  });

  it('takes no made-up signature, if one endpoint of two or three invents code that confirms everything', async () => {
    const { item, signature } = await signedBy(stranger);
    await other.request({ method: 'hardhat_setCode', params: [payer.address, SIGNS_ALL] });
    const ask = { item, commitment: commitmentOf(item), signature, sender: undefined };
    const believing = openContext([other]);
    assert.equal((await judge(believing, ask).finally(() => close(believing))).is, 'good', 'by its word alone');
    for (const codes of [
      [other, undefined],
      [undefined, other],
      [other, undefined, undefined],
    ]) {
      const lying = openContext(codes);
      assert.deepEqual(await judge(lying, ask).finally(() => close(lying)), { is: 'wrong_signature' });
    }
  });

  it('gives no verdict about an account with code, if one endpoint of two does not know its money yet', async () => {
    const { item, signature } = await signedBy(stranger, { payer: NEWLY_RICH });
    const code = { method: 'hardhat_setCode', params: [NEWLY_RICH, SIGNS_ALL] };
    await Promise.all([evm.request(code), other.request(code)]);
    await mint(evm, item);
    const ask = { item, commitment: commitmentOf(item), signature, sender: undefined };
    const lagging = openContext([other, undefined]);
    await assert.rejects(
      judge(lagging, ask).finally(() => close(lagging)),
      ChainUnavailableError,
    );
    const caughtUp = openContext([other, undefined, undefined]);
    assert.equal((await judge(caughtUp, ask).finally(() => close(caughtUp))).is, 'good');
  });

  it('takes the signature of an account’s key, if one endpoint of two invents code that confirms nothing', async () => {
    const { item, signature } = await signedBy(payer);
    const lying = openContext(['0x00', undefined]);
    const ask = { item, commitment: commitmentOf(item), signature, sender: undefined };
    assert.equal((await judge(lying, ask).finally(() => close(lying))).is, 'good');
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
