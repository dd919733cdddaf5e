import { Fill } from '../../shared/fill.tsx';
import { timeLeft } from '../../shared/time-left.ts';
import type { Flow } from '../flow-state.ts';
import type { PaymentPage } from '../page-state.ts';
import { Order } from './order.tsx';
import { SummaryHead } from './summary-head.tsx';
import { useWords } from './words.ts';

interface SummaryProps {
  readonly page: PaymentPage;
  readonly flow: Flow;
  readonly nowMs: number;
}

/** Merchant, amount, order and deadline, visible in every step. */
export function Summary({ page, flow, nowMs }: SummaryProps) {
  const { strings } = useWords();
  const { merchant, amount } = flow.payment;
  // True while the countdown is shown. It is hidden once the payer has sent a transaction, even if the gateway has not seen the
  // transaction yet.
  const isOpen = flow.payment.status === 'requires_action' && flow.step.at !== 'confirming';
  return (
    <section className="summary" aria-labelledby="amount">
      <SummaryHead merchant={merchant} amount={amount} title={strings.payMerchant} />
      <Order page={page} />
      {isOpen && <Countdown expiresAtS={flow.payment.expiresAt} nowMs={nowMs} />}
    </section>
  );
}

/** The countdown as text and ring. The live region announces the time only at the last minute, not every second. */
function Countdown({ expiresAtS, nowMs }: { readonly expiresAtS: number; readonly nowMs: number }) {
  const { strings, locale } = useWords();
  const { text, percent, isShort } = timeLeft(expiresAtS, nowMs, locale);
  return (
    <p className={isShort ? 'countdown countdown-short' : 'countdown'} role="timer">
      <svg className="ring" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <circle className="ring-track" cx="12" cy="12" r="9" />
        <circle className="ring-left" cx="12" cy="12" r="9" pathLength="100" strokeDasharray={`${percent} 100`} />
      </svg>
      <span suppressHydrationWarning>
        <Fill text={strings.timeLeft} time={text} />
      </span>
    </p>
  );
}
