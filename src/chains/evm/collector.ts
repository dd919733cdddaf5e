import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  type Address,
  decodeAbiParameters,
  decodeEventLog,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hexToString,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from 'viem';
import artifact from '../../../contracts/artifacts/Collector.json' with { type: 'json' };
import type { RefusalReason } from '../refusal-reason.ts';
import { addressIn, fixed, indexedWord, uintIn, wordsIn } from './words.ts';

/**
 * This file encodes the calls and decodes the answers of the Collector (`contracts/Collector.sol`). In its first release, the
 * subject of an item is the 16 bytes of an id. In all later releases it is 32 sealed bytes, and the commitment also covers the
 * nonce space. The length of a subject therefore identifies the release.
 */

/** The CREATE2 deployer, at the same address on every network. Addresses of contracts that it deploys follow from their code. */
export const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
export const PERMIT2_ADDRESS: Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

export const COLLECTOR_INIT_CODE = artifact.bytecode as Hex;
export const COLLECTOR_SALT: Hex = `0x${'00'.repeat(32)}`;
/** The address of the release built from this source. An item names its own release, which may be an older one. */
export const COLLECTOR_ADDRESS: Address = getContractAddress({
  opcode: 'CREATE2',
  from: CREATE2_DEPLOYER,
  salt: COLLECTOR_SALT,
  bytecode: COLLECTOR_INIT_CODE,
});

/** The address that stands for the native coin where the contract expects a token. */
export const NATIVE_TOKEN: Address = '0x0000000000000000000000000000000000000000';

/** The contract's entry point for each payment method. */
const ENTRIES = {
  'eip3009-vrs': 'collectByKey',
  'eip3009-bytes': 'collectByWallet',
  permit2: 'collectByPermit2',
} as const;
export type ItemKind = keyof typeof ENTRIES;

/** The instruction of a payment, without its token, chain and fee account. */
export interface CollectorItem {
  /** The subject: 32 sealed bytes, or the 16 bytes of an id for the first release. */
  readonly subject: Hex;
  readonly payer: Address;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: Address;
  /** The deadline in Unix seconds. */
  readonly deadline: number;
}

export interface SignedItem extends CollectorItem {
  /**
   * The signature of 65 bytes, or of 64 bytes (EIP-2098). Except for `eip3009-vrs`, also any form that the payer's wallet
   * contract accepts.
   */
  readonly signature: Hex;
}

/** The contract that records the used nonce of an item: the Collector itself for coin, the token, or Permit2. */
export const NONCE_SPACES = { coin: 0, token: 1, permit2: 2 } as const;
export type NonceSpace = keyof typeof NONCE_SPACES;

export interface Commitment extends CollectorItem {
  readonly nonceSpace: NonceSpace;
  readonly chainId: number;
  readonly token: Address;
  readonly feeAccount: Address;
  readonly collector: Address;
}

export interface Batch {
  readonly kind: ItemKind;
  readonly token: Address;
  readonly feeAccount: Address;
  readonly items: readonly SignedItem[];
  /** The gas allowance of each item. */
  readonly allowance?: number;
}

export type CollectorLog =
  | {
      readonly type: 'collected';
      readonly commitment: Hex;
      readonly subject: Hex;
      readonly payer: Address;
      readonly token: Address;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: Address;
      /** The committed terms that only events of later releases show. Missing in events of the first release. */
      readonly terms?: { readonly nonceSpace: bigint; readonly feeAccount: Address; readonly deadline: bigint };
    }
  | { readonly type: 'refused'; readonly commitment: Hex; readonly reason: Hex };

export const COLLECTOR_ABI = parseAbi([
  'function collectByKey(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function collectByWallet(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function collectByPermit2(address token, address feeAccount, uint256 itemGas) returns (bytes refusals)',
  'function pay(address feeAccount, bytes32 subject, uint256 amount, uint256 fee, address recipient, uint256 deadline) payable',
  'function isPaid(bytes32 commitment) view returns (bool)',
  'event Collected(bytes32 indexed commitment, uint256 nonceSpace, address token, address feeAccount, bytes32 subject, address payer, uint256 amount, uint256 fee, address recipient, uint256 deadline)',
  'event Refused(bytes32 indexed commitment, bytes reason)',
]);

/** The first release's function and event that differ from the later releases. */
const FIRST_COLLECTOR_ABI = parseAbi([
  'function pay(address feeAccount, bytes16 subject, uint256 amount, uint256 fee, address recipient, uint256 deadline) payable',
  'event Collected(bytes32 indexed commitment, bytes16 subject, address payer, address token, uint256 amount, uint256 fee, address recipient)',
]);

