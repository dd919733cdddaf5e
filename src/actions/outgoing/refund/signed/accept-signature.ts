import { hash } from 'node:crypto';
import type { Chain } from '../../../../chains/chain.ts';
import { ChainUnavailableError } from '../../../../chains/chain-errors.ts';
import { parseTransactionId } from '../../../../domain/addresses/families.ts';
import { itemKeyOf } from '../../../../domain/item.ts';
import { ApiError, validationError } from '../../../../errors.ts';
import { findPaidCommitments } from '../../../../store/chain/chain-events.ts';
import { findItems, hintTransaction, itemOf, type StoredItem, signOffered } from '../../../../store/chain/items.ts';
import { findOutgoing, lockOutgoing, markDue } from '../../../../store/money/outgoing.ts';
import { lockFreeRefund, lockRefund, type Refund, type ShownRefund } from '../../../../store/money/refunds.ts';
import { deleteAlert } from '../../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { command } from '../../../command.ts';
import { shareFreezes } from '../../../parties/freeze-heads.ts';
import { noExecutor } from '../../../paying/option-refusals.ts';
import { refusalOf } from '../../../paying/verdict-refusals.ts';
import { moveRefund } from '../move-refund.ts';
import { refuseListed } from '../screen-refund.ts';
import { LEAST_LEFT_MS, type OfferDeps } from './offer-refund.ts';
import { findShown } from './signable-refund.ts';

export interface SignedInput {
  readonly refundId: string;
  /** The wallet's answer: a signature, or for native coin the hash of the transaction. */
  readonly result: string;
  /** `key:<id>` or `app:<id>`. */
  readonly actor: string;
}

/** The wallet's answer, with the item that the wallet was asked to sign. */
interface Given extends SignedInput {
  readonly item: StoredItem;
  readonly chain: Chain;
  readonly resultsHash: string;
}

/**
 * Accepts the answer of the wallet of the merchant's account, and returns the refund in its new state. A valid signature becomes a due
 * item, which the relayer sends like the item of a payment. A repeated request returns the refund in its present state.
 */
export async function acceptSignature(deps: OfferDeps, input: SignedInput): Promise<ShownRefund> {
  const { refundId, result } = input;
  const refund = await findShown(deps, refundId);
  if (refund.state === 'sending' || refund.state === 'refunded') return refund;
  const outgoing = await findOutgoing(deps.db.sql, refundId);
  const { network, commitment } = outgoing?.signer === 'merchant' ? outgoing : { network: '', commitment: null };
  const [item] = commitment === null ? [] : await findItems(deps.db.sql, [itemKeyOf({ network, commitment })]);
  if (item === undefined) throw notAsked();
  const connected = deps.chains.find(item.network);
  if (connected === undefined) throw noExecutor();
  const { chain, relayers } = connected;
  const given = { ...input, item, chain, resultsHash: hash('sha256', result, 'base64url') };
  if (item.method === 'native') await noteTransaction(deps, given);
  else await takeSignature(deps, given, relayers[0]?.address);
  return findShown(deps, refundId);
}

async function takeSignature(deps: OfferDeps, given: Given, sender: string | undefined): Promise<void> {
  const { item, chain, result, refundId } = given;
  const { key, commitment, network, deadline } = item;
  const verdict = await chain.payerSide.judge(itemOf(item), result, sender);
  if (verdict.is === 'used') {
    // The item is already carried out: somebody else with the signature has sent it. The watcher concludes the refund.
    const paid = await findPaidCommitments(deps.db.sql, { network, commitments: [commitment] });
    if (paid.has(commitment)) return;
  }
  if (verdict.is !== 'good') throw refusalOf(network, verdict);
  if (deadline.getTime() - deps.world.clock.nowMs() < LEAST_LEFT_MS) throw tooLate();
  await command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    const outgoing = await lockOutgoing(tx, refundId);
    await lockRefund(tx, refundId);
    const refund = await lockFreeRefund(tx, { id: refundId, now });
    // Another request brought the same signature, or the item has expired.
    if (outgoing?.commitment !== commitment || outgoing.isDue) return;
    if (refund?.state !== 'awaiting_funds') throw new ApiError('invalid_state', 'The refund cannot be paid now.');
    refuseListed(deps.screening, refund);
    const { hasCode } = verdict;
    const isSigned = await signOffered(tx, { key, signature: result, hasCode, resultsHash: given.resultsHash });
    if (!isSigned || !(await markDue(tx, { id: refundId, commitment }))) throw notAsked();
    await beginSending(tx, refund, given, {}, now);
  });
  deps.world.crashPoint?.('refund.signed');
}

/**
 * Stores the hash from the wallet as a hint. The refund becomes `sending` as soon as an endpoint shows a transaction of the account with
 * exactly the calldata that we gave to the wallet.
 */
async function noteTransaction(deps: OfferDeps, given: Given): Promise<void> {
  const { item, chain, result, resultsHash, refundId } = given;
  const { key, commitment } = item;
  if (parseTransactionId(item.network, result) === undefined) {
    throw validationError([{ field: 'result', message: 'must be the hash of the transaction' }], 422);
  }
  await command(deps, (tx) => hintTransaction(tx, { key, hash: result, resultsHash }));
  const isShown = await chain.payerSide.isPaymentShown(itemOf(item), result).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return false;
    throw error;
  });
  if (!isShown) return;
  await command(deps, async (tx, now) => {
    const outgoing = await lockOutgoing(tx, refundId);
    const refund = await lockRefund(tx, refundId);
    if (outgoing?.commitment !== commitment || refund?.state !== 'awaiting_funds') return;
    await beginSending(tx, refund, given, { transaction: result }, now);
  });
}

async function beginSending(tx: Tx, refund: Refund, { item, actor }: Given, facts: object, at: Date): Promise<void> {
  const evidence = { signedBy: item.account, commitment: item.commitment, ...facts };
  await moveRefund(tx, refund, { event: 'covered', actor, evidence }, at);
  await deleteAlert(tx, { name: 'refund_awaiting_funds', subject: refund.id });
}

function tooLate(): ApiError {
  return new ApiError('quote_expired', 'The request to sign has run out: ask for it again in a few minutes.');
}

function notAsked(): ApiError {
  return new ApiError('invalid_state', 'No signature is open for this refund: ask for the request again.');
}
