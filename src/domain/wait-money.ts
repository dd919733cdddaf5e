import { spenderWord } from './addresses/families.ts';
import { isoText, type Wait, waitFor } from './wait-words.ts';

/** The unfinished refund of a payment, or the unfinished payout of its held amount. */
export interface OutgoingFacts {
  readonly purpose: 'refund' | 'payout';
  readonly id: string;
  /** A CAIP-2 id. */
  readonly network: string;
  /** The amount as shown to people, with the network: `9.90 USDC on Base`. */
  readonly amount: string;
  readonly state: 'requested' | 'awaiting_funds' | 'sending' | 'failed' | 'held';
  readonly sinceMs: number;
  readonly problem: string | null;
  /** The reason for which the chain refuses the transfer at the moment, before it is sent. */
  readonly refusal?: string | null | undefined;
  /** The reason why the transfer is stopped, and the command that ends the stop, as sentences without the last full stop. */
  readonly stop: string | undefined;
  /**
   * True if the refund waits until the payment's money can be spent, for example until it is swept. False if it waits for a
   * float.
   */
  readonly isHold?: boolean;
  /** The account that received the payment. Set for a refund that its merchant can sign for. */
  readonly merchantAccount?: string | null;
  /** The end of the cooling-off period. Set for a refund that cools off, because it goes to another account than the payer's. */
  readonly coolsUntilMs?: number | undefined;
  /** The time from which a held amount goes to the merchant's destination. Undefined without a destination. */
  readonly destination: { readonly heldFromMs: number } | undefined;
}

/**
 * Money at a deposit address from accounts on the screening list. No money of this asset is swept from the address before an
 * operator decides.
 */
export interface ListedFacts {
  readonly paymentId: string;
  /** The amount as shown to people, with the network. */
  readonly amount: string;
  readonly address: string;
  readonly sinceMs: number;
}

export function listedWait({ paymentId, amount, address, sinceMs }: ListedFacts): Wait {
  return waitFor('listed_sender', {
    text: `Accounts on the screening list have sent ${amount} to its deposit address ${address}, so the money there is not swept. \`till strays search ${paymentId} --sweep --listed\` sweeps all of it.`,
    partnerText: 'Money at the deposit address waits until the operator of the gateway has decided about its sender.',
    sinceMs,
  });
}

export function moneyWait(facts: OutgoingFacts, nowMs: number): Wait {
  return facts.purpose === 'refund' ? refundWait(facts, nowMs) : payoutWait(facts, nowMs);
}

function refundWait(facts: OutgoingFacts, nowMs: number): Wait {
  const { id, amount, state, sinceMs, problem, stop, coolsUntilMs, merchantAccount, isHold = false } = facts;
  if (stop !== undefined) {
    return waitFor('refund_stopped', {
      text: `Its refund of ${amount} is stopped. ${stop}.`,
      partnerText: 'The refund is stopped by the operator of the gateway. Ask the operator.',
      sinceMs,
    });
  }
  const isWaiting = state === 'requested' || state === 'awaiting_funds';
  if (isWaiting && coolsUntilMs !== undefined && coolsUntilMs > nowMs) {
    return waitFor('refund_cooling', {
      text: `Its refund of ${amount} goes to another account than the payer’s, and cools off until ${isoText(coolsUntilMs)}. \`till refunds approve ${id}\` sends it now, \`till refunds veto ${id}\` ends it.`,
      partnerText: 'The refund goes to another account than the payer’s, and cools off first.',
      sinceMs,
      untilMs: coolsUntilMs,
    });
  }
  if (state === 'awaiting_funds' && isHold) {
    return waitFor('refund_waiting', {
      text: `Its refund of ${amount} waits: ${problem ?? 'its money cannot be taken yet'}. It goes on by itself. \`till refunds veto ${id}\` ends it.`,
      partnerText: 'The refund waits until the money of the payment can be taken.',
      sinceMs,
    });
  }
  if (state === 'awaiting_funds') {
    const funds = `Its refund of ${amount} waits for funds: ${problem ?? 'the floats hold too little'}. \`till float add\` or \`till refunds cover ${id}\` ends it`;
    if (merchantAccount == null) {
      const partnerText = 'The refund waits until there are funds for it.';
      return waitFor('refund_awaiting_funds', { text: `${funds}.`, partnerText, sinceMs });
    }
    return waitFor('refund_awaiting_signature', {
      text: `${funds}, and so does a signature of ${merchantAccount}: \`till refunds show ${id}\` has the link.`,
      partnerText: `The refund waits for funds. The account ${merchantAccount}, which received the payment, can sign for it at \`signUrl\` of the refund.`,
      sinceMs,
    });
  }
  if (state === 'failed') {
    return waitFor('refund_failed', {
      text: `Its refund of ${amount} failed: ${problem ?? 'no reason is stored'}. \`till refunds retry ${id}\` begins it again.`,
      partnerText: 'The refund failed. The operator of the gateway has to begin it again.',
      sinceMs,
    });
  }
  return waitFor('refund', {
    text: `Its refund of ${amount} is being sent. It ends with a final block that shows the transfer.${refusalText(facts)}`,
    partnerText: 'The refund is being sent.',
    sinceMs,
  });
}