const COLLECTED_TOPIC = toEventSelector(COLLECTOR_ABI[5]);
const FIRST_COLLECTED_TOPIC = toEventSelector(FIRST_COLLECTOR_ABI[1]);
const REFUSED_TOPIC = toEventSelector(COLLECTOR_ABI[6]);
export const COLLECTOR_TOPICS: readonly Hex[] = [COLLECTED_TOPIC, FIRST_COLLECTED_TOPIC, REFUSED_TOPIC];

/** True if the subject belongs to a release with sealed subjects. */
const hasSeal = (subject: Hex) => subject.length === 66;

/** The nonce that the payer signs: `keccak256(abi.encode(…))` of the item. Words are packed by hand for speed. */
export function commitmentOf(input: Commitment): Hex {
  const { subject } = input;
  const words =
    word(input.chainId) +
    addressWord(input.collector) +
    (hasSeal(subject) ? word(NONCE_SPACES[input.nonceSpace]) : '') +
    addressWord(input.token) +
    addressWord(input.feeAccount) +
    bare(subject).padEnd(64, '0') +
    addressWord(input.payer) +
    word(input.amount) +
    word(input.fee) +
    addressWord(input.recipient) +
    word(input.deadline);
  return `0x${Buffer.from(keccak_256(Buffer.from(words, 'hex'))).toString('hex')}`;
}

/** The terms that the seal of an item authenticates: everything that the commitment covers except the subject itself. */
export function sealedTermsOf(input: Omit<Commitment, 'subject'>): string {
  const { chainId, collector, nonceSpace, token, feeAccount, payer, amount, fee, recipient, deadline } = input;
  const accounts = [collector, token, feeAccount, payer, recipient].map((each) => each.toLowerCase());
  return JSON.stringify(['collector', chainId, nonceSpace, ...accounts, `${amount}`, `${fee}`, deadline]);
}

/** The calldata of a transaction that executes the items. The failure of an item does not affect the others. */
export function encodeBatch({ kind, token, feeAccount, items, allowance = ITEM_GAS[kind] }: Batch): Hex {
  const head = encodeFunctionData({
    abi: COLLECTOR_ABI,
    functionName: ENTRIES[kind],
    args: [token, feeAccount, BigInt(allowance)],
  });
  return `${head}${items.map((item) => packItem(kind, item)).join('')}`;
}

/** The calldata of the payer's transaction that sends exactly `amount` of native coin. */
export function encodeNativePayment(input: Omit<CollectorItem, 'payer'> & { readonly feeAccount: Address }): Hex {
  const { feeAccount, subject, amount, fee, recipient, deadline } = input;
  return encodeFunctionData({
    abi: hasSeal(subject) ? COLLECTOR_ABI : FIRST_COLLECTOR_ABI,
    functionName: 'pay',
    args: [feeAccount, subject, amount, fee, recipient, BigInt(deadline)],
  });
}

/** Decodes a log of the Collector. The caller must check that the Collector emitted it. */
export function decodeCollectorLog(log: {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}): CollectorLog | undefined {
  const [topic] = log.topics;
  const content = { topics: log.topics as [Hex, ...Hex[]], data: log.data };
  if (topic === FIRST_COLLECTED_TOPIC) {
    return {
      type: 'collected',
      ...decodeEventLog({ abi: FIRST_COLLECTOR_ABI, eventName: 'Collected', ...content }).args,
    };
  }
  if (topic === REFUSED_TOPIC) {
    return { type: 'refused', ...decodeEventLog({ abi: COLLECTOR_ABI, eventName: 'Refused', ...content }).args };
  }
  if (topic !== COLLECTED_TOPIC) return undefined;
  const [
    space = '',
    token = '',
    feeAccount = '',
    subject = '',
    payer = '',
    amount = '',
    fee = '',
    recipient = '',
    end = '',
  ] = wordsIn(log.data, 9);
  return {
    type: 'collected',
    commitment: indexedWord(log.topics),
    subject: `0x${subject}`,
    payer: addressIn(payer),
    token: addressIn(token),
    amount: uintIn(amount),
    fee: uintIn(fee),
    recipient: addressIn(recipient),
    terms: { nonceSpace: uintIn(space), feeAccount: addressIn(feeAccount), deadline: uintIn(end) },
  };
}

/** The outcome of an item of a batch. If it comes from `eth_call`, it is the outcome if the batch were sent now. */
export type ItemOutcome = { readonly isCollected: true } | { readonly isCollected: false; readonly reason: Hex };

