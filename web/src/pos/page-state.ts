import type { PayableCurrency } from '../../../src/domain/currency.ts';
import type { PosWords } from './pos-words.ts';

/** The state that the server embeds in the document. It contains no personal data, because browsers store the document. */
export interface PosState {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: PosWords;
  readonly isSandbox: boolean;
  /**
   * The beginning of the QR code's link. The rest of the link is the payment's id without `pay_`. If null, the link is the gateway
   * URL.
   */
  readonly qrStart: string | null;
  readonly nowMs: number;
  /** The currencies in which payments can be priced, each with its modes. */
  readonly currencies: readonly PayableCurrency[];
}
