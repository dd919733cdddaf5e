import type { Item, SignedItem } from '../../domain/item.ts';
import { type ItemOutcome, SenderShortError, type Verdict } from '../chain.ts';
import { simulate } from './batches.ts';
import { unlessFaulty } from './eth-call.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import { suggestFees } from './fees.ts';
import { isContractSignature, readKeySignature, recoverAddress } from './key-signature.ts';
import { allowanceCall, balanceCall, canReceive, hasCodeCall, refusedCall, usedCall } from './token-calls.ts';
import { digestOf } from './typed-data.ts';

/**
 * Whether the item could be carried out now. What the chain knows of the payer is asked in one round trip, and while that
 * is under way the signature is checked here: the signatures of keys need no chain. Those of accounts with code, also
 * when a key has lent itself some (EIP-7702), are what that code says they are, so the very item is tried.
 */
export async function judge(context: EvmContext, ask: Judgement): Promise<Verdict> {
  if (ask.item.method === 'native') return { is: 'malformed_signature' };
  const verdict = await unlessFaulty(judgeByChain(context, ask));
  // A token that does not answer as a token carries nothing out.
  return verdict ?? { is: 'refused', reason: 'unknown' };
}

interface Judgement {
  readonly item: Item;
  readonly commitment: string;
  readonly signature: string;
  /** The account that would send it. */
  readonly sender: string | undefined;
}

async function judgeByChain(context: EvmContext, ask: Judgement): Promise<Verdict> {
  const { item, commitment, signature, sender } = ask;
  const terms = context.termsOf(item.asset);
  const asked = askChain(context, item, terms, commitment);
  const byKey = judgeKey(item, terms, commitment, signature);
  const { hasCode, balance, allowance, isUsed, isObjected } = await asked;
  const tryOut = () => simulated(context, { item, commitment, signature, hasCode }, sender);

  if (hasCode) {
    // In this form of EIP-3009 there is room for the signature of a key only.
    const isReadable = item.method === 'eip3009-vrs' ? byKey !== 'malformed_signature' : isContractSignature(signature);
    return isReadable ? tryOut() : { is: 'malformed_signature' };
  }
  if (byKey !== 'good') return { is: byKey };
  if (isUsed) return { is: 'used' };
  if (balance < item.amount) return { is: 'short_balance' };
  if (allowance < item.amount) return { is: 'short_allowance' };
  // Trying every item out would cost more than all the rest: only where the token objects is it asked why.
  return isObjected ? tryOut() : { is: 'good', hasCode };
}

/** The verdict of a simulation as the item would be sent: code can answer differently where it sees another sender or fee. */
async function simulated(context: EvmContext, signed: SignedItem, sender: string | undefined): Promise<Verdict> {
  const as = sender === undefined ? undefined : { from: sender, fees: await suggestFees(context) };
  const [outcome] = await simulate(context, [signed], as && { as }).catch((error: unknown) => {
    // A sender without coin is a matter of the operator. The item is simulated again before it is sent.
    if (error instanceof SenderShortError) return simulate(context, [signed]);
    throw error;
  });
  return verdictOf(outcome ?? { is: 'refused', reason: 'unknown' }, signed.hasCode);
}

async function askChain({ lens }: EvmContext, item: Item, terms: AssetTerms, commitment: string) {
  const refused = refusedCall(terms, item.payer);
  const [hasCode, balance, allowance, isUsed, isPayerRefused, isReceivable] = await Promise.all([
    lens.ask(hasCodeCall(item.payer)),
    lens.ask(balanceCall(terms, item.payer)),
    item.method === 'permit2' ? lens.ask(allowanceCall(terms, item.payer)) : item.amount,
    lens.ask(usedCall(item, terms, commitment)),
    refused === undefined ? false : lens.ask(refused),
    canReceive(lens, terms, item),
  ]);
  return { hasCode, balance, allowance, isUsed, isObjected: isPayerRefused || !isReceivable };
}

function judgeKey(
  item: Item,
  { token, domainSeparator }: AssetTerms,
  commitment: string,
  signature: string,
): 'good' | 'malformed_signature' | 'wrong_signature' {
  const read = readKeySignature(signature);
  if (read === undefined || domainSeparator === undefined) return 'malformed_signature';
  const signer = recoverAddress(digestOf(item, token, domainSeparator, commitment), read);
  return signer === item.payer.toLowerCase() ? 'good' : 'wrong_signature';
}

function verdictOf(outcome: ItemOutcome, hasCode: boolean): Verdict {
  if (outcome.is === 'paid') return { is: 'good', hasCode };
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
