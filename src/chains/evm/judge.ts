import { type Item, isAuthorized, type SignedItem } from '../../domain/item.ts';
import { ChainUnavailableError, SenderShortError, unlessUnavailable } from '../chain-errors.ts';
import type { Verdict } from '../payer-side.ts';
import type { ItemOutcome } from '../sender.ts';
import { simulate } from './batches.ts';
import type { Endpoint } from './endpoint.ts';
import { ethCall, unlessFaulty } from './eth-call.ts';
import { type AssetTerms, askingOnly, type EvmContext } from './evm-context.ts';
import { suggestFees } from './fees.ts';
import { gatherAnswers } from './gather-answers.ts';
import { depositAddressOf } from './item-terms.ts';
import type { RpcError } from './json-rpc.ts';
import { isContractSignature, readKeySignature, recoverAddress } from './key-signature.ts';
import { offerOf } from './offer.ts';
import { allowanceCall, balanceCall, canReceive, hasCodeCall, refusedCall, usedCall } from './token-calls.ts';
import { digestOf } from './typed-data.ts';
import { functionCall, uint } from './words.ts';

/**
 * The outcome if the item were executed now. The signature of the account's key is checked locally, and the payer's state is then
 * read in one round trip. If the account has code, the code decides about its signatures, even for a key with delegated code
 * (EIP-7702), so such an item is simulated.
 *
 * Anybody can send a signature that the key did not make. Such a signature is refused after one question (does the account have
 * code?), which the connection for surveys asks. The main connection is used only if the account has code, or if the connection
 * for surveys gets no answer.
 */
export async function judge(context: EvmContext, ask: Judgement): Promise<Verdict> {
  const { method, network, payer } = ask.item;
  if (method === 'native') return { is: 'malformed_signature' };
  const byKey = judgeKey(context, ask);
  if (byKey !== 'good') {
    if (!mayBeOfCode(ask)) return { is: byKey };
    ask.onUnproved?.();
    if (!(await mayHaveCode(context, payer))) return { is: byKey };
    if (context.rpc.inOrder().length > 1) return sharedVerdict(context, ask, byKey);
  }
  const verdict = await unlessFaulty(judgeByChain(context, ask, byKey));
  // The token was fine when its option was made, so the fault may also be a nonsense answer of the endpoint.
  if (verdict === undefined) throw new ChainUnavailableError(network, 'the token does not answer as a token');
  // A bad verdict needs a second endpoint, because a single one could refuse every payer by reporting a false state or false code
  // of the account.
  if (verdict.is === 'good') return verdict;
  ask.onUnproved?.();
  return (await otherVerdict(context, ask, byKey)) ?? verdict;
}

/**
 * True if one of two endpoints shows code. Both are asked separately, because a single endpoint could deny the code of every
 * account. The main connection is used only while the connection for surveys gets no answer, such as in a flood of public
 * requests.
 */
async function mayHaveCode({ network, surveyRpc, rpc, world }: EvmContext, account: string): Promise<boolean> {
  for (const calls of [surveyRpc, rpc]) {
    const two = calls.inOrder().slice(0, 2);
    const asked = two.map((endpoint) => unlessUnavailable(calls.callOne(endpoint, hasCodeCall(account))));
    const answers = await gatherAnswers(world.timers, asked, (hasCode) => hasCode);
    if (answers.length > 0) return answers.includes(true);
  }
  throw new ChainUnavailableError(network.chainId, 'no endpoint says whether an account has code');
}

/**
 * The verdict on which two endpoints agree, about a signature that only the account's code can prove. The endpoints are asked
 * separately, because a single endpoint could invent code that accepts every signature, or deny the code of every account.
 */
