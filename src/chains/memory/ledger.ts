import type { Item, SignedItem } from '../../domain/item.ts';
import type { RefusalReason } from '../refusal-reason.ts';
import type { ItemOutcome } from '../sender.ts';
import type { State } from './state.ts';

/**
 * The state of the chain, and the facts about accounts and items that the functions of this file need. They apply the rules of
 * tokens, Permit2 and the Collector, and make the checks in the order of the real contracts. Coin is a token without a blacklist.
 */
export interface Ledger {
  readonly state: State;
  readonly timestampS: number;
  readonly collector: string;
  codeOf(account: string): Code | undefined;
  /** True for tokens like Tether's: a transfer checks the blacklist only for the sender, and reverts without a reason. */
  isTaciturn(asset: string): boolean;
  commitmentOf(item: Item): string;
  depositAddressOf(item: Item): string;
  /** The address of the key that signed the item, in lower case. Undefined for an impossible signature. */
  signerOf(item: Item, signature: string): string | undefined;
}

/** The behaviour of an account's code when it checks a signature. */
export type Code =
  /** Accepts signatures of the key `owner`. For an account with delegated code (EIP-7702), `owner` is the account itself. */
  | { readonly is: 'wallet'; readonly owner: string }
  /** Gives no answer and uses up all gas. */
  | { readonly is: 'gas_burner' };

export type Log =
  | { readonly type: 'paid'; readonly commitment: string; readonly item: Item }
  | { readonly type: 'refused'; readonly commitment: string; readonly item: Item; readonly reason: RefusalReason }
  /** An amount was swept from the deposit address of the item. `fee` is the part of the amount that went to the fee account. */
  | {
      readonly type: 'swept';
      readonly commitment: string;
      readonly item: Item;
      readonly amount: bigint;
      readonly fee: bigint;
    }
  /** A transfer outside the Collector. A coin transfer leaves no log on a real chain: the transaction itself shows it. */
  | {
      readonly type: 'transferred';
      readonly isCoin: boolean;
      readonly asset: string;
      readonly from: string;
      readonly to: string;
      readonly amount: bigint;
    };

/** The error that is thrown if an item, or a payer's own transaction, is refused. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(reason);
    this.name = 'Refusal';
    this.reason = reason;
  }
}

type NonceScope = Pick<Item, 'method' | 'asset' | 'payer' | 'authorization'>;

export const COIN = 'coin';
/** The unlimited allowance: tokens do not reduce an allowance of this amount. */
const UNLIMITED = 2n ** 256n - 1n;

export const keys = {
  balance: (token: string, account: string) => `balance ${token} ${account.toLowerCase()}`,
  allowance: (token: string, account: string) => `allowance ${token} ${account.toLowerCase()}`,
  blacklisted: (token: string, account: string) => `blacklisted ${token} ${account.toLowerCase()}`,
  owedFee: (token: string, deposit: string) => `owed fee ${token} ${deposit.toLowerCase()}`,
  paused: (token: string) => `paused ${token}`,
  /** The amount that the token keeps of every transfer. */
  cut: (token: string) => `cut ${token}`,
  nonce: (account: string) => `nonce ${account.toLowerCase()}`,
  /**
   * The key of a used nonce. A nonce is unique for one token (EIP-3009), for all tokens of a payer (Permit2), or for all payers
   * (Collector).
   */
  used: ({ method, asset, payer, authorization }: NonceScope, commitment: string) =>
    method === 'native'
      ? `used ${commitment}`
      : `used ${method === 'permit2' ? 'permit2' : asset} ${payer.toLowerCase()} ${authorization?.nonce.toLowerCase() ?? commitment}`,
};

/** Executes each item independently, and then transfers the sum of their fees. If this transfer fails, throws and undoes everything. */
export function collect(ledger: Ledger, batch: readonly SignedItem[]): { outcomes: ItemOutcome[]; logs: Log[] } {
  return ledger.state.attempt(() => {
    const logs: Log[] = [];
    let fees = 0n;
    const outcomes = batch.map(({ item, signature }): ItemOutcome => {
      const commitment = ledger.commitmentOf(item);
      try {
        ledger.state.attempt(() => collectOne(ledger, item, commitment, signature));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        logs.push({ type: 'refused', commitment, item, reason: error.reason });
        return { is: 'refused', reason: error.reason };
      }
      fees += item.fee;
      logs.push(...transfersOf(item), { type: 'paid', commitment, item });
      return { is: 'paid' };
    });
    const [first] = batch;
    if (first !== undefined && fees > 0n) {
      const { asset, feeAccount, collector, method } = first.item;
      transfer(ledger, asset, ledger.collector, feeAccount, fees);
      const leg = { isCoin: false, asset, from: collector, to: feeAccount, amount: fees } as const;
      if (method !== 'native') logs.push({ type: 'transferred', ...leg });
    }
    return { outcomes, logs };
  });
}

/**
 * The Transfer logs of the token for one item. In releases with seals, Permit2 pays the recipient directly if there is no fee. In
 * all other cases the money passes through the Collector.
 */
