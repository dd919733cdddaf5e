import {
  type Address,
  decodeEventLog,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseAbi,
  toEventSelector,
} from 'viem';
import artifact from '../../../contracts/artifacts/Deposits.json' with { type: 'json' };
import { checksumAddress } from '../../domain/caip.ts';
import type { AuthorizedMethod } from '../../domain/item.ts';
import { COLLECTOR_SALT, CREATE2_DEPLOYER, compactSignature } from './collector.ts';
import { address, bytes32, fixed, keccak, uint } from './words.ts';

/** The calls and answers of the deposit addresses (`contracts/Deposits.sol`). */

export const DEPOSITS_INIT_CODE = artifact.bytecode as Hex;
/** The contract that creates and sweeps deposit addresses, built from this source. */
export const DEPOSITS_ADDRESS: Address = getContractAddress({
  opcode: 'CREATE2',
  from: CREATE2_DEPLOYER,
  salt: COLLECTOR_SALT,
  bytecode: DEPOSITS_INIT_CODE,
});

/** The future of a deposit address. Other terms have another address. */
export interface DepositTerms {
  /** The 16 bytes of the payment's id. */
  readonly paymentId: Hex;
  /** The token that the payment asks for. */
  readonly token: Address;
  readonly feeAccount: Address;
  readonly recipient: Address;
  /** The asked amount, and the fee of it. Whatever arrives is divided in the same proportion. */
  readonly amount: bigint;
  readonly fee: bigint;
}

/** Deposit addresses that one transaction sweeps. They share the asked token and the fee account. */
export interface Sweep {
  /** The token to sweep: the asked one, or another one that arrived by mistake. */
  readonly token: Address;
  readonly items: readonly DepositTerms[];
  /** The gas allowance for the payouts of each item. */
  readonly allowance?: number;
}

/** A payer's authorization (EIP-3009), whose payee is a deposit address. Its amount is the asked one. */
export interface DepositAuthorization {
  readonly payer: Address;
  /** Unix seconds. */
  readonly validAfter: number;
  readonly validBefore: number;
  /** 32 bytes. */
  readonly nonce: Hex;
}

/** Deposit addresses that one transaction fills by authorizations, and sweeps. They share token and fee account. */
export interface AuthorizedSweep {
  readonly kind: AuthorizedMethod;
  readonly items: readonly (DepositTerms & DepositAuthorization & { readonly signature: Hex })[];
  /** The gas allowance of each item. */
  readonly allowance?: number;
}

export interface SweptLog {
  /** The hash of the terms of the address. */
  readonly commitment: Hex;
  readonly paymentId: Hex;
  readonly token: Address;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: Address;
}

const DEPOSITS_ABI = parseAbi([
  'function sweep(address token, address askedToken, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function sweepByKey(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function sweepByWallet(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'event Swept(bytes32 indexed commitment, bytes16 paymentId, address token, uint256 amount, uint256 fee, address recipient)',
]);

export const SWEPT_TOPIC = toEventSelector(DEPOSITS_ABI[3]);

/** The hash of the terms, which is the salt of the address. */
export function depositCommitment(terms: DepositTerms): Hex {
  return `0x${keccak(bare(terms.token) + bare(terms.feeAccount) + packItem(terms)).toString('hex')}`;
}

/** The deposit address of these terms, in canonical spelling. It is the same on every network. */
export function depositAddress(terms: DepositTerms, deposits: Address = DEPOSITS_ADDRESS): Address {
  // A minimal proxy (EIP-1167) of the contract.
  const proxy = `3d602d80600a3d3981f3363d3d373d3d3d363d73${bare(deposits)}5af43d82803e903d91602b57fd5bf3`;
  const hash = keccak(`ff${bare(deposits)}${bare(depositCommitment(terms))}${keccak(proxy).toString('hex')}`);
  return checksumAddress(`0x${hash.toString('hex', 12)}`) as Address;
}

/** The calldata of a transaction that sweeps the deposit addresses, each independently. */
export function encodeSweep({ token, items, allowance = SWEEP_GAS }: Sweep): Hex {
  const { token: askedToken, feeAccount } = sharedTerms(items);
  const args = [token, askedToken, feeAccount, BigInt(allowance)] as const;
  const head = encodeFunctionData({ abi: DEPOSITS_ABI, functionName: 'sweep', args });
  return `${head}${items.map(packItem).join('')}`;
}

/** The hash of an authorization with the terms of its address, and the chain. */
export function authorizationCommitment(
  input: DepositAuthorization & { readonly chainId: number; readonly deposits: Address; readonly terms: DepositTerms },
): Hex {
  const { chainId, deposits, terms, payer, nonce, validAfter, validBefore } = input;
  const words = [
    uint(chainId),
    address(deposits),
    bare(depositCommitment(terms)),
    address(payer),
    bytes32(nonce),
    uint(validAfter),
    uint(validBefore),
  ];
  return `0x${keccak(words.join('')).toString('hex')}`;
}

