import { latinDigits } from '../../../../src/domain/latin-digits.ts';
import { lateLines } from '../ending.ts';
import type { PaymentStatus, RecentPayment } from '../kept.ts';
import type { Strings } from '../strings/en.ts';
import { useMoney, usePageState } from './words.ts';

const STATUS_WORDS = {
  requires_action: 'statusOpen',
  processing: 'statusProcessing',
  succeeded: 'paidTitle',
  failed: 'failedTitle',
  expired: 'expiredTitle',
  cancelled: 'cancelledTitle',
} as const satisfies Record<PaymentStatus, keyof Strings>;

/** The last payments of this device, with their last known status. */
export function Recent({ payments }: { readonly payments: readonly RecentPayment[] }) {
  const state = usePageState();
  const { strings, locale } = state;
  const money = useMoney();
  const time = new Intl.DateTimeFormat(latinDigits(locale), { dateStyle: 'short', timeStyle: 'short' });
  return (
    <section className="recent" aria-labelledby="recent-title">
      <h2 id="recent-title">{strings.recent}</h2>
      {payments.length === 0 && <p className="soft">{strings.noRecent}</p>}
      <ul>
        {payments.map(({ id, total, currency, decimals, status, lateMoney = [], atMs }) => (
          <li key={id}>
            <bdi className="recent-amount">{money(total, currency, decimals)}</bdi>
            <span className={`badge badge-${status}`}>{strings[STATUS_WORDS[status]]}</span>
            {lateLines(lateMoney, strings, state)?.rows.map(({ label, value }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines are in the order of their arrival
              <span key={index} className="recent-late">
                {label}: <bdi>{value}</bdi>
              </span>
            ))}
            <time className="soft" dateTime={new Date(atMs).toISOString()}>
              {time.format(atMs)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}
