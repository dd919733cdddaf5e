import { formatAmount, type NumberStyle } from '../shared/money.ts';
import type { LateMoney, ListedLateMoney } from './api-types.ts';
import type { Strings } from './strings/en.ts';

export const LATE_WORDS = {
  unclaimed: ['lateUnclaimed', 'badge-requires_action'],
  requested: ['refundRequested', 'badge-processing'],
  returning: ['refundSending', 'badge-processing'],
  returned: ['lateReturned', 'badge-refund'],
} as const satisfies Record<LateMoney['status'], readonly [keyof Strings, string]>;

export const REASON_WORDS = {
  late: 'reasonLate',
  overpaid: 'reasonOverpaid',
  underpaid: 'reasonUnderpaid',
  paid_twice: 'reasonPaidTwice',
  wrong_token: 'reasonWrongToken',
  wrong_network: 'reasonWrongNetwork',
} as const satisfies Record<LateMoney['reason'], keyof Strings>;

/**
 * The label that the list of payments shows for a payment's late money. The text begins with the amounts, because its end may be cut.
 * The title has a line for each amount, with its reason and status.
 */
export function lateMark(
  lateMoney: readonly ListedLateMoney[] | undefined,
  words: Strings,
  style: NumberStyle,
): { readonly text: string; readonly title: string } | null {
  if (lateMoney === undefined || lateMoney.length === 0) return null;
  const amounts = lateMoney.map(({ amount }) => formatAmount(amount, style));
  const lines = lateMoney.map(
    ({ reason, status }, index) =>
      `${amounts[index]}: ${words[REASON_WORDS[reason]]}. ${words[LATE_WORDS[status][0]]}.`,
  );
  return { text: `${amounts.join(', ')} · ${words.lateMoney}`, title: lines.join('\n') };
}
