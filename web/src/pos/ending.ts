import { returnTextOf } from '../../../src/domain/late-money.ts';
import type { LateMoney } from '../shared/late-money.ts';
import { formatAmount, type NumberStyle } from '../shared/money.ts';
import type { PaymentStatus } from './kept.ts';
import type { PosWords } from './pos-words.ts';

const ENDINGS = {
  succeeded: ['paidTitle', undefined],
  expired: ['expiredTitle', 'expiredText'],
  cancelled: ['cancelledTitle', 'cancelledText'],
  failed: ['failedTitle', 'failedText'],
} as const satisfies Partial<Record<PaymentStatus, readonly [keyof PosWords, keyof PosWords | undefined]>>;

export type FinalStatus = keyof typeof ENDINGS;

export function isFinal(status: PaymentStatus): status is FinalStatus {
  return status in ENDINGS;
}

export interface Ending {
  readonly title: string;
  readonly text: string | undefined;
  readonly late: LateLines | null;
  /**
   * True if the cashier may charge the order again. False if it is paid, or if money has arrived that is not returned: the payer
   * would pay the whole amount in addition.
   */
  readonly mayChargeAgain: boolean;
}

export interface LateLines {
  readonly title: string;
  readonly rows: readonly { readonly label: string; readonly value: string }[];
  /** A text about the return of the late money. */
  readonly text: string;
}

/** The texts of a payment that has ended. */
export function endingOf(
  { status, lateMoney = [] }: { readonly status: FinalStatus; readonly lateMoney?: readonly LateMoney[] | undefined },
  words: PosWords,
  style: NumberStyle,
): Ending {
  const [title, text] = ENDINGS[status];
  return {
    title: words[title],
    text: text && words[text],
    late: lateLines(lateMoney, words, style),
    mayChargeAgain: status !== 'succeeded' && lateMoney.every((money) => money.status === 'returned'),
  };
}

export function lateLines(lateMoney: readonly LateMoney[], words: PosWords, style: NumberStyle): LateLines | null {
  if (lateMoney.length === 0) return null;
  return {
    title: words.lateMoney,
    rows: lateMoney.map(({ reason, amount }) => ({ label: words[reason], value: formatAmount(amount, style) })),
    text: words[returnTextOf(lateMoney.map(({ status }) => status))],
  };
}
