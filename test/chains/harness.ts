import { keccak256, stringToBytes } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../../src/chains/chain.ts';
import type { WalletAction } from '../../src/chains/payer-side.ts';
import type { RefusalReason } from '../../src/chains/refusal-reason.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Item, PayMethod, SignedItem } from '../../src/domain/item.ts';
import { sealedByTest } from '../sealed.ts';

/** The test controls of an implementation of the port, so that the same suite can run on all of them. */
export interface Harness {
  readonly chain: Chain;
  /** An asset for every payment method. */
  readonly assets: Readonly<Record<PayMethod, string>>;
  /** Accounts that send transactions and have coin for gas. */
  readonly relayers: readonly [Signer, Signer];
  readonly feeAccount: string;
  /** The refusal reason of the token for an `eip3009-vrs` item whose authorization was used before. */
  readonly usedReason: RefusalReason;

  /** Gives an account more of an asset. */
  fund(account: string, asset: string, units: bigint): Promise<void>;
  /** Mines pending transactions, at the given time if any. */
  mine(timestampS?: number): Promise<void>;
  /** Replaces the last blocks by others. Their transactions are dropped, or mined in a new block. */
  reorg(depth: number, transactions: 'forgotten' | 'kept'): Promise<void>;
  /** False if the token has no blacklist. */
  setBlacklisted(account: string, asset: string, isOn: boolean): Promise<boolean>;
  /** False if the token cannot be paused. */
  setPaused(asset: string, isOn: boolean): Promise<boolean>;
  /** The payer's wallet sends the transaction that an action asks for. It stays pending until the next block. */
  send(payer: Payer, action: WalletAction): Promise<string>;
  /** The payer cancels the authorization, in its own block. */
  cancelAuthorization(payer: Payer, item: Item): Promise<void>;
  /** The account gets code that accepts signatures of this key, or code that burns all gas. */
  giveCode(account: string, code: { readonly owner: string } | 'gas_burner'): Promise<void>;
  /** Makes the chain reachable or unreachable. */
  setReachable(isReachable: boolean): Promise<void>;
  close(): Promise<void>;
}

export type Payer = PrivateKeyAccount;

/** One test's own accounts and payments on a harness. */
export interface Scene extends Harness {
  newPayer(): Payer;
  newAccount(): string;
  /** A payment of 1,000 with a fee of 10, due in an hour of chain time, or with the given terms. */
  newItem(payer: Payer, method: PayMethod, terms?: Partial<Item>): Promise<Item>;
  /** The result of the payer's wallet for the item. */
  sign(payer: Payer, item: Item): Promise<string>;
  /** A new item of a payer who has the money, signed. */
  payable(method: PayMethod, terms?: Partial<Item>): Promise<{ payer: Payer; item: Item; signed: SignedItem }>;
  signItem(payer: Payer, item: Item): Promise<SignedItem>;
  /** The balance of an account according to the port. */
  holding(account: string, asset: string): Promise<bigint>;
  /** Signs, broadcasts and mines a batch, and returns its hash. */
  relay(batch: readonly SignedItem[], relayer?: Signer): Promise<string>;
  /** The block that holds a mined transaction. */
  placeOf(hash: string): Promise<{ number: number; hash: string }>;
}

/** The items have the seals of the gateway that writes them. */
export function createScene(harness: Harness, seal = sealedByTest): Scene {
  const { chain, assets } = harness;
  let serial = 0;

  function newPayer(): Payer {
    serial += 1;
    return privateKeyToAccount(keccak256(stringToBytes(`conformance ${serial}`)));
  }

  async function newItem(payer: Payer, method: PayMethod, terms: Partial<Item> = {}): Promise<Item> {
    serial += 1;
    return seal(chain.payerSide, {
      network: chain.network.chainId,
      collector: chain.payerSide.collector() ?? '',
      asset: assets[method],
      method,
      subject: newId('pay_', serial, new Uint8Array(10)),
      payer: payer.address,
      recipient: newPayer().address,
      feeAccount: harness.feeAccount,
      amount: 1_000n,
      fee: 10n,
      deadlineS: (await chain.reader.head()).timestampS + 3_600,
      ...terms,
    });
  }

  async function sign(payer: Payer, item: Item): Promise<string> {
    const action = chain.payerSide.walletActions(item, 2n ** 256n - 1n).at(-1);
    return payer.signTypedData(JSON.parse(String(action?.params[1])));
  }

  async function signItem(payer: Payer, item: Item): Promise<SignedItem> {
    const signature = await sign(payer, item);
    return { item, commitment: chain.payerSide.commitmentOf(item), signature, hasCode: false };
  }

  async function approve(payer: Payer, item: Item): Promise<void> {
    for (const action of chain.payerSide.walletActions(item, 0n)) {
      if (action.method !== 'eth_sendTransaction') continue;
      await harness.fund(payer.address, assets.native, 10n ** 18n);
      await harness.send(payer, action);
      await harness.mine();
    }
  }

  return {
    ...harness,
    newPayer,
    newAccount: () => newPayer().address,
    newItem,
    sign,
    signItem,
    async payable(method, terms) {
      const payer = newPayer();
      const item = await newItem(payer, method, terms);
      await harness.fund(payer.address, item.asset, item.amount);
      if (method === 'permit2') await approve(payer, item);
      return { payer, item, signed: await signItem(payer, item) };
    },
    async holding(account, asset) {
      const ask = { payers: [account], assets: [{ asset, recipient: harness.feeAccount }], timeoutMs: 5_000 };
      const [holding] = (await chain.payerSide.survey(ask)).holdings;
      if (holding === undefined) throw new Error('The survey left the holding out');
      return holding.balance;
    },
    async relay(batch, relayer = harness.relayers[0]) {
      const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
      const { hash, bytes } = await chain.sender.signBatch(relayer, batch, bid);
      const outcome = await chain.sender.broadcast(bytes);
      if (outcome !== 'accepted') throw new Error(`The batch was not accepted: ${outcome}`);
      await harness.mine();
      return hash;
    },
    async placeOf(hash) {
      const found = await chain.sender.findTransaction(hash);
      if (found.is !== 'mined') throw new Error(`The transaction is ${found.is}`);
      return found.block;
    },
  };
}

/** Gives a test its scene on a separate chain, and closes the chain afterwards. */
export type OnScene = (test: (scene: Scene) => Promise<void>) => () => Promise<void>;
