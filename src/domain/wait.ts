import { spenderWord, workWord } from './addresses/families.ts';
import type { AlertName } from './alert.ts';
import { SEND_MARGIN_MS } from './send-plan.ts';
import type { AlertFacts, AttemptFacts, NetworkFacts, SeenFacts, StopFacts, WaitFacts } from './wait-facts.ts';
import { listedWait, moneyWait } from './wait-money.ts';
import { aboutMs, isoText, type Wait, waitFor } from './wait-words.ts';

/** The reason why the payment waits, and what ends the wait. Undefined if the payment waits for nothing. */
export function waitOf(facts: WaitFacts): Wait | undefined {
  const attempt = furthest(facts.attempts);
  switch (facts.status) {
    case 'requires_action':
      return payerWait(facts);
    case 'processing':
      return attempt === undefined ? undetermined(facts) : asFarAsKnown(attemptWait(facts, attempt), attempt);
    case 'succeeded':
      if (facts.isReorganised && attempt !== undefined) return asFarAsKnown(attemptWait(facts, attempt), attempt);
      if (facts.listed !== undefined) return listedWait(facts.listed);
      return facts.outgoing && moneyWait(facts.outgoing, facts.nowMs);
    default:
      return facts.listed && listedWait(facts.listed);
  }
}

function payerWait({ stops, closed, sinceMs, expiresAtMs }: WaitFacts): Wait {
  const stop = stops[0] ?? closed;
  if (stop !== undefined) return stopped(stop, sinceMs, expiresAtMs);
  return waitFor('payer', {
    text: `It waits for the payer, until ${isoText(expiresAtMs)}. Then it expires.`,
    partnerText: `The payer has not paid yet. The payment expires at ${isoText(expiresAtMs)}.`,
    sinceMs,
    untilMs: expiresAtMs,
  });
}

/** Adds a remark to a wait if the chain could not be read, because its reason then comes from the stored rows alone. */
function asFarAsKnown(wait: Wait, { network: { head, name } }: AttemptFacts): Wait {
  return head === undefined ? { ...wait, text: `${wait.text} ${name} could not be asked from here.` } : wait;
}

/** The attempt that has got furthest: in a block, else sent, else due. Of equal attempts the one that was accepted last. */
function furthest(attempts: readonly AttemptFacts[]): AttemptFacts | undefined {
  const rank = ({ seen, state }: AttemptFacts) =>
    seen !== undefined ? 3 : state === 'sent' ? 2 : state === 'due' ? 1 : 0;
  return attempts.toSorted((a, b) => rank(b) - rank(a) || b.acceptedAtMs - a.acceptedAtMs)[0];
}

function attemptWait(facts: WaitFacts, attempt: AttemptFacts): Wait {
  const { seen, state, deadlineMs, acceptedAtMs } = attempt;
  const isOver = facts.nowMs >= deadlineMs;
  const isUnsent = state === 'due' && seen === undefined && !isOver;
  const stop = isUnsent ? (facts.stops[0] ?? attempt.stop) : undefined;
  if (stop !== undefined) return stopped(stop, acceptedAtMs, deadlineMs);
  const unread = unreadNetwork(attempt);
  if (unread !== undefined) return unread;
  if (seen !== undefined) return seenWait(attempt, seen);
  if (isOver) return ranOut(facts, attempt);
  if (state === 'offered') return offerWait(facts, attempt);
  return state === 'sent' ? sentWait(attempt) : dueWait(facts, attempt);
}

/** The wait for a network that the gateway cannot read at all, so that no action of the payer helps. Undefined if it can be read. */
function unreadNetwork({ network, acceptedAtMs: sinceMs }: AttemptFacts): Wait | undefined {
  const { name } = network;
  if (!network.isWatched) {
    return waitFor('no_watcher', {
      text: `No node holds the lease of the watcher of ${name}, so its blocks are not read. Start a node with the role \`watch\` and this network.`,
      partnerText: `The gateway does not read ${name} at the moment. The operator has to act; nothing is lost.`,
      sinceMs,
    });
  }
  const away = alertOf(network, 'network_unavailable');
  if (away !== undefined) {
    return waitFor('network_unavailable', {
      text: `No endpoint of ${name} answers: ${away.message} It goes on when one does.`,
      partnerText: `${name} cannot be read at the moment. The payment goes on when it can; nothing is lost.`,
      sinceMs: away.sinceMs,
    });
  }
  return undefined;
}