async function sharedVerdict(
  context: EvmContext,
  ask: Judgement,
  byKey: Exclude<KeyVerdict, 'good'>,
): Promise<Verdict> {
  const verdictsOf = async (endpoints: readonly Endpoint[]) => {
    const asked = endpoints.map((endpoint) => verdictAt(context, endpoint, ask, byKey));
    return (await Promise.all(asked)).filter((verdict) => verdict !== undefined);
  };
  const endpoints = context.rpc.inOrder();
  let verdicts = await verdictsOf(endpoints.slice(0, 2));
  if (sharedOf(verdicts) === undefined) verdicts = [...verdicts, ...(await verdictsOf(endpoints.slice(2)))];
  const shared = sharedOf(verdicts);
  if (shared !== undefined) return shared;
  // No two endpoints agree here. Of a verdict of the key and one from code, that of the key is returned. Two different verdicts
  // from code leave the result open: one of them may be of an older block.
  const fromCode = verdicts.filter(({ is }) => is !== byKey);
  if (verdicts.length < 2 || fromCode.length > 1) {
    const reason = 'too few endpoints agree about the signature of an account with code';
    throw new ChainUnavailableError(ask.item.network, reason);
  }
  return { is: byKey };
}

function sharedOf(verdicts: readonly Verdict[]): Verdict | undefined {
  const groups = [...Map.groupBy(verdicts, ({ is }) => is).values()];
  return groups.find(({ length }) => length > 1)?.[0];
}

/** The verdict from the answers of this endpoint alone. Undefined if the endpoint does not answer, or the contract is faulty. */
function verdictAt(context: EvmContext, endpoint: Endpoint, ask: Judgement, byKey: KeyVerdict) {
  return unlessUnavailable(unlessFaulty(judgeByChain(askingOnly(context, endpoint), ask, byKey)));
}

/** A good verdict from one of the first two endpoints, which are asked separately. Undefined if neither gives one. */
async function otherVerdict(context: EvmContext, ask: Judgement, byKey: KeyVerdict): Promise<Verdict | undefined> {
  const [first, second] = context.rpc.inOrder();
  if (first === undefined || second === undefined) return undefined;
  const asked = [first, second].map((endpoint) => verdictAt(context, endpoint, ask, byKey));
  const verdicts = await gatherAnswers(context.world.timers, asked, ({ is }) => is === 'good');
  return verdicts.find(({ is }) => is === 'good');
}

interface Judgement {
  readonly item: Item;
  readonly commitment: string;
  readonly signature: string;
  readonly sender: string | undefined;
  /** See `PayerSide.judge`. */
  readonly onUnproved?: (() => void) | undefined;
}

type KeyVerdict = 'good' | 'malformed_signature' | 'wrong_signature';

async function judgeByChain(context: EvmContext, ask: Judgement, byKey: KeyVerdict): Promise<Verdict> {
  const { item, commitment, signature, sender } = ask;
  const terms = context.termsOf(item.asset);
  const { hasCode, balance, allowance, isUsed, isObjected } = await askChain(context, item, terms, commitment);
  const tryOut = () => simulated(context, { item, commitment, signature, hasCode }, { sender, balance });

  if (hasCode) {
    if (!mayBeOfCode(ask)) return byKey === 'good' ? tryOut() : { is: byKey };
    const verdict = await tryOut();
    // Tokens and Permit2 check the nonce before the signature. So `used` does not prove a valid signature, and anybody could send
    // a wrong signature for a used nonce.
    const isSigned = verdict.is !== 'used' || (await isSignedByCode(context, item, { terms, commitment, signature }));
    return isSigned ? verdict : { is: 'wrong_signature' };
  }
  if (byKey !== 'good') return { is: byKey };
  if (isUsed) return { is: 'used' };
  if (balance < item.amount) return { is: 'short_balance' };
  if (allowance < item.amount) return { is: 'short_allowance' };
  // Simulating every item would cost more than all other calls. An item is simulated only if the token refuses its payer or
  // recipient, to find the reason. An authorization that the payer composed is always simulated.
  return isObjected || isAuthorized(item.method) ? tryOut() : { is: 'good', hasCode, balance };
}

