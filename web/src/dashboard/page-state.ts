import type { Strings } from './strings/en.ts';

/** The state that the server puts into the document of the dashboard. */
export interface DashboardState {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: Strings;
  readonly isSandbox: boolean;
  /** The gateway's time. The clock of the person may be wrong by an hour. */
  readonly nowMs: number;
  /** Differs from one version of the dashboard to the next. The header `Till-Build` has the present one. */
  readonly build: string;
  /** The currencies that somebody could pay here, with the decimals of the gateway: browsers have others for some. */
  readonly currencies: readonly { readonly code: string; readonly decimals: number }[];
}
