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
import { COLLECTOR_SALT, CREATE2_DEPLOYER } from './collector.ts';
import { keccak } from './words.ts';

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
  'event Swept(bytes32 indexed commitment, bytes16 paymentId, address token, uint256 amount, uint256 fee, address recipient)',
]);

export const SWEPT_TOPIC = toEventSelector(DEPOSITS_ABI[1]);

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
  const [first] = items;
  if (first === undefined) throw new RangeError('a sweep has items');
  if (items.some((item) => item.token !== first.token || item.feeAccount !== first.feeAccount)) {
    throw new TypeError('the items of a sweep share token and fee account');
  }
  const head = encodeFunctionData({
    abi: DEPOSITS_ABI,
    functionName: 'sweep',
    args: [token, first.token, first.feeAccount, BigInt(allowance)],
  });
  return `${head}${items.map(packItem).join('')}`;
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

/** id 16, recipient 20, amount 16, fee 16 bytes. */
function packItem({ paymentId, recipient, amount, fee }: DepositTerms): string {
  return bare(paymentId) + bare(recipient) + fixed(amount) + fixed(fee);
}

const bare = (hex: Hex) => hex.slice(2).toLowerCase();

function fixed(value: bigint): string {
  const text = value.toString(16);
  if (value < 0n || text.length > 32) throw new RangeError(`${value} does not fit into 16 bytes`);
  return text.padStart(32, '0');
}
