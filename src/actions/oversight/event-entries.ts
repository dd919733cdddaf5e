import { amountText } from '../../chains/amount-text.ts';
import type { Registry } from '../../chains/registry.ts';
import { storedUnit } from '../../chains/units.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import type { LateMoney, LateState } from '../../domain/late-money.ts';
import { symbolText } from '../../domain/money.ts';
import { publicProblem, type RefundProblem } from '../../domain/refund.ts';
import { isoText } from '../../domain/wait-words.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { TimelineEntry } from './entry.ts';
import type { History } from './history.ts';

/** The evidence that partners may see. All other values, such as names of lists and accounts of ours, are for operators alone. */
const PUBLIC_EVIDENCE = ['network', 'transaction', 'block', 'blockHash', 'fork', 'by'];

/** The timeline entries about events of the payment, its payout and its refund. */
export function eventEntries({ payment, events, keyLabels }: History, registry: Registry): TimelineEntry[] {
  return events.map(({ type, at, actor, data, evidence }) => {
    const summary = summaryOf(type, { data, evidence });
    const amount = type === 'payment.succeeded' ? paidText(registry, payment) : '';
    const detail = type === 'payment.created' ? orderText(registry, payment) : detailOf(registry, data, evidence);
    const problem = typeof data.problem === 'string' ? ` The reason: ${data.problem}.` : '';
    const label = keyLabels.get(actor);
    const [known, internals] = divide(evidence);
    return {
      at,
      what: type,
      text: `${summary}${amount}${detail}${problem} By ${actor}${label === undefined ? '' : ` (${label})`}.`,
      partnerText: `${summary}${amount}${detail}`,
      evidence: known,
      internals: { actor, ...internals },
    };
  });
}

type Facts = Readonly<Record<string, unknown>>;

/** A sentence about this event. The catalogue has only one sentence for each type of event. */
function summaryOf(type: EventType, { data, evidence }: { readonly data: Facts; readonly evidence: Facts }): string {
  if (type === 'payment.expired') return 'The time to pay is over.';
  if (type === 'payment.requires_action' && hasMovedNothing(evidence)) {
    return 'The last attempt to pay is over, and nothing was charged by it. The payment can be paid again.';
  }
  if (type === 'payment.late_money') {
    return 'Money arrived that did not count for the payment. The payer should get it back.';
  }
  if (type === 'refund.failed' && typeof data.problem === 'string') return REFUND_TEXTS[publicProblem(data.problem)];
  if (type !== 'payment.reorged') return EVENT_TYPES[type].summary;
  if (evidence.transaction !== undefined) return 'The payment is in the chain again after the reorganisation.';
  if (evidence.lost === true) {
    return 'A reorganisation deeper than final depth removed money from the deposit address. Unless the chain includes the transfer again, the payer has to send it again.';
  }
  const what = evidence.payout === undefined ? 'a transaction of the payment' : 'the payout of the payment';
  return `A reorganisation deeper than final depth removed ${what}. It is sent again.`;
}

/** True if all attempts ended unused. A used authorization may have moved money to the deposit address. */
function hasMovedNothing({ items }: Facts): boolean {
  return Array.isArray(items) && items.every(({ reason }) => reason !== 'used');
}

const REFUND_TEXTS: Readonly<Record<RefundProblem, string>> = {
  vetoed: 'The operator has ended the refund. It takes nothing of the payment.',
  not_left: 'The refund failed: so much was not left of the payment. It takes nothing of the payment.',
  recipient_screened: 'The refund failed: the recipient is on the screening list.',
  recipient_blacklisted: 'The refund failed: the token refuses the recipient.',
  not_received: 'The refund failed: the transfer could not be carried out.',
};

function orderText(
  registry: Registry,
  { amountUnit, amountValue, amountDecimals, referenceId, expiresAt }: Payment,
): string {
  const { symbol, decimals } = storedUnit(registry, amountUnit, amountDecimals);
  const price = symbolText({ units: BigInt(amountValue), decimals }, symbol);
  return ` ${price}, reference ${JSON.stringify(referenceId)}, payable until ${isoText(expiresAt.getTime())}.`;
}

/** The amount that paid the payment. Late money has other entries. */
function paidText(registry: Registry, { tokenAsset, tokenValue }: Payment): string {
  return tokenAsset === null || tokenValue === null ? '' : ` ${amountText(registry, tokenAsset, tokenValue)}.`;
}

/** The block and transaction that proved the change, or the transfer that the change began. */
function detailOf(
  registry: Registry,
  data: Readonly<Record<string, unknown>>,
  evidence: Readonly<Record<string, unknown>>,
): string {
  const { transaction, block, fork } = evidence;
  const { lateMoney } = data as { lateMoney?: LateMoney };
  if (lateMoney !== undefined) return lateText(registry, lateMoney);
  if (transaction !== undefined)
    return ` Transaction ${transaction}${block === undefined ? '' : ` in block ${block}`}.`;
  if (fork !== undefined) return ` Block ${fork} is the last one that stayed.`;
  const { asset, amount, recipient } = data;
  if (asset === undefined || amount === undefined || recipient === undefined) return '';
  return ` ${amountText(registry, String(asset), String(amount))} to ${recipient}.`;
}

/** The text about late money: with its reason when it arrives, and with the state of its return after a change. */
function lateText(registry: Registry, { asset, amount, reason, status, destination, problem }: LateMoney): string {
  const money = amountText(registry, asset, amount);
  if (status === undefined) return ` ${money}: ${LATE_TEXTS[reason]}.`;
  if (status === 'unclaimed') return ` ${money}: it was not returned${problem == null ? '' : ` (${problem})`}.`;
  return ` ${money} to ${destination}: ${STATUS_TEXTS[status]}.`;
}

const STATUS_TEXTS: Readonly<Record<Exclude<LateState, 'unclaimed'>, string>> = {
  requested: 'its return was requested',
  returning: 'it is on its way',
  returned: 'it has arrived',
};

const LATE_TEXTS: Readonly<Record<LateMoney['reason'], string>> = {
  late: 'it came too late',
  overpaid: 'it is more than was asked',
  underpaid: 'it was too little when the time to pay was over',
  paid_twice: 'the payment was paid already',
  wrong_token: 'it is another token than the deposit address asks for',
  wrong_network: 'it came to the deposit address on another network',
};

function divide(evidence: Readonly<Record<string, unknown>>) {
  const isPublic = ([name]: [string, unknown]) => PUBLIC_EVIDENCE.includes(name);
  const all = Object.entries(evidence);
  return [Object.fromEntries(all.filter(isPublic)), Object.fromEntries(all.filter((each) => !isPublic(each)))] as const;
}