/** Decodes the return data of a batch, which lists the refused items with their reasons. All other items were collected. */
export function decodeBatchOutcome(returnData: Hex, itemCount: number): ItemOutcome[] {
  const [refusals] = decodeAbiParameters([{ type: 'bytes' }], returnData);
  const outcomes: ItemOutcome[] = Array.from({ length: itemCount }, () => ({ isCollected: true }));
  const text = bare(refusals);
  for (let at = 0; at < text.length; ) {
    const index = Number.parseInt(text.slice(at, at + 4), 16);
    const end = at + 8 + 2 * Number.parseInt(text.slice(at + 4, at + 8), 16);
    if (!(index < itemCount && end <= text.length)) throw new RangeError('Not the answer to a batch of this size');
    outcomes[index] = { isCollected: false, reason: `0x${text.slice(at + 8, end)}` };
    at = end;
  }
  return outcomes;
}

/** The reasons of refusals, by the messages of Circle's tokens and of Tether's newer tokens. */
const REASON_OF_MESSAGE: ReadonlyMap<string, RefusalReason> = new Map([
  ['FiatTokenV2: authorization is used or canceled', 'used'],
  ['FiatTokenV2: authorization is expired', 'late'],
  ['FiatTokenV2: invalid signature', 'wrong_signature'],
  ['ECRecover: invalid signature', 'wrong_signature'],
  ["ECRecover: invalid signature 's' value", 'wrong_signature'],
  ["ECRecover: invalid signature 'v' value", 'wrong_signature'],
  ['ERC20: transfer amount exceeds balance', 'short_balance'],
  ['ERC20: transfer amount exceeds allowance', 'short_allowance'],
  ['Blacklistable: account is blacklisted', 'payer_blacklisted'],
  ['Pausable: paused', 'paused'],
  ['TetherToken: from is blocked', 'payer_blacklisted'],
  ['Blocked: transfers are blocked for user', 'payer_blacklisted'],
]);

/**
 * The reasons of refusals, by the errors of the Collector, deposit addresses, Permit2, and tokens of OpenZeppelin's contracts, of
 * Paxos and of Agora.
 */
const REASON_OF_ERROR: ReadonlyMap<string, RefusalReason> = new Map(
  (
    [
      ['OutOfGas()', 'out_of_gas'],
      ['Late()', 'late'],
      ['AlreadyPaid()', 'used'],
      ['ShortArrival()', 'short_arrival'],
      ['WrongPayout()', 'short_arrival'],
      ['MalformedItem()', 'wrong_signature'],
      ['InvalidNonce()', 'used'],
      ['SignatureExpired(uint256)', 'late'],
      ['InvalidSignature()', 'wrong_signature'],
      ['InvalidSigner()', 'wrong_signature'],
      ['InvalidSignatureLength()', 'wrong_signature'],
      ['InvalidContractSignature()', 'wrong_signature'],
      ['ERC3009UsedAuthorization(address,bytes32)', 'used'],
      ['ERC3009InvalidAuthorizationTime(uint256,uint256)', 'late'],
      ['ERC3009InvalidSignature()', 'wrong_signature'],
      ['ERC20InsufficientBalance(address,uint256,uint256)', 'short_balance'],
      ['ERC20InsufficientAllowance(address,uint256,uint256)', 'short_allowance'],
      ['EnforcedPause()', 'paused'],
      ['AuthorizationExpired()', 'late'],
      ['InsufficientFunds()', 'short_balance'],
      ['InsufficientAllowance()', 'short_allowance'],
      ['AddressFrozen()', 'payer_blacklisted'],
      ['ContractPaused()', 'paused'],
      ['UsedOrCanceledAuthorization()', 'used'],
      ['ExpiredAuthorization()', 'late'],
      ['AccountIsFrozen(address)', 'payer_blacklisted'],
      ['NothingThere()', 'short_balance'],
      ['TransferPaused()', 'paused'],
      ['SignatureVerificationPaused()', 'paused'],
    ] as const
  ).map(([error, reason]) => [toFunctionSelector(error), reason]),
);

const PAYOUT_FAILED = toFunctionSelector('PayoutFailed(bytes)');
const PANIC = toFunctionSelector('Panic(uint256)');
const ERROR_WITH_MESSAGE = toFunctionSelector('Error(string)');

/** The reason of a refusal, from its revert data. It is a hint for people and for the next attempt, never a proof. */
export function reasonOf(reason: Hex): RefusalReason {
  const selector = reason.slice(0, 10);
  if (selector === ERROR_WITH_MESSAGE) return REASON_OF_MESSAGE.get(hexToString(dynamicArgument(reason))) ?? 'unknown';
  if (selector === PAYOUT_FAILED) return reasonOfPayout(dynamicArgument(reason));
  return REASON_OF_ERROR.get(selector) ?? 'unknown';
}

