import type { ReactNode } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { CheckGlyph, SearchGlyph } from '../../shared/glyphs.tsx';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { timeLeft, unitText } from '../../shared/time-left.ts';
import type { Deposit } from '../api.ts';
import { type Flow, isWhole, type Progress, progressOf, type Step } from '../flow-state.ts';
import type { Attempt, TransactionView } from '../page-state.ts';
import type { Strings } from '../strings/en.ts';
import type { Copying } from './copy-button.tsx';
import { Moment } from './moment.tsx';
import { NoticeBox } from './notice.tsx';
import { TokenPicture } from './pictures.tsx';
import { TransactionOnItsWay } from './transaction-link.tsx';
import { useWords } from './words.ts';

interface ConfirmingProps extends Copying {
  readonly flow: Flow;
  readonly step: Extract<Step, { at: 'confirming' }>;
  readonly nowMs: number;
}

/** The progress of an authorised payment, and the reason for a delay. */
export function Confirming({ flow, step, nowMs, ...copying }: ConfirmingProps) {
  const { strings } = useWords();
  const { payment } = flow;
  const progress = progressOf(payment, step, nowMs);
  const transaction = payment.transaction ?? ownTransaction(step);
  return (
    <Moment
      tone="busy"
      mark={markOf(step, progress)}
      title={titleOf(progress, strings)}
      text={progressText(progress, flow, strings)}
    >
      {progress === 'refused' && payment.attempt != null && <Trying attempt={payment.attempt} nowMs={nowMs} />}
      <NoticeBox flow={flow} />
      {progress !== 'looking' && <Trail progress={progress} deposit={step.deposit ?? null} />}
      {progress === 'under_way' && <Eta seconds={step.choice?.option.etaS ?? 0} />}
      {transaction !== null && <TransactionOnItsWay transaction={transaction} {...copying} />}
    </Moment>
  );
}

function markOf({ choice }: ConfirmingProps['step'], progress: Progress): ReactNode {
  if (progress === 'looking') return <SearchGlyph />;
  return choice === null ? <CheckGlyph /> : <TokenPicture amount={choice.option.amount} />;
}

function titleOf(progress: Progress, strings: Strings): string {
  if (progress === 'delivering') return strings.deliverTitle;
  if (progress === 'looking') return strings.checkingTitle;
  return progress === 'refused' ? strings.waitingTitle : strings.confirmTitle;
}

/** The text about the progress, for the page and for the live region. */
export function progressText(progress: Progress, { payment }: Flow, strings: Strings): string {
  switch (progress) {
    case 'delivering':
      return strings.deliverText;
    case 'unseen':
      return strings.unseenText;
    case 'looking':
      return strings.checkingText;
    case 'refused':
      return refusalText(payment.attempt?.refusal, strings);
    case 'under_way':
      return strings.confirmText;
  }
}

/** The text that explains why the last attempt to execute the payment was refused. */
export function refusalText(refusal: string | undefined, strings: Strings): string {
  return strings[REFUSALS[refusal ?? ''] ?? 'waitingText'];
}

/** The keys of the texts for refusals. A refusal that is not listed here has the text `waitingText`. */
const REFUSALS: Readonly<Record<string, keyof Strings>> = {
  short_balance: 'waitingForBalance',
  short_allowance: 'waitingForAllowance',
  paused: 'waitingForPause',
  payer_blacklisted: 'waitingForIssuer',
  recipient_blacklisted: 'waitingForMerchant',
};

function Trying({ attempt, nowMs }: { readonly attempt: Attempt; readonly nowMs: number }) {
  const { strings, locale } = useWords();
  return (
    <p className="text" suppressHydrationWarning>
      <Fill text={strings.waitingUntil} time={timeLeft(attempt.triesUntil, nowMs, locale).text} />
    </p>
  );
}

function Trail({ progress, deposit }: { readonly progress: Progress; readonly deposit: Deposit | null }) {
  const { strings } = useWords();
  const whole = deposit !== null && isWhole(deposit) ? deposit : null;
  return (
    <ol className="trail">
      <li className="trail-done">{whole === null ? strings.stepSigned : strings.stepSeen}</li>
      <li className={progress === 'delivering' ? '' : 'trail-now'}>
        {whole === null ? (
          strings.stepSent
        ) : (
          <Fill text={strings.stepConfirmations} count={whole.confirmed} total={whole.confirmations} />
        )}
      </li>
      <li>{strings.stepFinal}</li>
    </ol>
  );
}

function Eta({ seconds }: { readonly seconds: number }) {
  const { strings, locale } = useWords();
  if (seconds === 0) return null;
  return (
    <p className="small" suppressHydrationWarning>
      <Fill text={strings.usuallyTakes} duration={unitText(seconds, 'second', locale)} />
    </p>
  );
}

/** The payer's own transaction, which the page knows before the gateway does. */
function ownTransaction({ txId, choice }: ConfirmingProps['step']): TransactionView | null {
  if (txId === null) return null;
  const chainId = choice === null ? undefined : chainOf(choice.option.amount.unit);
  return { txId, explorerUrl: transactionPath(chainId, txId) };
}
