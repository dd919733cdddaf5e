import { useEffect } from 'react';
import { clamp } from '../../shared/text.ts';
import type { Flow } from '../flow-state.ts';
import type { Strings } from '../strings/en.ts';

/** Shows the outcome in the document's title, for a payer in another tab. */
export function useEndTitle({ payment }: Flow, strings: Strings): void {
  const { status, merchant } = payment;
  useEffect(() => {
    const key = ENDINGS[status];
    if (key !== undefined) document.title = `${strings[key]} · ${clamp(merchant.name, 64)}`;
  }, [status, merchant.name, strings]);
}

const ENDINGS: Partial<Record<Flow['payment']['status'], keyof Strings>> = {
  succeeded: 'paidTitle',
  failed: 'failedTitle',
  expired: 'expiredTitle',
  cancelled: 'cancelledTitle',
};