/**
 * The reason of a failed payout. The payer's money has arrived by then, so an error about the sender concerns the Collector or
 * the recipient.
 */
function reasonOfPayout(reason: Hex): RefusalReason {
  const reasonCode = reasonOf(reason);
  if (reasonCode === 'payer_blacklisted') return 'recipient_blacklisted';
  // The Collector pays out the amount that arrived. If its balance is too low for that, the token has kept a part. Some tokens
  // report this only by an underflow.
  if (reasonCode === 'short_balance' || reason.startsWith(PANIC)) return 'short_arrival';
  return reasonCode === 'paused' || reasonCode === 'out_of_gas' ? reasonCode : 'unknown';
}

/** The only argument of an error, a string or bytes. The Collector may have truncated it. */
function dynamicArgument(reason: Hex): Hex {
  const length = Number.parseInt(reason.slice(74, 138), 16) || 0;
  return `0x${reason.slice(138, 138 + 2 * length)}`;
}

/**
 * The default gas allowance of an item. A payment by a plain account needs 95,000 gas if the recipient is new to the token, and
 * about 10,000 more behind a proxy such as USDC's. The need of a wallet contract's signature check is unknown.
 */
const ITEM_GAS: Readonly<Record<ItemKind, number>> = {
  'eip3009-vrs': 150_000,
  'eip3009-bytes': 400_000,
  permit2: 400_000,
};

/** The highest gas limit of a transaction (EIP-7825). */
const TRANSACTION_GAS_CAP = 2 ** 24;
/** Gas for the transaction itself, the first access to the token, and the payout of fees to an account that is new to the token. */
const BATCH_GAS = 120_000;
/** Gas that an item costs the batch besides its allowance: decoding, calldata, and at worst the refusal event. */
const ITEM_OVERHEAD_GAS = 12_000;

/**
 * The gas limit of a batch. It is enough for every item to use its whole allowance, so that no batch runs out of gas. Unused gas
 * is not paid.
 */
export function batchGasLimit(
  kind: ItemKind,
  itemCount: number,
  options: { readonly allowance?: number } = {},
): number {
  return BATCH_GAS + itemCount * gasOfItem(options.allowance ?? ITEM_GAS[kind]);
}

/** The most items that fit into one transaction. */
export function maxItemsPerBatch(kind: ItemKind, options: { readonly allowance?: number } = {}): number {
  return Math.floor((TRANSACTION_GAS_CAP - BATCH_GAS) / gasOfItem(options.allowance ?? ITEM_GAS[kind]));
}

/**
 * The gas of an item in the limit of its batch. A call gets at most 63/64 of the remaining gas (EIP-150), so an item needs a 63rd
 * of its allowance on top.
 */
function gasOfItem(allowance: number): number {
  return allowance + Math.ceil(allowance / 63) + ITEM_OVERHEAD_GAS;
}

/**
 * The packed form of an item. Bytes: subject 32 or 16, payer 20, recipient 20, amount 16, fee 16, deadline 5, signature length 2,
 * signature.
 */
function packItem(kind: ItemKind, item: SignedItem): string {
  const signature = kind === 'eip3009-vrs' ? compactSignature(item.signature) : bare(item.signature);
  return (
    bare(item.subject) +
    bare(item.payer) +
    bare(item.recipient) +
    fixed(item.amount, 16) +
    fixed(item.fee, 16) +
    fixed(item.deadline, 5) +
    fixed(signature.length / 2, 2) +
    signature
  );
}

/** The 64-byte form of EIP-2098: the parity is in the highest bit of `s`, which is otherwise never set. */
export function compactSignature(signature: Hex): string {
  const text = bare(signature);
  if (text.length === 128) return text;
  if (text.length !== 130) throw new RangeError('A signature by a key has 64 or 65 bytes');
  const v = Number.parseInt(text.slice(128), 16);
  const isOdd = v === 1 || v === 28;
  if (!isOdd) return text.slice(0, 128);
  const head = (Number.parseInt(text.slice(64, 66), 16) | 0x80).toString(16).padStart(2, '0');
  return text.slice(0, 64) + head + text.slice(66, 128);
}

const bare = (hex: Hex) => hex.slice(2);
const word = (value: bigint | number) => fixed(value, 32);
const addressWord = (address: Address) => bare(address).padStart(64, '0');
