import type { Amount } from '../shared/money.ts';

/** The page of a payment link. It has no script: the server renders everything. */
export type LinkPageState = OpenLink | LinkMessage;

interface InLanguage {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
}

interface OpenLink extends InLanguage {
  readonly kind: 'link';
  readonly isSandbox: boolean;
  /** True if the merchant hides the gateway's name. */
  readonly hidesPoweredBy: boolean;
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  readonly description: string;
  readonly pictureUrl: string | null;
  /** The price. Null if the payer chooses an amount between minimum and maximum. */
  readonly amount: Amount | null;
  readonly minimum: Amount | null;
  readonly maximum: Amount | null;
  /** The remaining stock. Null if the stock is unlimited. */
  readonly left: number | null;
  /** The reason why the link takes no payments now. Null if it takes payments. */
  readonly closed: 'inactive' | 'expired' | 'sold_out' | 'merchant' | null;
  readonly form: {
    readonly action: string;
    /** A random token of this form. If the form is sent twice, the server recognises the token and creates only one payment. */
    readonly once: string;
    /** The amount that the payer typed, if it was refused. */
    readonly refused: string | null;
  };
}

interface LinkMessage extends InLanguage {
  readonly kind: 'not_found' | 'busy' | 'unavailable';
}
