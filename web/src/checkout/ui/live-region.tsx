import { fill } from '../../shared/text.ts';
import { type Flow, progressOf } from '../flow-state.ts';
import type { Strings } from '../strings/en.ts';
import { progressText } from './confirming.tsx';
import { useWords } from './words.ts';

interface LiveRegionProps {
  readonly flow: Flow;
  readonly nowMs: number;
  readonly copied: string | null;
}

/** Announces to screen readers the changes that do not move the focus: waiting, status changes and the remaining time. */
export function LiveRegion({ flow, nowMs, copied }: LiveRegionProps) {
  const { strings } = useWords();
  const leftMs = flow.payment.expiresAt * 1000 - nowMs;
  const isShort = flow.payment.status === 'requires_action' && leftMs > 0 && leftMs <= 60_000;
  return (
    <div className="unseen" role="status" aria-live="polite">
      <p>{connectionText(flow, strings)}</p>
      <p>{stepText(flow, nowMs, strings)}</p>
      <p>{flow.step.at === 'ended' && flow.payment.lateMoney?.length ? strings.lateMoney : ''}</p>
      <p>{copied === null ? '' : strings.copied}</p>
      <p>{isShort ? strings.oneMinuteLeft : ''}</p>
    </div>
  );
}

function connectionText({ connection }: Flow, strings: Strings): string {
  if (connection === 'good') return '';
  return connection === 'offline' ? strings.offline : strings.away;
}

/** The text about the present step, if the payer did not start the step or the step does not move the focus. Otherwise empty. */
function stepText(flow: Flow, nowMs: number, strings: Strings): string {
  const { step, payment } = flow;
  switch (step.at) {
    case 'connecting':
    case 'asking':
      return step.isSlow ? strings.slowWallet : '';
    case 'confirming':
      return progressText(progressOf(payment, step, nowMs), flow, strings);
    case 'mining':
      return strings.miningText;
    case 'ended':
      return payment.status === 'succeeded' ? fill(strings.paidText, { merchant: payment.merchant.name }) : '';
    default:
      return '';
  }
}
