import type { PayableCurrency } from '../../../src/domain/currency.ts';
import type { Strings } from './strings/en.ts';

export interface DashboardState {
  /** BCP 47. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  readonly strings: Strings;
  readonly isSandbox: boolean;
  /** The gateway's time. The person's clock may be wrong by an hour. */
  readonly nowMs: number;
  /** The id of this version of the dashboard. The header `Till-Build` has the id of the version that the gateway serves now. */
  readonly build: string;
  /** The currencies in which payments can be priced, each with its modes. */
  readonly currencies: readonly PayableCurrency[];
}