/** The wait for endpoints that contradict each other. It delays only the end of an attempt, because only that end needs two endpoints. */
function disputed(network: NetworkFacts): Wait | undefined {
  const dispute = alertOf(network, 'endpoints_disagree');
  return (
    dispute &&
    waitFor('endpoints_disagree', {
      text: `Two endpoints of ${network.name} must say the same. ${dispute.message} Replace the wrong one, or add a third.`,
      partnerText: `${network.name} cannot be read reliably at the moment. The payment goes on when it can; nothing is lost.`,
      sinceMs: dispute.sinceMs,
    })
  );
}

function seenWait({ network, acceptedAtMs }: AttemptFacts, seen: SeenFacts): Wait {
  const sinceMs = seen.readAtMs ?? acceptedAtMs;
  const alone = alertOf(network, 'endpoint_alone');
  if (alone !== undefined && seen.loneDepth === undefined) {
    return waitFor('endpoint_alone', {
      text: `It is in block ${seen.block}, which one endpoint of ${network.name} alone shows, and its amount needs two. It goes on when a second endpoint answers.`,
      partnerText: `The payment is in block ${seen.block}. It waits for a second source of ${network.name} to confirm it.`,
      sinceMs: alone.sinceMs,
    });
  }
  const depth = alone === undefined ? seen.depth : (seen.loneDepth ?? seen.depth);
  const height = network.head ?? network.readBlock ?? seen.block;
  const missing = depth - (height - seen.block + 1);
  if (missing > 0) {
    const blocks = missing === 1 ? '1 more block' : `${missing} more blocks`;
    const inTime = aboutMs(missing * network.blockTimeMs);
    const guess = network.head === undefined ? ` Block ${height} is the last one that was read.` : '';
    const lone = alone === undefined ? '' : ' One endpoint alone answers, so it needs three times the depth.';
    return waitFor('confirmations', {
      text: `It is in block ${seen.block} and waits for ${blocks} on ${network.name}, ${inTime}.${lone}${guess}`,
      partnerText: `The payment is in block ${seen.block}. It waits for ${blocks} on ${network.name}, ${inTime}.`,
      sinceMs,
    });
  }
  const dispute = disputed(network);
  if (dispute !== undefined) return dispute;
  if (seen.tag !== undefined) {
    return waitFor('finality_tag', {
      text: `It is in block ${seen.block} and waits until the \`${seen.tag}\` block of ${network.name} has reached it, as the rule for its amount asks.`,
      partnerText: `The payment is in block ${seen.block}. For its amount it waits until ${network.name} calls that block ${seen.tag}.`,
      sinceMs,
    });
  }
  const answers = seen.answers === undefined ? '' : ` At the moment ${seen.answers}.`;
  return waitFor('proof', {
    text: `It is in block ${seen.block}, which is deep enough. Two endpoints of ${network.name} must show its receipt.${answers}`,
    partnerText: `The payment is in block ${seen.block}, and is being verified.`,
    sinceMs,
  });
}

function ranOut({ nowMs, expiresAtMs }: WaitFacts, { network, deadlineMs, isDeposit }: AttemptFacts): Wait {
  const dispute = disputed(network);
  if (dispute !== undefined) return dispute;
  const next = nowMs < expiresAtMs ? 'it can be paid again' : 'it expires';
  const last = network.finalAtMs === undefined ? '' : ` The last final block is of ${isoText(network.finalAtMs)}.`;
  if (isDeposit) {
    return waitFor('ran_out', {
      text: `The time of its deposit address ended at ${isoText(deadlineMs)}. As soon as a final block of ${network.name} is later, ${next}, unless all of the money is in earlier blocks.${last}`,
      partnerText: `The time of the deposit address is over. When a final block of ${network.name} proves that too little arrived in time, ${next}.`,
      sinceMs: deadlineMs,
    });
  }
  return waitFor('ran_out', {
    text: `Its last attempt ran out at ${isoText(deadlineMs)}. As soon as a final block of ${network.name} is later, ${next}.${last}`,
    partnerText: `The last attempt to pay has run out, and nothing was charged by it so far. When a final block of ${network.name} proves that, ${next}.`,
    sinceMs: deadlineMs,
  });
}

