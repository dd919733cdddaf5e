import type { Amount } from '../shared/money.ts';

/** The page of a payment link. The server renders it whole: it has no script. */
export type LinkPageState = OpenLink | LinkMessage;

interface InLanguage {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
}

interface OpenLink extends InLanguage {
  readonly kind: 'link';
  readonly isSandbox: boolean;
  /** True if the merchant has switched the name of the gateway off. */
  readonly hidesPoweredBy: boolean;
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  readonly description: string;
  readonly pictureUrl: string | null;
  /** The price. Null if the payer chooses an amount between the bounds. */
  readonly amount: Amount | null;
  readonly minimum: Amount | null;
  readonly maximum: Amount | null;
  /** Pieces that are left; null without a stock. */
  readonly left: number | null;
  /** The reason why it takes no payments now. */
  readonly closed: 'inactive' | 'expired' | 'sold_out' | 'merchant' | null;
  readonly form: {
    readonly action: string;
    /** The same form sent twice creates one payment. */
    readonly once: string;
    /** The amount that was typed and refused. */
    readonly refused: string | null;
  };
}

interface LinkMessage extends InLanguage {
  readonly kind: 'not_found' | 'busy' | 'unavailable';
}
