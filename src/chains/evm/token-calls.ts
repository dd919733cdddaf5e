import type { Item } from '../../domain/item.ts';
import type { KnownAsset } from '../network.ts';
import { NATIVE_TOKEN, PERMIT2_ADDRESS } from './collector.ts';
import { ethCall, ethRead } from './eth-call.ts';
import type { AssetTerms } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import type { Lens } from './lens.ts';
import { type Hex, readData, readFlag, readNumber, readQuantity, readWord, toQuantity } from './rpc-values.ts';
import { address, bytes32, functionCall, keccak, uint } from './words.ts';

const balanceOf = functionCall('balanceOf(address)');
const allowance = functionCall('allowance(address,address)');
const transfer = functionCall('transfer(address,uint256)');
const authorizationState = functionCall('authorizationState(address,bytes32)');
const nonceBitmap = functionCall('nonceBitmap(address,uint256)');
const isPaid = functionCall('isPaid(bytes32)');
export const BLACKLISTS = {
  isBlacklisted: functionCall('isBlacklisted(address)'),
  isBlackListed: functionCall('isBlackListed(address)'),
  isFrozen: functionCall('isFrozen(address)'),
  isAccountFrozen: functionCall('isAccountFrozen(address)'),
  isBlocked: functionCall('isBlocked(address)'),
} as const satisfies Record<NonNullable<KnownAsset['blacklist']>, unknown>;

export function balanceCall({ token }: Pick<AssetTerms, 'token'>, account: string, atBlock?: number): RpcCall<bigint> {
  return token === NATIVE_TOKEN
    ? coinBalanceCall(account, atBlock)
    : ethRead({ to: token, data: balanceOf(address(account)) }, readWord, atBlock);
}

export function coinBalanceCall(account: string, atBlock?: number): RpcCall<bigint> {
  const block = atBlock === undefined ? 'latest' : toQuantity(atBlock);
  const call = { method: 'eth_getBalance', params: [account.toLowerCase(), block], read: readQuantity };
  return atBlock === undefined
    ? { ...call, word: { of: account, ask: 'coin', read: readQuantity } }
    : { ...call, minBlock: atBlock };
}

export function nonceCall(account: string, atBlock?: number): RpcCall<number> {
  const block = atBlock === undefined ? 'latest' : toQuantity(atBlock);
  const call = { method: 'eth_getTransactionCount', params: [account.toLowerCase(), block], read: readNumber };
  return atBlock === undefined ? call : { ...call, minBlock: atBlock };
}

export function hasCodeCall(account: string): RpcCall<boolean> {
  return {
    method: 'eth_getCode',
    params: [account.toLowerCase(), 'latest'],
    read: (code) => readData(code) !== '0x',
    word: { of: account, ask: 'code_size', read: (size) => readWord(size) > 0n },
  };
}

/** The keccak-256 hash of the account's code. Undefined if it has no code. */
export function codeHashCall(account: string): RpcCall<string | undefined> {
  return {
    method: 'eth_getCode',
    params: [account.toLowerCase(), 'latest'],
    read: (result) => {
      const code = readData(result);
      return code === '0x' ? undefined : `0x${keccak(code.slice(2)).toString('hex')}`;
    },
  };
}

/** The account's allowance for Permit2. */
export function allowanceCall({ token }: AssetTerms, account: string, atBlock?: number): RpcCall<bigint> {
  return ethRead({ to: token, data: allowance(address(account), address(PERMIT2_ADDRESS)) }, readWord, atBlock);
}

/** True if the token blacklists the account. The call is undefined for a token without such a function. */
export function refusedCall({ known, token }: AssetTerms, account: string): RpcCall<boolean> | undefined {
  if (known.blacklist === undefined) return undefined;
  const data = BLACKLISTS[known.blacklist](address(account));
  // A token that lost its blacklist function in an upgrade reverts or returns nothing. It then blacklists no account.
  return ethCall(
    { to: token, data },
    (returned) => 'data' in returned && returned.data !== '0x' && readFlag(returned.data),
  );
}

/** True if the Collector could transfer the asset to the recipient, by a simulation with an amount of zero. */
export async function canReceive(
  lens: Lens,
  terms: AssetTerms,
  { collector, recipient }: Pick<Item, 'collector' | 'recipient'>,
  timeoutMs?: number,
): Promise<boolean> {
  const refused = refusedCall(terms, collector);
  const [isReceivable, isCollectorRefused] = await Promise.all([
    lens.ask(receivableCall(terms, collector, recipient), timeoutMs),
    refused === undefined ? false : lens.ask(refused, timeoutMs),
  ]);
  return isReceivable && !isCollectorRefused;
}

function receivableCall({ pay, token, known }: AssetTerms, collector: string, recipient: string): RpcCall<boolean> {
  if (pay.method === 'native') return ethCall({ from: collector, to: recipient }, (returned) => 'data' in returned);
  const data = transfer(address(recipient), uint(0));
  // Some tokens return no data on success. A word of zero is a refusal.
  const isYes = (returned: Hex) => returned === '0x' || readWord(returned) !== 0n;
  const call = ethCall({ from: collector, to: token, data }, (returned) => 'data' in returned && isYes(returned.data));
  // The Lens (`lens.ts`) cannot call as the Collector. The sender matters only for a blacklist, which is read separately.
  return known.blacklist === undefined ? call : { ...call, word: { of: token, ask: data, read: isYes } };
}

/** True if the authorization is used in the token, in Permit2 or in the Collector. */
export function usedCall(item: Item, { token }: AssetTerms, commitment: string, atBlock?: number): RpcCall<boolean> {
  if (item.method === 'native') {
    return ethRead({ to: item.collector, data: isPaid(bytes32(commitment)) }, readFlag, atBlock);
  }
  if (item.method !== 'permit2') {
    const data = authorizationState(address(item.payer), bytes32(item.authorization?.nonce ?? commitment));
    // In most tokens the state is 0 (unused) or 1 (used). Some tokens have a further number for cancelled, so every number except
    // 0 counts as used.
    return ethRead({ to: token, data }, (state) => readWord(state) !== 0n, atBlock);
  }
  // Permit2 stores used nonces in a bitmap: the last byte of a nonce is the position of its bit, the rest is the index of its
  // word.
  const nonce = BigInt(commitment);
  const data = nonceBitmap(address(item.payer), uint(nonce >> 8n));
  return ethRead({ to: PERMIT2_ADDRESS, data }, (word) => ((readWord(word) >> (nonce & 255n)) & 1n) === 1n, atBlock);
}
