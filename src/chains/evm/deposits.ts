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
import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { AuthorizedMethod } from '../../domain/item.ts';
import { COLLECTOR_SALT, CREATE2_DEPLOYER, compactSignature } from './collector.ts';
import { address, addressIn, bytes32, fixed, indexedWord, keccak, uint, uintIn, wordsIn } from './words.ts';

/**
 * This file encodes the calls and decodes the answers of the deposit addresses (`contracts/Deposits.sol`). As with the Collector,
 * a subject of 16 bytes belongs to the first releases, and a subject of 32 bytes to all later releases.
 */

export const DEPOSITS_INIT_CODE = artifact.bytecode as Hex;
/** The address of the contract that creates and sweeps deposit addresses, in the release built from this source. */
export const DEPOSITS_ADDRESS: Address = getContractAddress({
  opcode: 'CREATE2',
  from: CREATE2_DEPLOYER,
  salt: COLLECTOR_SALT,
  bytecode: DEPOSITS_INIT_CODE,
});

/** The terms that a deposit address is derived from. Other terms give another address. */
export interface DepositTerms {
  /** The subject: 32 sealed bytes, or the 16 bytes of an id for the first releases. */
  readonly subject: Hex;
  /** The token that the payment asks for. */
  readonly token: Address;
  readonly feeAccount: Address;
  readonly recipient: Address;
  /** The asked amount. `fee` is the fee for it. Other amounts are divided in the same proportion (`sweptFee`). */
  readonly amount: bigint;
  readonly fee: bigint;
}

/** Deposit addresses that one transaction sweeps. All have the same asked token and fee account. */
export interface Sweep {
  /** The token to sweep: the asked token, or another token that arrived by mistake. */
  readonly token: Address;
  readonly items: readonly DepositTerms[];
  /** The gas allowance for the payouts of each item. */
  readonly allowance?: number;
}

/** A payer's authorization (EIP-3009) of a transfer to a deposit address. The amount is the asked amount. */
export interface DepositAuthorization {
  readonly payer: Address;
  /** The start of the authorization in Unix seconds. `validBefore` is its end. */
  readonly validAfter: number;
  readonly validBefore: number;
  /** The nonce of 32 bytes. */
  readonly nonce: Hex;
}

/** Deposit addresses that one transaction fills by authorizations and sweeps. All have the same token and fee account. */
export interface AuthorizedSweep {
  readonly kind: AuthorizedMethod;
  readonly items: readonly (DepositTerms & DepositAuthorization & { readonly signature: Hex })[];
  /** The gas allowance of each item. */
  readonly allowance?: number;
}

export interface SweptLog {
  /** The hash of the terms of the address. */
  readonly commitment: Hex;
  readonly subject: Hex;
  readonly token: Address;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: Address;
  /** The terms of the deposit address that only events of later releases show. Missing in events of the first releases. */
  readonly terms?: {
    readonly askedToken: Address;
    readonly feeAccount: Address;
    readonly asked: bigint;
    readonly askedFee: bigint;
  };
}

const DEPOSITS_ABI = parseAbi([
  'function sweep(address token, address askedToken, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function sweepByKey(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function sweepByWallet(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'event Swept(bytes32 indexed commitment, address askedToken, address feeAccount, bytes32 subject, address recipient, uint256 asked, uint256 askedFee, address token, uint256 amount, uint256 fee)',
]);

const FIRST_SWEPT_ABI = parseAbi([
  'event Swept(bytes32 indexed commitment, bytes16 subject, address token, uint256 amount, uint256 fee, address recipient)',
]);

const SWEPT_TOPIC = toEventSelector(DEPOSITS_ABI[3]);
const FIRST_SWEPT_TOPIC = toEventSelector(FIRST_SWEPT_ABI[0]);
export const DEPOSIT_TOPICS: readonly Hex[] = [SWEPT_TOPIC, FIRST_SWEPT_TOPIC];

/** True if the subject belongs to a release with sealed subjects. */
const hasSeal = ({ subject }: Pick<DepositTerms, 'subject'>) => subject.length === 66;

/** The hash of the terms, which is the CREATE2 salt of the address. The first releases hash the terms without padding. */
export function depositCommitment(terms: DepositTerms): Hex {
  const { token, feeAccount, subject, recipient, amount, fee } = terms;
  const text = hasSeal(terms)
    ? address(token) + address(feeAccount) + bytes32(subject) + address(recipient) + uint(amount) + uint(fee)
    : bare(token) + bare(feeAccount) + packItem(terms);
  return `0x${keccak(text).toString('hex')}`;
}

/**
 * The terms that the seal of a deposit address authenticates: all terms except the subject itself. They do not include the chain,
 * because the address does not depend on it.
 */
export function sealedDepositTermsOf({
  token,
  feeAccount,
  recipient,
  amount,
  fee,
}: Omit<DepositTerms, 'subject'>): string {
  const accounts = [token, feeAccount, recipient].map((each) => each.toLowerCase());
  return JSON.stringify(['deposits', ...accounts, `${amount}`, `${fee}`]);
}

/** The creation code of a minimal proxy, before and after the contract's address: ERC-7511, or EIP-1167 in the first releases. */
const PROXY = ['602c8060095f395ff3365f5f375f5f365f73', '5af43d5f5f3e5f3d91602a57fd5bf3'] as const;
const FIRST_PROXY = ['3d602d80600a3d3981f3363d3d373d3d3d363d73', '5af43d82803e903d91602b57fd5bf3'] as const;