function transfersOf({ method, seal, asset, payer, collector, recipient, amount, fee }: Item): Log[] {
  if (method === 'native') return [];
  const leg = (from: string, to: string, units: bigint): Log[] =>
    units === 0n ? [] : [{ type: 'transferred', isCoin: false, asset, from, to, amount: units }];
  if (method === 'permit2' && seal !== undefined && fee === 0n) return leg(payer, recipient, amount);
  return [...leg(payer, collector, amount), ...leg(collector, recipient, amount - fee)];
}

/** Carries out the payer's own transaction to the Collector's payable function. */
export function payCoin(ledger: Ledger, item: Item, value: bigint): Log {
  const { state } = ledger;
  if (ledger.timestampS > item.deadlineS) throw new Refusal('late');
  if (value !== item.amount || item.fee > item.amount) throw new Refusal('unknown');
  const commitment = ledger.commitmentOf(item);
  useUp(state, item, commitment);
  move(state, COIN, item.payer, item.recipient, item.amount - item.fee);
  move(state, COIN, item.payer, item.feeAccount, item.fee);
  return { type: 'paid', commitment, item };
}

/** Moves tokens with the checks of the token's `transfer` function. */
export function transfer(ledger: Ledger, asset: string, from: string, to: string, units: bigint): void {
  const { state } = ledger;
  const isTaciturn = ledger.isTaciturn(asset);
  const refuse = (reason: RefusalReason) => new Refusal(isTaciturn ? 'unknown' : reason);
  if (state.get(keys.paused(asset)) !== 0n) throw refuse('paused');
  if (state.get(keys.blacklisted(asset, from)) !== 0n) throw refuse('payer_blacklisted');
  if (!isTaciturn && state.get(keys.blacklisted(asset, to)) !== 0n) throw refuse('recipient_blacklisted');
  if (state.get(keys.balance(asset, from)) < units) throw new Refusal(isTaciturn ? 'out_of_gas' : 'short_balance');
  move(state, asset, from, to, units);
  const cut = state.get(keys.cut(asset));
  if (cut > 0n) state.set(keys.balance(asset, to), state.get(keys.balance(asset, to)) - (cut < units ? cut : units));
}

export function useUp(state: State, item: Item, commitment: string): void {
  if (state.get(keys.used(item, commitment)) !== 0n) throw new Refusal('used');
  state.set(keys.used(item, commitment), 1n);
}

function collectOne(ledger: Ledger, item: Item, commitment: string, signature: string): void {
  const { state, collector } = ledger;
  if (item.method === 'native' || item.fee > item.amount) throw new Refusal('unknown');
  const held = state.get(keys.balance(item.asset, collector));
  if (item.method === 'permit2') pullByPermit(ledger, item, commitment, signature);
  else pullByAuthorization(ledger, item, { commitment, signature, payee: collector });
  if (state.get(keys.balance(item.asset, collector)) !== held + item.amount) throw new Refusal('short_arrival');
  transfer(ledger, item.asset, collector, item.recipient, item.amount - item.fee);
}

/** Carries out an authorization as a token does: checks it, and transfers the amount to the payee. */
export function pullByAuthorization(
  ledger: Ledger,
  item: Item,
  { commitment, signature, payee }: { commitment: string; signature: string; payee: string },
): void {
  const { state } = ledger;
  if (state.get(keys.paused(item.asset)) !== 0n) throw new Refusal('paused');
  if (state.get(keys.blacklisted(item.asset, item.payer)) !== 0n) throw new Refusal('payer_blacklisted');
  if (ledger.timestampS <= (item.authorization?.validAfterS ?? 0)) throw new Refusal('unknown');
  if (ledger.timestampS >= item.deadlineS) throw new Refusal('late');
  if (state.get(keys.used(item, commitment)) !== 0n) throw new Refusal('used');
  checkSignature(ledger, item, signature);
  useUp(state, item, commitment);
  transfer(ledger, item.asset, item.payer, payee, item.amount);
}

function pullByPermit(ledger: Ledger, item: Item, commitment: string, signature: string): void {
  const { state, collector } = ledger;
  if (ledger.timestampS > item.deadlineS) throw new Refusal('late');
  useUp(state, item, commitment);
  checkSignature(ledger, item, signature);
  const allowed = state.get(keys.allowance(item.asset, item.payer));
  if (allowed < item.amount) throw new Refusal(ledger.isTaciturn(item.asset) ? 'out_of_gas' : 'short_allowance');
  if (allowed !== UNLIMITED) state.set(keys.allowance(item.asset, item.payer), allowed - item.amount);
  transfer(ledger, item.asset, item.payer, collector, item.amount);
}

/** Refuses a signature that the account's key or code does not confirm. */
export function checkSignature(ledger: Ledger, item: Item, signature: string): void {
  const code = ledger.codeOf(item.payer);
  if (code?.is === 'gas_burner') throw new Refusal('out_of_gas');
  const signer = ledger.signerOf(item, signature);
  const expected = code === undefined ? item.payer : code.owner;
  if (signer !== expected.toLowerCase()) throw new Refusal('wrong_signature');
}

export function move(state: State, token: string, from: string, to: string, units: bigint): void {
  const balance = state.get(keys.balance(token, from));
  if (balance < units) throw new Refusal('short_balance');
  state.set(keys.balance(token, from), balance - units);
  state.set(keys.balance(token, to), state.get(keys.balance(token, to)) + units);
}