function payoutWait(facts: OutgoingFacts, nowMs: number): Wait {
  const { amount, state, sinceMs, problem, stop, destination } = facts;
  if (stop !== undefined) {
    return waitFor('payout_stopped', {
      text: `Its net amount of ${amount} is held. ${stop}.`,
      partnerText:
        'The net amount is held, and its payout is stopped by the operator of the gateway. Ask the operator.',
      sinceMs,
    });
  }
  if (state === 'held' && destination === undefined) {
    return waitFor('no_destination', {
      text: `Its net amount of ${amount} is held, because the merchant has no settlement destination for the asset. It is paid out when there is one.`,
      partnerText: 'The net amount is held until the merchant has a settlement destination for the asset.',
      sinceMs,
    });
  }
  if (state === 'held' && destination !== undefined && destination.heldFromMs > nowMs) {
    return waitFor('destination_cooling', {
      text: `Its net amount of ${amount} is held, because the merchant’s destination cools off until ${isoText(destination.heldFromMs)}.`,
      partnerText: 'The net amount is held until the new settlement destination has cooled off.',
      sinceMs,
      untilMs: destination.heldFromMs,
    });
  }
  const wait = state === 'held' && problem !== null ? PAYOUT_HOLDS[problem] : undefined;
  if (wait !== undefined) {
    const text = `Its held money of ${amount} is not paid out yet: ${wait}.`;
    return waitFor('payout', { text, partnerText: 'The held money is not paid out yet.', sinceMs });
  }
  const failed = problem === null ? '' : ` The last try failed: ${problem}.`;
  const hindered = refusalText(facts) || failed;
  return waitFor('payout', {
    text: `Its net amount of ${amount} is being paid out to the merchant.${hindered}`,
    partnerText: 'The net amount is being paid out to the merchant.',
    sinceMs,
  });
}

/** The refusals by the chain that the operator can end, as words of a sentence. */
function refusalsOn(network: string): Readonly<Record<string, string>> {
  return {
    short_balance: 'the account that sends it holds too little',
    short_allowance: `the account that sends it has not approved the token for ${spenderWord(network)}`,
    payer_blacklisted: 'the token blocks the account that sends it',
    recipient_blacklisted: 'the token blocks its recipient',
    paused: 'the token is paused',
  };
}

function refusalText({ network, refusal }: OutgoingFacts): string {
  const why = refusal == null ? undefined : refusalsOn(network)[refusal];
  return why === undefined ? '' : ` It cannot be carried out now: ${why}.`;
}

const PAYOUT_HOLDS: Readonly<Record<string, string>> = {
  sweep: 'a part of the money that paid is still at its deposit address, and is swept first',
  debt: 'a reorganisation of the chain took money of the payment that was spent, and this money fills the gap',
  listed: 'accounts on the screening list have sent it. `till strays search --sweep --listed` lets it be paid out',
  below_minimum: 'it is unexpected money, and less than `DEPOSIT_MINIMUM`. It goes out with the next money',
  destination_refused: 'the row of the destination was not written by the gateway. `till alerts` has it',
  not_held: 'the books hold less for the merchant. `till alerts` has it',
};
