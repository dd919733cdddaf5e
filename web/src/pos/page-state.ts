import type { PayableCurrency } from '../../../src/domain/currency.ts';
import type { PosWords } from './pos-words.ts';

/** The state that the server embeds in the document. It contains no personal data, because browsers store the document. */
export interface PosState {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: PosWords;
  readonly isSandbox: boolean;
  /** The beginning of the QR code's link, before the payment's id without its prefix. If null, the link is the gateway URL. */
  readonly qrStart: string | null;
  readonly nowMs: number;
  /** The currencies that can be paid here in some mode. */
  readonly currencies: readonly PayableCurrency[];
}