/** The calldata of a transaction that presents the authorizations and sweeps, each item independently. */
export function encodeAuthorizedSweep({ kind, items, allowance = AUTHORIZED_GAS[kind] }: AuthorizedSweep): Hex {
  const { token, feeAccount } = sharedTerms(items);
  const functionName = kind === 'deposit-vrs' ? 'sweepByKey' : 'sweepByWallet';
  const head = encodeFunctionData({ abi: DEPOSITS_ABI, functionName, args: [token, feeAccount, BigInt(allowance)] });
  const packed = items.map((item) => {
    const signature = kind === 'deposit-vrs' ? compactSignature(item.signature) : bare(item.signature);
    const { payer, validAfter, validBefore, nonce } = item;
    const times = fixed(validAfter, 5) + fixed(validBefore, 5);
    return packItem(item) + bare(payer) + times + bare(nonce) + fixed(signature.length / 2, 2) + signature;
  });
  return `${head}${packed.join('')}`;
}

function sharedTerms(items: readonly DepositTerms[]): Pick<DepositTerms, 'token' | 'feeAccount'> {
  const [first] = items;
  if (first === undefined) throw new RangeError('a sweep has items');
  if (items.some((item) => item.token !== first.token || item.feeAccount !== first.feeAccount)) {
    throw new TypeError('the items of a sweep share token and fee account');
  }
  return first;
}

/** Decodes a log of the contract. The caller must check that the contract emitted it. */
export function decodeSweptLog({ topics, data }: { topics: readonly Hex[]; data: Hex }): SweptLog | undefined {
  if (topics[0] !== SWEPT_TOPIC) return undefined;
  return decodeEventLog({ abi: DEPOSITS_ABI, eventName: 'Swept', topics: topics as [Hex, ...Hex[]], data }).args;
}

/** The gas allowance for two payouts to accounts that are new to the token, behind a proxy such as USDC's. */
const SWEEP_GAS = 150_000;
/** The gas that the contract wants for an item besides its payouts: a balance, the creation of the proxy, the rest. */
const ITEM_OVERHEAD_GAS = 130_000;
const BATCH_GAS = 60_000;
/** No transaction may ask for more (EIP-7825). */
const TRANSACTION_GAS_CAP = 2 ** 24;

/** Enough for every item to use its whole allowance. Unused gas is not paid. */
export function sweepGasLimit(itemCount: number, allowance = SWEEP_GAS): number {
  return BATCH_GAS + itemCount * (allowance + Math.ceil(allowance / 63) + ITEM_OVERHEAD_GAS);
}

/** The most items that fit into one transaction. */
export function maxItemsPerSweep(allowance = SWEEP_GAS): number {
  return Math.floor((TRANSACTION_GAS_CAP - sweepGasLimit(0)) / (sweepGasLimit(1, allowance) - sweepGasLimit(0)));
}

/**
 * The default gas allowance of an item with an authorization: the token's own work, the creation of the proxy and two payouts
 * to accounts that are new to the token. The need of a wallet contract's signature check is unknown.
 */
const AUTHORIZED_GAS: Readonly<Record<AuthorizedMethod, number>> = { 'deposit-vrs': 350_000, 'deposit-bytes': 600_000 };
/** The allowance of an item whose payer is a plain account. */
export const AUTHORIZED_KEY_GAS = AUTHORIZED_GAS['deposit-vrs'];
/** The gas that the contract wants for such an item besides its allowance, with its calldata in memory. */
const AUTHORIZED_OVERHEAD_GAS = 25_000;

/** Enough for every item to use its whole allowance. */
export function authorizedGasLimit(
  kind: AuthorizedMethod,
  itemCount: number,
  allowance = AUTHORIZED_GAS[kind],
): number {
  return BATCH_GAS + itemCount * (allowance + Math.ceil(allowance / 63) + AUTHORIZED_OVERHEAD_GAS);
}

export function maxAuthorizedItems(): number {
  const [none, one] = [0, 1].map((count) => authorizedGasLimit('deposit-vrs', count)) as [number, number];
  return Math.floor((TRANSACTION_GAS_CAP - none) / (one - none));
}

/** id 16, recipient 20, amount 16, fee 16 bytes. */
function packItem({ paymentId, recipient, amount, fee }: DepositTerms): string {
  return bare(paymentId) + bare(recipient) + fixed(amount, 16) + fixed(fee, 16);
}

const bare = (hex: Hex) => hex.slice(2).toLowerCase();
