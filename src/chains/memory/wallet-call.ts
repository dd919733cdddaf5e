import { checksumAddress } from '../../domain/addresses/eip155.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import type { Item } from '../../domain/item.ts';
import { COLLECTOR_ADDRESS, PERMIT2_ADDRESS } from '../evm/collector.ts';
import type { Core } from './core.ts';
import { COIN, keys, type Ledger, type Log, move, payCoin, Refusal, transfer } from './ledger.ts';
import type { WalletCall } from './transactions.ts';

export interface WalletAct {
  readonly from: string;
  readonly value: bigint;
  act(ledger: Ledger): readonly Log[];
}

const APPROVE = '0x095ea7b3';
const TRANSFER = '0xa9059cbb';

/** Decodes a wallet's transaction: an approval, a transfer, or a payment in coin. Throws for any other transaction. */
export function readWalletCall(core: Core, { from: sender, to, value = '0x0', data = '0x' }: WalletCall): WalletAct {
  const from = checksumAddress(sender.toLowerCase());
  const coins = BigInt(value);
  const words = (data.slice(10).match(/.{64}/g) ?? []).map((word) => word.toLowerCase());

  if (data.startsWith(APPROVE)) return { from, value: 0n, act: (ledger) => approve(core, ledger, from, to, words) };
  if (data.startsWith(TRANSFER)) return { from, value: 0n, act: (ledger) => send(core, ledger, from, to, words) };
  if (isSameAddress(core.network.chainId, to, COLLECTOR_ADDRESS)) {
    const item = readNativeItem(core, from, words);
    return { from, value: coins, act: (ledger) => [payCoin(ledger, item, coins)] };
  }
  if (data === '0x') return { from, value: coins, act: (ledger) => [sendCoin(core, ledger, from, to, coins)] };
  throw new TypeError('The memory chain knows approvals, transfers and payments to the Collector only');
}

function approve(core: Core, { state }: Ledger, from: string, to: string, words: readonly string[]): readonly Log[] {
  const terms = [...core.rules.assets.values()].find(({ token }) => token === to.toLowerCase());
  if (terms === undefined || address(words, 0) !== PERMIT2_ADDRESS) throw new Refusal('unknown');
  const { known, pay } = terms;
  const units = uint(words, 1);
  const key = keys.allowance(known.id, from);
  const passesZero = pay.method === 'permit2' && pay.approvesThroughZero === true;
  if (passesZero && units !== 0n && state.get(key) !== 0n) throw new Refusal('unknown');
  state.set(key, units);
  return [];
}

function send(core: Core, ledger: Ledger, from: string, token: string, words: readonly string[]): readonly Log[] {
  const terms = [...core.rules.assets.values()].find((each) => each.token === token.toLowerCase());
  if (terms === undefined) throw new Refusal('unknown');
  const asset = terms.known.id;
  const to = address(words, 0);
  const amount = uint(words, 1);
  transfer(ledger, asset, from, to, amount);
  return [{ type: 'transferred', isCoin: false, asset, from, to, amount }];
}

function sendCoin(core: Core, { state }: Ledger, from: string, recipient: string, amount: bigint): Log {
  const to = checksumAddress(recipient.toLowerCase());
  move(state, COIN, from, to, amount);
  return { type: 'transferred', isCoin: true, asset: coinId(core), from, to, amount };
}

function coinId({ rules }: Core): string {
  return [...rules.assets.values()].find(({ pay }) => pay.method === 'native')?.known.id ?? COIN;
}

/** Decodes the item from the arguments of the Collector's payable function: fee account, subject, amount, fee, recipient, deadline. */
function readNativeItem(core: Core, payer: string, words: readonly string[]): Item {
  return {
    network: core.network.chainId,
    collector: COLLECTOR_ADDRESS,
    asset: coinId(core),
    method: 'native',
    feeAccount: address(words, 0),
    // The calldata has the seal in place of the payment's id, so the id is unknown here.
    subject: '',
    seal: words[1] ?? '',
    payer,
    amount: uint(words, 2),
    fee: uint(words, 3),
    recipient: address(words, 4),
    deadlineS: Number(uint(words, 5)),
  };
}

const uint = (words: readonly string[], index: number): bigint => BigInt(`0x${words[index] ?? '0'}`);
const address = (words: readonly string[], index: number): string =>
  checksumAddress(`0x${(words[index] ?? '').slice(24)}`);
