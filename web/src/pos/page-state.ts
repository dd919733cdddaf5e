import type { Strings } from './strings/en.ts';

/** The state that the server puts into the document of the point of sale. It holds nothing of the person: browsers keep the document. */
export interface PosState {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: Strings;
  readonly isSandbox: boolean;
  /** The beginning of the link in the QR code: the payment's id without its prefix follows. Null: the gateway URL is the link. */
  readonly qrStart: string | null;
  readonly nowMs: number;
  /** The currencies that somebody could pay here, with the decimals of the gateway: browsers have others for some. */
  readonly currencies: readonly { readonly code: string; readonly decimals: number }[];
}