function offerWait({ sinceMs }: WaitFacts, { network, deadlineMs, isDeposit }: AttemptFacts): Wait {
  if (isDeposit) {
    return waitFor('coin', {
      text: `A deposit address on ${network.name} was handed out, which counts transfers until ${isoText(deadlineMs)}. If final blocks after that time show too little at it, its time is over.`,
      partnerText: `A transfer to the deposit address on ${network.name} may still arrive, until ${isoText(deadlineMs)}.`,
      sinceMs,
      untilMs: deadlineMs,
    });
  }
  return waitFor('coin', {
    text: `The payer was handed a transaction on ${network.name}, which may be mined until ${isoText(deadlineMs)}. If no final block after that time shows it, the attempt is over.`,
    partnerText: `A transaction of the payer on ${network.name} may still arrive, until ${isoText(deadlineMs)}.`,
    sinceMs,
    untilMs: deadlineMs,
  });
}

function sentWait({ network, transaction, acceptedAtMs }: AttemptFacts): Wait {
  const sinceMs = transaction?.broadcastAtMs ?? acceptedAtMs;
  const trouble = relayTrouble(network, acceptedAtMs);
  // Only these two problems of a network delay a transaction that was sent before. A gas price above the cap and a spent gas
  // budget hold back only new transactions.
  if (trouble?.cause === 'no_relayer' || trouble?.cause === 'relayer_out_of_funds') return trouble;
  const partnerText = `The transaction was sent to ${network.name}, and is in no block yet.`;
  if (transaction?.broadcastAtMs === undefined) {
    const text = 'Its transaction is stored and not broadcast yet. The holder of the relayer’s lease broadcasts it.';
    return waitFor('unsent', { text, partnerText: 'The transaction is about to be sent.', sinceMs });
  }
  const stuck = alertOf(network, 'send_stuck');
  const { hash, version, broadcastAtMs } = transaction;
  const which = version === 1 ? '' : `, version ${version}`;
  return waitFor('unmined', {
    text: `Transaction ${hash}${which} was broadcast at ${isoText(broadcastAtMs)} and is in no block of ${network.name} yet. It is broadcast again, with a higher fee if need be, until it is mined or replaced.${stuck === undefined ? '' : ` ${stuck.message}`}`,
    partnerText,
    sinceMs,
  });
}

function dueWait(facts: WaitFacts, attempt: AttemptFacts): Wait {
  const { network, acceptedAtMs, deadlineMs, refusal, retryAtMs, payerRetryAtMs } = attempt;
  const untilDeadline = { sinceMs: acceptedAtMs, untilMs: deadlineMs };
  const partnerText = `The attempt is not sent any more, and nothing was charged by it so far. It is over soon after ${isoText(deadlineMs)}.`;
  if (attempt.isExhausted) {
    const text = `It has failed on the chain as often, or used as much ${workWord(network.chainId)}, as one payment may, and is not sent again. Its attempt is over soon after ${isoText(deadlineMs)}.`;
    return waitFor('exhausted', { text, partnerText, ...untilDeadline });
  }
  if (deadlineMs - facts.nowMs < SEND_MARGIN_MS) {
    const text = `It is too close to its deadline, ${isoText(deadlineMs)}, to be sent. Its attempt is over soon after.`;
    return waitFor('late', { text, partnerText, ...untilDeadline });
  }
  const trouble = relayTrouble(network, acceptedAtMs);
  if (trouble !== undefined) return trouble;
  if (refusal !== null) return refused(attempt, refusal);
  if (payerRetryAtMs !== null && payerRetryAtMs > facts.nowMs) {
    return waitFor('payer_paused', {
      text: `Transfers of its payer failed on the chain, so nothing of this payer is sent before ${isoText(payerRetryAtMs)}.`,
      partnerText: `Earlier transfers of this payer have failed. The next try is at ${isoText(payerRetryAtMs)}.`,
      sinceMs: acceptedAtMs,
      untilMs: payerRetryAtMs,
    });
  }
  const next = retryAtMs !== null && retryAtMs > facts.nowMs ? ` The next try is at ${isoText(retryAtMs)}.` : '';
  return waitFor('due', {
    text: `The payer’s signature is accepted, and a relayer of ${network.name} sends it in its next transaction.${next}`,
    partnerText: `The payer has signed, and the transaction is about to be sent to ${network.name}.`,
    sinceMs: acceptedAtMs,
  });
}