/** The deposit address of these terms, in canonical spelling. It is the same on every network. */
export function depositAddress(terms: DepositTerms, deposits: Address = DEPOSITS_ADDRESS): Address {
  const [head, tail] = hasSeal(terms) ? PROXY : FIRST_PROXY;
  const proxy = `${head}${bare(deposits)}${tail}`;
  const hash = keccak(`ff${bare(deposits)}${bare(depositCommitment(terms))}${keccak(proxy).toString('hex')}`);
  return checksumAddress(`0x${hash.toString('hex', 12)}`) as Address;
}

/** The calldata of a transaction that sweeps the deposit addresses. The failure of an address does not affect the others. */
export function encodeSweep({ token, items, allowance }: Sweep): Hex {
  const { token: askedToken, feeAccount, ...first } = sharedTerms(items);
  const args = [token, askedToken, feeAccount, BigInt(allowance ?? SWEEP_GAS[releaseOf(first)].allowance)] as const;
  const head = encodeFunctionData({ abi: DEPOSITS_ABI, functionName: 'sweep', args });
  return `${head}${items.map(packItem).join('')}`;
}

/**
 * The commitment of an item that is paid by an authorization: the hash of the authorization, the terms of the deposit address,
 * and the chain.
 */
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

/**
 * The calldata of a transaction that presents the authorizations to the token and sweeps their deposit addresses. The failure of
 * an item does not affect the others.
 */
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

function sharedTerms(items: readonly DepositTerms[]): Pick<DepositTerms, 'token' | 'feeAccount' | 'subject'> {
  const [first] = items;
  if (first === undefined) throw new RangeError('a sweep has items');
  if (items.some((item) => item.token !== first.token || item.feeAccount !== first.feeAccount)) {
    throw new TypeError('the items of a sweep share token and fee account');
  }
  return first;
}

/** Decodes a log of the contract that sweeps. The caller must check that this contract emitted it. */
export function decodeSweptLog({ topics, data }: { topics: readonly Hex[]; data: Hex }): SweptLog | undefined {
  const content = { eventName: 'Swept', topics: topics as [Hex, ...Hex[]], data } as const;
  if (topics[0] === FIRST_SWEPT_TOPIC) return decodeEventLog({ abi: FIRST_SWEPT_ABI, ...content }).args;
  if (topics[0] !== SWEPT_TOPIC) return undefined;
  const [askedToken = '', feeAccount = '', subject = '', recipient = '', asked = '', askedFee = '', ...swept] = wordsIn(
    data,
    9,
  );
  const [token = '', amount = '', fee = ''] = swept;
  return {
    commitment: indexedWord(topics),
    subject: `0x${subject}`,
    token: addressIn(token),
    amount: uintIn(amount),
    fee: uintIn(fee),
    recipient: addressIn(recipient),
    terms: {
      askedToken: addressIn(askedToken),
      feeAccount: addressIn(feeAccount),
      asked: uintIn(asked),
      askedFee: uintIn(askedFee),
    },
  };
}

/**
 * The gas of a sweep: a balance check, the creation of the proxy, and two payouts to accounts that are new to the token, behind a
 * proxy such as USDC's. In the first releases, only the payouts count against the allowance.
 */
const SWEEP_GAS = {
  first: { allowance: 150_000, overhead: 130_000 },
  sealed: { allowance: 260_000, overhead: 12_000 },
} as const;
const releaseOf = (terms: Pick<DepositTerms, 'subject'>) => (hasSeal(terms) ? 'sealed' : 'first');
const BATCH_GAS = 60_000;
/** The highest gas limit of a transaction (EIP-7825). */
const TRANSACTION_GAS_CAP = 2 ** 24;

/** The gas limit of a sweep. It is enough for every item to use its whole allowance. Unused gas is not paid. */
export function sweepGasLimit({ items, allowance }: Pick<Sweep, 'items' | 'allowance'>): number {
  const [first] = items;
  return first === undefined ? BATCH_GAS : BATCH_GAS + items.length * gasOfSweep(releaseOf(first), allowance);
}

function gasOfSweep(release: keyof typeof SWEEP_GAS, allowance: number = SWEEP_GAS[release].allowance): number {
  return allowance + Math.ceil(allowance / 63) + SWEEP_GAS[release].overhead;
}

/** The number of items that fit into one transaction, for the release whose items need the most gas. */
export function maxItemsPerSweep(): number {
  return Math.floor((TRANSACTION_GAS_CAP - BATCH_GAS) / Math.max(gasOfSweep('first'), gasOfSweep('sealed')));
}

/**
 * The default gas allowance of an item with an authorization: the token's own work, the creation of the proxy and two payouts to
 * accounts that are new to the token. The need of a wallet contract's signature check is unknown.
 */
const AUTHORIZED_GAS: Readonly<Record<AuthorizedMethod, number>> = { 'deposit-vrs': 350_000, 'deposit-bytes': 600_000 };
/** The allowance of an item whose payer is a plain account. */
export const AUTHORIZED_KEY_GAS = AUTHORIZED_GAS['deposit-vrs'];
/** The gas that the contract requires for an item with an authorization besides the allowance, for its calldata in memory. */
const AUTHORIZED_OVERHEAD_GAS = 25_000;

/** The gas limit of a sweep with authorizations. It is enough for every item to use its whole allowance. */
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

/** The packed form of the terms. Bytes: subject 32 or 16, recipient 20, amount 16, fee 16. */
function packItem({ subject, recipient, amount, fee }: DepositTerms): string {
  return bare(subject) + bare(recipient) + fixed(amount, 16) + fixed(fee, 16);
}

const bare = (hex: Hex) => hex.slice(2).toLowerCase();
