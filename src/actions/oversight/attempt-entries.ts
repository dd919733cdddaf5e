import { amountText } from '../../chains/amount-text.ts';
import type { Registry } from '../../chains/registry.ts';
import { slotWord } from '../../domain/addresses/families.ts';
import { isAuthorized, MERCHANT } from '../../domain/item.ts';
import { isoText } from '../../domain/wait-words.ts';
import type { AttemptRow, CarryingVersion, SeenEvent } from '../../store/chain/attempt-history.ts';
import { networkName, type TimelineEntry } from './entry.ts';
import type { History } from './history.ts';

/** The timeline entries about attempts to send the payment, its payout and its refund, with their transactions and blocks. */
export function attemptEntries({ attempts, versions, seen }: History, registry: Registry): TimelineEntry[] {
  return [
    ...attempts.flatMap((attempt) => ownEntries(registry, attempt)),
    ...versions.flatMap((version) => versionEntries(registry, version)),
    ...seen.flatMap((event) => seenEntries(registry, event)),
  ];
}

/** The purpose of an item, as the subject of a sentence. */
const NAMES = { payment: 'attempt', payout: 'payout', refund: 'refund', return: 'return', sweep: 'sweep' } as const;

/** The text of an attempt, by payment method, for methods in which the payer, not the gateway, sends the transaction. */
const OFFERS: Partial<Record<string, (about: Record<'sum' | 'account' | 'until', string>) => string>> = {
  native: ({ sum, account, until }) => `A transaction of ${sum} was handed to the wallet of ${account}, ${until}.`,
  deposit: ({ sum, account, until }) => `The deposit address ${account} was handed out for ${sum}, ${until}.`,
};

function ownEntries(registry: Registry, attempt: AttemptRow): TimelineEntry[] {
  const { acceptedAt, asset, amount, account, network, method, deadline, quote, purpose, buyerName } = attempt;
  const isOffered = method === 'native' || method === 'deposit';
  const sum = `${amountText(registry, asset, amount)}`;
  const until = `valid until ${isoText(deadline.getTime())}`;
  const isAsked = purpose === 'refund' && buyerName === MERCHANT;
  const did =
    purpose === 'sweep'
      ? `A sweep of ${account} to ${attempt.recipient} was ordered.`
      : isAsked
        ? `The account ${account} was asked to sign for a refund of ${sum}, ${until}.`
        : purpose !== 'payment'
          ? `A ${NAMES[purpose]} of ${sum} was signed, ${until}.`
          : (OFFERS[method]?.({ sum, account, until }) ??
            `The signature of ${account} over ${sum} was accepted, ${until}.`);
  const rate = quote === null ? '' : ` Quoted by the rate ${JSON.stringify(quote)}.`;
  const started: TimelineEntry = {
    at: acceptedAt,
    what: isAsked || (purpose === 'payment' && isOffered) ? 'attempt.offered' : 'attempt.accepted',
    text: `${did}${rate}`,
    partnerText: did,
    evidence: { network, asset, amount, account, deadline, method },
    internals: { commitment: attempt.commitment, recipient: attempt.recipient, isHeld: attempt.isHeld },
  };
  return [started, ...endEntries(attempt)];
}

function endEntries(attempt: AttemptRow): TimelineEntry[] {
  const { state, endedAt, network, failures, workSpent } = attempt;
  if (endedAt === null || state === 'paid') return [];
  const text = endText(attempt);
  return [
    {
      at: endedAt,
      what: 'attempt.over',
      text,
      partnerText: text,
      evidence: { network },
      internals: { failures, gasSpent: workSpent },
    },
  ];
}

/**
 * The text about the end of an attempt. A signature or transaction that has ended has charged nothing. A deposit address may have taken
 * money that did not pay the payment.
 */
function endText({ purpose, method, endReason }: AttemptRow): string {
  const why = ENDS[endReason ?? ''] ?? 'it can never be carried out';
  if (purpose !== 'payment') return `The ${NAMES[purpose]} is over: ${why}. It has moved no money.`;
  if (method === 'deposit') {
    return `The time of the deposit address is over: ${why}. Money at the address that did not pay is late money.`;
  }
  return isAuthorized(method) && endReason === 'used'
    ? 'The attempt is over: somebody else has presented its authorization to the token, or its payer has cancelled it. Money that it moved is at the deposit address.'
    : `The attempt is over: ${why}. Nothing was charged by it.`;
}

/** The reasons why attempts end, each as the end of a sentence. */
const ENDS: Readonly<Record<string, string>> = {
  ran_out: 'a final block is later than its deadline',
  used: 'its authorization was used for something else',
  declined: 'its payer was declined',
  swept: 'somebody else has swept the address',
  removed: 'a reorganisation has removed the money',
};

function versionEntries(registry: Registry, version: CarryingVersion): TimelineEntry[] {
  const { network, hash, signer, slot, company, version: number, signedAt, broadcastAt, isFinal, finalHash } = version;
  const name = networkName(registry, network);
  const word = slotWord(network);
  const others = company === 1 ? 'alone' : `together with ${company - 1} others`;
  const evidence = { network, transaction: hash };
  const internals = { signer, [word]: slot, version: number };
  const as =
    number === 1
      ? `${word} ${slot} of ${signer}`
      : `version ${number} of ${word} ${slot} of ${signer}, with a higher fee`;
  const fate = isFinal && finalHash !== hash ? ` Another transaction of the ${word} was mined.` : '';
  const stored: TimelineEntry = {
    at: signedAt,
    what: 'transaction.stored',
    text: `Transaction ${hash} was signed and stored, ${others}: ${as}.${fate}`,
    evidence,
    internals,
  };
  if (broadcastAt === null) return [stored];
  const text = `Transaction ${hash} was first broadcast to ${name}.`;
  return [stored, { at: broadcastAt, what: 'transaction.broadcast', text, partnerText: text, evidence, internals }];
}

function seenEntries(registry: Registry, event: SeenEvent): TimelineEntry[] {
  const {
    network,
    transactionHash,
    blockNumber,
    blockHash,
    type,
    reason,
    readAt,
    decidedAt,
    problem,
    lostAt,
    forkNumber,
  } = event;
  const name = networkName(registry, network);
  const evidence = { network, transaction: transactionHash, block: blockNumber, blockHash };
  const at = readAt ?? decidedAt;
  const shows =
    type === 'paid'
      ? 'shows the transfer'
      : type === 'swept'
        ? 'shows a sweep of the deposit address'
        : `shows a refusal (${reason ?? 'unknown'})`;
  const text = `Block ${blockNumber} of ${name} ${shows}, in transaction ${transactionHash}.`;
  const read = at === null ? [] : [{ at, what: `chain.${type}`, text, partnerText: text, evidence }];
  const aside =
    problem === null || decidedAt === null
      ? []
      : [{ at: decidedAt, what: 'chain.set_aside', text: `That event was set aside: ${problem}.`, evidence }];
  if (lostAt === null) return [...read, ...aside];
  const gone = `A reorganisation of ${name} took block ${blockNumber} away, with transaction ${transactionHash}. Block ${forkNumber} is the last one that stayed.`;
  return [...read, { at: lostAt, what: 'chain.reorganised', text: gone, partnerText: gone, evidence }];
}