/** The wait for a network on which the gateway sends nothing new, for any payer. Undefined if it sends. */
function relayTrouble(network: NetworkFacts, sinceMs: number): Wait | undefined {
  const { name } = network;
  const partnerText = `The gateway sends nothing new on ${name} at the moment. The payment goes on when it does; nothing is lost.`;
  if (!network.hasRelayer) {
    const text = `No relayer is configured for ${name}. Set its key, and start a node with the role \`relay\`.`;
    return waitFor('no_relayer', { text, partnerText, sinceMs });
  }
  if (!network.isRelayed) {
    const text = `No node holds the lease of a relayer of ${name}. Start a node with the role \`relay\` and this network.`;
    return waitFor('no_relayer', { text, partnerText, sinceMs });
  }
  for (const cause of ['relayer_out_of_funds', 'gas_price_above_cap', 'gas_budget_spent'] as const) {
    const alert = alertOf(network, cause);
    if (alert === undefined) continue;
    return waitFor(cause, {
      text: `${alert.message} It is sent when that is over.`,
      partnerText,
      sinceMs: alert.sinceMs,
    });
  }
  return undefined;
}

/** The refusals by the chain, as words for the middle of a sentence. */
function refusalsOn(network: string): Readonly<Record<string, string>> {
  return {
    short_balance: 'the payer’s balance is too low',
    short_allowance: `the payer has not approved the token for ${spenderWord(network)}`,
    payer_blacklisted: 'the token blocks the payer',
    recipient_blacklisted: 'the token blocks the recipient',
    paused: 'the token is paused',
    short_arrival: 'less than the amount would arrive',
    wrong_signature: 'the token does not accept the signature',
    out_of_gas: `it needs more ${workWord(network)} than a payment may use`,
    used: 'the signature is used already, which the watcher is checking',
  };
}

function refused({ network, acceptedAtMs, deadlineMs, retryAtMs, shortBy }: AttemptFacts, refusal: string): Wait {
  if (refusal === 'signer_refused') {
    return waitFor('signer_refused', {
      text: `The external signer refuses the transaction. It is asked again until ${isoText(deadlineMs)}; \`till alerts\` has its reason.`,
      partnerText: `The gateway cannot send the transaction at the moment. It tries again until ${isoText(deadlineMs)}.`,
      sinceMs: acceptedAtMs,
      untilMs: deadlineMs,
    });
  }
  const why =
    refusal === 'short_balance' && shortBy !== undefined
      ? `the payer’s balance is short by ${shortBy}`
      : (refusalsOn(network.chainId)[refusal] ?? 'the chain refuses it without a known reason');
  const next = retryAtMs === null ? '' : ` The next try is at ${isoText(retryAtMs)}.`;
  return waitFor('refused', {
    text: `It cannot be carried out now: ${why}. We try again until ${isoText(deadlineMs)}.${next}`,
    partnerText: `It cannot be carried out now: ${why}. The gateway tries again until ${isoText(deadlineMs)}.`,
    sinceMs: acceptedAtMs,
    untilMs: deadlineMs,
  });
}

function stopped({ what, reason, by, sinceMs, lift }: StopFacts, fromMs: number, untilMs: number): Wait {
  const since = sinceMs === undefined ? '' : ` since ${isoText(sinceMs)}`;
  const actor = by === undefined ? '' : ` by ${by}`;
  return waitFor('stopped', {
    text: `${what}${since}${actor}: ${reason}. \`${lift}\` ends it; otherwise this wait is over at ${isoText(untilMs)}.`,
    partnerText: 'The operator of the gateway has stopped this payment. Ask the operator.',
    sinceMs: sinceMs ?? fromMs,
    untilMs,
  });
}

function undetermined({ sinceMs }: WaitFacts): Wait {
  return waitFor('undetermined', {
    text: 'It is processing, and no open attempt is stored. The watcher decides it by the chain; `till reconcile` names what is missing.',
    partnerText: 'The outcome is being determined.',
    sinceMs,
  });
}

function alertOf({ alerts }: NetworkFacts, name: AlertName): AlertFacts | undefined {
  return alerts.find((alert) => alert.name === name);
}
