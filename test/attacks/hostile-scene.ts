import assert from 'node:assert/strict';
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem';
import hostileDollar from '../../contracts/artifacts/HostileDollar.json' with { type: 'json' };
import hostileWallet from '../../contracts/artifacts/HostileWallet.json' with { type: 'json' };
import { listEvents } from '../../src/store/events/events.ts';
import { type FaultChain, FUNDS, type Payer, TOKEN_ABI } from '../faults/fault-chain.ts';
import { type FaultSceneInput, openFaultScene } from '../faults/fault-scene.ts';
import { EURC, type SignedPayment, tokenOf, WITHIN } from '../faults/shopper.ts';
import { until } from '../until.ts';

const WALLET_ABI = parseAbi(['function play(uint8 trick, uint8 tell)', 'function note()']);
const PROXY_ABI = parseAbi(['function upgradeTo(address)']);
const WALLET_TRICKS = ['None', 'BurnsGas', 'AnswersNo', 'RevertsWithKilobytes', 'AnswersKilobytes'] as const;
const SIMULATION_SIGNS = ['GasPrice', 'Origin', 'Block', 'Nothing'] as const;
const TOKEN_TRICKS = ['TakesFee', 'BurnsGas', 'Reenters', 'RevertsWithKilobytes'] as const;
/** Where the proxy of a token keeps its implementation and its admin. */
const IMPLEMENTATION_SLOT = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3';
const ADMIN_SLOT = '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b';

export type WalletTrick = (typeof WALLET_TRICKS)[number];
export type SimulationSign = (typeof SIMULATION_SIGNS)[number];
export type TokenTrick = (typeof TOKEN_TRICKS)[number];
export type HostileScene = Awaited<ReturnType<typeof openHostileScene>>;

