import type { Item, SignedItem } from '../../domain/item.ts';
import type { WalletAction } from '../payer-side.ts';
import type { Core } from './core.ts';
import type { FaultControl } from './faults.ts';
import { COIN, type Code, keys, useUp } from './ledger.ts';
import { fillByAuthorization } from './sweep.ts';
import { HONEST_TESTIMONY, type TestimonyLies } from './testimony.ts';
import { hashOfText, type Payload, type Transaction, type WalletCall } from './transactions.ts';
import { readWalletCall } from './wallet-call.ts';

/**
 * The commands with which a test script changes the chain. Every call takes effect at once, and the same calls in the same order
 * give the same chain.
 */
export interface MemoryChainControl extends FaultControl {
  // Blocks.
  mine(count?: number, options?: { readonly timestampS?: number }): void;
  setAutoMining(isOn: boolean): void;
  /** Replaces the last `depth` blocks, by the same number of blocks unless `length` is given. */
  reorg(depth: number, options?: ReorgOptions): void;

  // Accounts. Coin is the network's native asset.
  setBalance(account: string, asset: string, units: bigint): void;
  balanceOf(account: string, asset: string): bigint;
  /** Sets the allowance that the account gives to Permit2. */
  setAllowance(account: string, asset: string, units: bigint): void;
  setBlacklisted(account: string, asset: string, isOn?: boolean): void;
  setPaused(asset: string, isOn?: boolean): void;
  /** Makes the token keep this amount of every transfer. */
  setCut(asset: string, units: bigint): void;
  setCode(account: string, code: Code | undefined): void;
  /** Makes an endpoint, given by its index, report false facts (`lies`). A call without `lies` makes the endpoint honest again. */
  testify(place: number, lies?: Partial<TestimonyLies>): void;

  /** Sets the problem that the port's `check` reports for the asset. Undefined clears the problem. */
  setProblem(asset: string, sentence: string | undefined): void;

  // Transactions of payers and strangers. Each function returns the hash of its transaction.
  /** The payer's wallet executes an `eth_sendTransaction` action. */
  send(action: WalletAction): string;
  cancelAuthorization(item: Item): string;
  /** Uses the nonce of the item by a call outside the Collector. */
  useAuthorizationElsewhere(item: Item): string;
  /** A stranger relays items through the Collector, as anybody may. */
  relayAsStranger(batch: readonly SignedItem[]): string;
  /** A stranger presents an authorization to the token, and does not sweep the deposit address. */
  authorizeAsStranger(signed: SignedItem): string;
  /** A stranger transfers zero tokens from another account, which tokens allow and report as a transfer. */
  transferNothing(asset: string, from: string, to: string): string;
  /**
   * Makes the Collector report a payment that nobody ordered. `commitment` is required for an unknown token, because it cannot be
   * computed.
   */
  emitLookAlike(item: Item, commitment?: string): string;

  // The mempool.
  pending(): readonly string[];
  evict(hash: string): void;
  releaseBroadcasts(): void;
  setStrictNonces(isStrict: boolean): void;
  /** Makes the next batches revert as a whole. */
  revertNextBatches(times?: number): void;

  // The price of gas.
  setFees(fees: { readonly base?: bigint; readonly tip?: bigint }): void;
  spikeGas(factor: bigint): void;
}

export interface ReorgOptions {
  readonly length?: number;
  /** The fate of transactions in replaced blocks: moved into the first new block, returned to the mempool, or dropped. */
  readonly transactions?: 'kept' | 'pending' | 'dropped';
  /** Hashes of transactions that are dropped in any case. */
  readonly drop?: readonly string[];
}

const WALLET_GAS = 120_000n;
/** The account of all strangers. It pays no gas, because no test is about its balance. */
const STRANGER = '0x57a4ae500000000000000000000000000000571a';

