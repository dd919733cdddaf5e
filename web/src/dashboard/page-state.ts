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
  /** Different for each version of the dashboard. The header `Till-Build` contains the version that the gateway serves now. */
  readonly build: string;
  /** The currencies that can be paid here in some mode. */
  readonly currencies: readonly PayableCurrency[];
}