/** A gateway on a real chain, an attacker with wallets and tokens of its own, and honest payers beside it. */
export async function openHostileScene(input: FaultSceneInput = {}) {
  let isHeld = false;
  const scene = await openFaultScene({
    payers: 40,
    ...input,
    relaying: { ...input.relaying, feeCap: () => (isHeld ? 0n : undefined) },
  });
  const { chain, shopper, sql } = scene;

  async function deploy(from: Payer, data: Hex): Promise<Hex> {
    const nonce = BigInt(await chain.request('eth_getTransactionCount', from.address, 'latest'));
    await chain.carryOut(from, { data });
    return getContractAddress({ from: from.address, nonce });
  }

  /** A wallet contract that holds money for many payments. Its owner signs for it. */
  async function newWallet() {
    const owner = chain.newPayer();
    const data = encodeDeployData({ ...hostileWallet, abi: hostileWallet.abi, args: [owner.address] } as never);
    const address = await deploy(owner, data);
    const mint = { abi: TOKEN_ABI, functionName: 'mint', args: [address, 20n * FUNDS] } as const;
    await chain.askIssuer(tokenOf(EURC), mint);
    return walletAt(chain, owner, address);
  }

  /** The transactions that carried a payment, and the gas of those that were mined. */
  async function costOf({ id }: Pick<SignedPayment, 'id'>) {
    const versions = await scene.versionsOf(id);
    const receipts = await Promise.all(
      versions.map(({ hash }) => chain.request<{ gasUsed: Hex } | null>('eth_getTransactionReceipt', hash)),
    );
    const gas = receipts.reduce((sum, receipt) => sum + BigInt(receipt?.gasUsed ?? 0), 0n);
    return { transactions: new Set(versions.map(({ nonce }) => nonce)).size, gas };
  }

  return {
    ...scene,
    deploy,
    newWallet,
    costOf,
    /** The relayer sends nothing new until `release`. */
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
    },

    /** Blocks come for so long by the node's clock, which jumps, so that every backoff passes. */
    async live(ms: number, beforeBlock: () => Promise<unknown> = async () => {}): Promise<void> {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        scene.node.pass(STEP_MS);
        await beforeBlock();
        await chain.mine();
        const asked = scene.proxy.calls.length;
        // The node has looked at the block, and has had the time to send something.
        await until('the node goes on', () => scene.proxy.calls.length > asked + 12, WITHIN);
      }
    },

    /** An honest payment is accepted now and paid. Only transactions of the round under way may go before it. */
    async honestIsPaid(asset?: string): Promise<void> {
      const payment = await shopper.pay(asset === undefined ? {} : { asset });
      await shopper.reaches(payment, 'succeeded');
      await shopper.isPaidOnce(payment);
      const [ahead] = await sql<{ count: number }[]>`
        select count(distinct other.slot)::int as count
        from items honest join relay_items own on own.commitment = honest.commitment
        join relay_sends other on other.network = own.network and other.signer = own.signer and other.slot < own.slot
        join relay_items si on si.network = other.network and si.signer = other.signer and si.slot = other.slot
        join items hostile on hostile.commitment = si.commitment and hostile.has_code
        where honest.subject = ${payment.id} and other.created_at >= honest.accepted_at`;
      assert.ok((ahead?.count ?? 0) <= ONE_ROUND, `${ahead?.count} hostile transactions were sent before it`);
    },

    /** The attempt ends by its deadline without a charge, and was never called failed. */
    async lapses(payment: SignedPayment): Promise<void> {
      const deadline = (await scene.item(payment.id))?.deadline.getTime() ?? 0;
      await chain.request('evm_setNextBlockTimestamp', Math.max(deadline / 1_000, await chain.timestampS()) + 1);
      scene.node.pass(Math.max(0, deadline - scene.node.nowMs()) + 2_000);
      await until(
        'the attempt is over',
        async () => {
          await chain.mine();
          return (await shopper.status(payment)) !== 'processing';
        },
        WITHIN,
      );
      assert.match(await shopper.status(payment), /^(requires_action|expired)$/);
      const events = await listEvents(sql, payment.id);
      assert.ok(
        !events.some(({ type }) => /failed|succeeded/.test(type)),
        'it was called neither failed nor succeeded',
      );
      assert.equal(await chain.balanceOf(tokenOf(payment.asset), payment.recipient), 0n, 'the merchant got nothing');
    },

    /** Other code for a token, to be put behind its proxy by the token's own admin. */
    async prepareUpgrade(asset: string, trick: TokenTrick) {
      const token = tokenOf(asset);
      const read = async (slot: Hex): Promise<Hex> =>
        `0x${(await chain.request('eth_getStorageAt', token, slot, 'latest')).slice(26)}`;
      const [honest, admin] = [await read(IMPLEMENTATION_SLOT), await read(ADMIN_SLOT)];
      const args = [honest, TOKEN_TRICKS.indexOf(trick)];
      const hostile = await deploy(chain.newPayer(), encodeDeployData({ ...hostileDollar, args } as never));
      await chain.request('hardhat_impersonateAccount', admin);
      await chain.request('hardhat_setBalance', admin, `0x${(10n ** 20n).toString(16)}`);
      const upgradeTo = (implementation: Hex) => {
        const data = encodeFunctionData({ abi: PROXY_ABI, functionName: 'upgradeTo', args: [implementation] });
        return chain.request('eth_sendTransaction', { from: admin, to: token, data, gas: '0x186a0' });
      };
      return { act: () => upgradeTo(hostile), undo: () => upgradeTo(honest) };
    },
  };
}

const STEP_MS = 5_000;

/** A relayer has this many transactions of accounts with code in flight. */
const ONE_ROUND = 4;

/** The fees of a transaction that comes last in its block. */
const LAST = { maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 1n };

/** A contract that answers for an account: a wallet contract, or a key that has lent itself code. */
export function walletAt(chain: FaultChain, owner: Payer, address: Hex) {
  const callWallet = (data: Hex) => chain.carryOut(owner, { to: address, data });
  return {
    owner,
    address,
    /** Signs as the owner, pays as the contract. */
    payer: { ...owner, address } as Payer,
    play: (trick: WalletTrick, by: SimulationSign) =>
      callWallet(
        encodeFunctionData({
          abi: WALLET_ABI,
          functionName: 'play',
          args: [WALLET_TRICKS.indexOf(trick), SIMULATION_SIGNS.indexOf(by)],
        }),
      ),
    /** Behind all others of the next block: what is simulated on that block looks simulated, and what comes after does not. */
    note: () =>
      chain.send(owner, { to: address, data: encodeFunctionData({ abi: WALLET_ABI, functionName: 'note' }) }, LAST),
  };
}
