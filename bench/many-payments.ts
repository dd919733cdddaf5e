import { measureDashboard } from './dashboard.ts';
import type { Measurement } from './figures.ts';
import { addMerchants, HIGH_LIMITS, startGateway } from './gateway.ts';
import { measureLists } from './lists.ts';
import { loadPayments } from './loader.ts';

const PAYMENTS = 10_000_000;
/** One merchant has a tenth of all payments. It is the one after these. */
const OTHERS = 900;

/** Lists and the dashboard of a partner with ten million payments, which are loaded once for both. */
export const manyPaymentsMeasurement: Measurement = {
  names: ['lists', 'lists_combined', 'dashboard'],
  isLarge: true,
  async measure(wanted, { payments = PAYMENTS }) {
    // A busy machine must not turn the measured lists away.
    const started = await startGateway({ ...HIGH_LIMITS, MAX_EVENT_LOOP_DELAY_MS: '0' });
    await addMerchants(started, OTHERS + 1);
    const largest = Math.round(payments / 10);
    const perMerchant = Math.round((payments - largest) / OTHERS);
    const gateway = await started.restart((sql) => loadPayments(sql, { merchants: OTHERS, perMerchant, largest }));
    try {
      return [
        ...(await measureLists(gateway, OTHERS + 1, wanted)),
        ...(wanted.has('dashboard') ? await measureDashboard(gateway) : []),
      ];
    } finally {
      await gateway.stop();
    }
  },
};