/** The verdict of a simulation with the real sender and fees: contract code can behave differently for another sender or fee. */
async function simulated(
  context: EvmContext,
  signed: SignedItem,
  { sender, balance }: { readonly sender: string | undefined; readonly balance: bigint },
): Promise<Verdict> {
  const as = sender === undefined ? undefined : { from: sender, offer: offerOf(await suggestFees(context)) };
  const [outcome] = await simulate(context, [signed], as && { as }).catch((error: unknown) => {
    // A sender without coin is the operator's problem, not the payer's, so the item is simulated again without this sender.
    // Before the item is sent, it is simulated once more.
    if (error instanceof SenderShortError) return simulate(context, [signed]);
    throw error;
  });
  return verdictOf(outcome ?? { is: 'refused', reason: 'unknown' }, { hasCode: signed.hasCode, balance });
}

async function askChain({ lens }: EvmContext, item: Item, terms: AssetTerms, commitment: string) {
  const refused = refusedCall(terms, item.payer);
  const [hasCode, balance, allowance, isUsed, isPayerRefused, isReceivable] = await Promise.all([
    lens.ask(hasCodeCall(item.payer)),
    lens.ask(balanceCall(terms, item.payer)),
    item.method === 'permit2' ? lens.ask(allowanceCall(terms, item.payer)) : item.amount,
    lens.ask(usedCall(item, terms, commitment)),
    refused === undefined ? false : lens.ask(refused),
    canReceive(lens, terms, { collector: payeeOf(item), recipient: item.recipient }),
  ]);
  return { hasCode, balance, allowance, isUsed, isObjected: isPayerRefused || !isReceivable };
}

/** The account that pays the recipient: the Collector, or the deposit address. */
function payeeOf(item: Item): string {
  return isAuthorized(item.method) ? depositAddressOf(item) : item.collector;
}

/** True if an account with code could have made the signature. The older form of EIP-3009 accepts only the signature of a key. */
function mayBeOfCode({ item, signature }: Judgement): boolean {
  return !item.method.endsWith('-vrs') && isContractSignature(signature);
}

function judgeKey({ termsOf }: EvmContext, { item, commitment, signature }: Judgement): KeyVerdict {
  const { token, domainSeparator } = termsOf(item.asset);
  const read = readKeySignature(signature);
  if (read === undefined || domainSeparator === undefined) return 'malformed_signature';
  const signer = recoverAddress(digestOf(item, token, domainSeparator, commitment), read);
  return signer === item.payer.toLowerCase() ? 'good' : 'wrong_signature';
}

const isValidSignature = functionCall('isValidSignature(bytes32,bytes)');
const VALID = isValidSignature().padEnd(66, '0');
/** The gas limit for the signature check of a wallet contract. It is far more than such a check needs. */
const SIGNATURE_GAS = 1_000_000;

/** True if the account's code confirms the signature (ERC-1271). */
function isSignedByCode(
  { rpc }: EvmContext,
  item: Item,
  { terms, commitment, signature }: { terms: AssetTerms; commitment: string; signature: string },
): Promise<boolean> {
  const { token, domainSeparator } = terms;
  if (domainSeparator === undefined) return Promise.resolve(false);
  const digest = digestOf(item, token, domainSeparator, commitment).toString('hex');
  const bytes = signature.slice(2).toLowerCase();
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
  const data = isValidSignature(digest, uint(64), uint(bytes.length / 2), padded);
  const asked = ethCall({ to: item.payer, data, gas: SIGNATURE_GAS }, (returned) =>
    'data' in returned ? returned.data.slice(0, 66) === VALID : false,
  );
  // Code that runs out of gas has not confirmed the signature.
  const readError = (error: RpcError) =>
    asked.readError?.(error) ?? (/out ?of ?gas/.test(error.message) ? { value: false } : undefined);
  return rpc.call({ ...asked, readError });
}

function verdictOf(
  outcome: ItemOutcome,
  { hasCode, balance }: { readonly hasCode: boolean; readonly balance: bigint },
): Verdict {
  if (outcome.is === 'paid') return { is: 'good', hasCode, balance };
  const { reason } = outcome;
  switch (reason) {
    case 'used':
    case 'wrong_signature':
    case 'short_balance':
    case 'short_allowance':
      return { is: reason };
    default:
      return { is: 'refused', reason };
  }
}