export function createControl(core: Core): MemoryChainControl {
  const { rules, history, blocks, mempool, faults, market, settings } = core;
  let sent = 0;

  const tokenOf = (asset: string) => (asset === core.network.coin.id ? COIN : asset);
  const decree = (key: string, value: bigint) => blocks.decree((state) => state.set(key, value));

  function submit(from: string, gasLimit: bigint, payload: Payload): string {
    const nonce = mempool.nextNonce(from);
    sent += 1;
    const fees = { max: market.base * 2n + market.tip, tip: market.tip };
    const hash = hashOfText(`${core.network.chainId} ${from} ${nonce} ${sent}`);
    const transaction: Transaction = { hash, from, nonce, fees, gasLimit, payload };
    const outcome = core.submit(transaction);
    if (outcome !== 'accepted') throw new Error(`The transaction of ${from} was not accepted: ${outcome}`);
    return hash;
  }

  const actAsStranger = (act: Extract<Payload, { kind: 'act' }>['act']) =>
    submit(STRANGER, 0n, { kind: 'act', value: 0n, act });

  return {
    ...faults.control,

    mine: (count = 1, { timestampS } = {}) => {
      for (let mined = 0; mined < count; mined += 1) core.mine(timestampS);
    },
    setAutoMining: (isOn) => {
      settings.isAutoMining = isOn;
    },
    reorg: (depth, { length = depth, transactions = 'kept', drop = [] } = {}) => {
      const returned: Transaction[] = [];
      const left = blocks.replace(depth, length, (transaction) => {
        if (transactions === 'dropped' || drop.includes(transaction.hash)) return false;
        if (transactions === 'pending') returned.push(transaction);
        return transactions === 'kept';
      });
      for (const transaction of [...returned, ...left]) mempool.restore(transaction);
    },

    setBalance: (account, asset, units) => decree(keys.balance(tokenOf(asset), account), units),
    balanceOf: (account, asset) => history.state.get(keys.balance(tokenOf(asset), account)),
    setAllowance: (account, asset, units) => decree(keys.allowance(asset, account), units),
    setBlacklisted: (account, asset, isOn = true) => decree(keys.blacklisted(asset, account), isOn ? 1n : 0n),
    setPaused: (asset, isOn = true) => decree(keys.paused(asset), isOn ? 1n : 0n),
    setCut: (asset, units) => decree(keys.cut(asset), units),
    setCode: (account, code) => {
      if (code === undefined) core.codes.delete(account.toLowerCase());
      else core.codes.set(account.toLowerCase(), code);
    },
    setProblem: (asset, sentence) => {
      if (sentence === undefined) core.problems.delete(asset);
      else core.problems.set(asset, sentence);
    },

    testify: (place, lies = {}) => {
      const testimony = core.testimonies[place];
      if (testimony === undefined) throw new RangeError(`There is no endpoint ${place}`);
      Object.assign(testimony, HONEST_TESTIMONY, lies);
    },

    send: (action) => {
      const call = action.params[0] as WalletCall;
      const { from, value, act } = readWalletCall(core, call);
      return submit(from, WALLET_GAS, { kind: 'act', value, act, call });
    },
    cancelAuthorization: (item) =>
      actAsStranger(({ state }) => {
        useUp(state, item, rules.commitmentOf(item));
        return [];
      }),
    useAuthorizationElsewhere: (item) =>
      actAsStranger(({ state }) => {
        useUp(state, item, rules.commitmentOf(item));
        const key = keys.balance(item.asset, item.payer);
        const balance = state.get(key);
        state.set(key, balance > item.amount ? balance - item.amount : 0n);
        return [];
      }),
    authorizeAsStranger: (signed) => actAsStranger((ledger) => fillByAuthorization(ledger, signed)),
    relayAsStranger: (batch) => submit(STRANGER, 0n, { kind: 'batch', batch }),
    transferNothing: (asset, from, to) =>
      actAsStranger(() => [{ type: 'transferred', isCoin: false, asset, from, to, amount: 0n }]),
    emitLookAlike: (item, commitment = rules.commitmentOf(item)) =>
      actAsStranger(() => [{ type: 'paid', commitment, item }]),

    pending: () => mempool.list().map(({ hash }) => hash),
    evict: (hash) => {
      if (!mempool.remove(hash)) throw new Error(`No transaction ${hash} is waiting`);
    },
    releaseBroadcasts: () => {
      for (const transaction of core.held.splice(0)) core.submit(transaction);
    },
    setStrictNonces: (isStrict) => mempool.setStrictNonces(isStrict),
    revertNextBatches: (times = 1) => {
      settings.revertingBatches = times;
    },

    setFees: (fees) => void Object.assign(market, fees),
    spikeGas: (factor) => {
      market.base *= factor;
    },
  };
}
