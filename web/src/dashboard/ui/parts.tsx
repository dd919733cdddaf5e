import { type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { CopyGlyph } from '../../shared/glyphs.tsx';
import type { Amount } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import type { ListedMerchant, PaymentRefund, PaymentStatus, WebhookEndpoint, WholeRefund } from '../api-types.ts';
import { sumOf } from '../refunded.ts';
import type { Strings } from '../strings/en.ts';
import { useTimes, useWords } from '../words.ts';

const STATUS_WORDS = {
  requires_action: 'statusRequiresAction',
  processing: 'statusProcessing',
  succeeded: 'statusSucceeded',
  failed: 'statusFailed',
  expired: 'statusExpired',
  cancelled: 'statusCancelled',
} as const satisfies Record<PaymentStatus, keyof Strings>;

export function statusText(words: Strings, status: PaymentStatus): string {
  return words[STATUS_WORDS[status]];
}

interface StatusProps {
  readonly status: PaymentStatus;
  readonly refund?: WholeRefund | undefined;
  readonly refunds?: readonly PaymentRefund[] | undefined;
  /** The price of the payment. */
  readonly amount?: Amount | undefined;
}

/** The status of a payment, or of its refund. */
export function StatusBadge({ status, refund, refunds = [], amount }: StatusProps) {
  const words = useWords();
  // A vetoed refund returns nothing, so the payment's own status is shown.
  if (refund !== undefined && refund.problem !== VETOED) return <RefundBadge {...refund} />;
  const done = refunds.filter((each) => each.status === 'refunded');
  if (done.length > 0) {
    const isWhole = sumOf(done) === BigInt(amount?.value ?? 0);
    if (isWhole) return <RefundBadge status="refunded" problem={null} />;
    return <span className="badge badge-refund">{words.statusPartlyRefunded}</span>;
  }
  return <span className={`badge badge-${status}`}>{statusText(words, status)}</span>;
}

/** The `problem` of a refund that the operator vetoed. */
const VETOED = 'vetoed';

export function RefundBadge({ status, problem }: Pick<WholeRefund, 'status' | 'problem'>) {
  const words = useWords();
  if (problem === VETOED) return <span className="badge badge-cancelled">{words.refundVetoed}</span>;
  if (status === 'failed') return <span className="badge badge-failed">{words.statusRefundFailed}</span>;
  const isDone = status === 'refunded';
  return <span className="badge badge-refund">{isDone ? words.statusRefunded : words.statusRefunding}</span>;
}

const PROBLEM_WORDS: Readonly<Record<string, keyof Strings>> = {
  vetoed: 'problemVetoed',
  not_left: 'problemNotLeft',
  recipient_screened: 'problemScreened',
  recipient_blacklisted: 'problemBlacklisted',
  not_received: 'problemNotReceived',
};

/** The reason why a refund failed. Undefined if it has not failed, or if this page does not know the reason. */
export function problemOf(words: Strings, problem: string | null): string | undefined {
  const word = problem === null ? undefined : PROBLEM_WORDS[problem];
  return word === undefined ? undefined : words[word];
}

const WAIT_WORDS: Readonly<Record<string, keyof Strings>> = {
  float: 'waitFloat',
  merchant_signature: 'waitSignature',
  network: 'waitNetwork',
  unfreeze: 'waitUnfreeze',
  cooling_off: 'waitCoolingOff',
};

/** The reason why a refund or return is waiting. Undefined if this page does not know the reason. */
export function waitText(
  words: Strings,
  { what }: { readonly what: string },
  values: { readonly amount: string; readonly time: string },
): string | undefined {
  const word = WAIT_WORDS[what];
  return word === undefined ? undefined : fill(words[word], values);
}

const MERCHANT_WORDS = {
  active: ['merchantActive', 'badge-succeeded'],
  inactive: ['merchantInactive', 'badge-expired'],
  suspended: ['merchantSuspended', 'badge-failed'],
} as const satisfies Record<ListedMerchant['status'], readonly [keyof Strings, string]>;

export function MerchantBadge({ status }: Pick<ListedMerchant, 'status'>) {
  const words = useWords();
  const [word, style] = MERCHANT_WORDS[status];
  return <span className={`badge ${style}`}>{words[word]}</span>;
}

export function EndpointBadge({ status }: Pick<WebhookEndpoint, 'status'>) {
  const words = useWords();
  const isActive = status === 'active';
  return (
    <span className={`badge ${isActive ? 'badge-succeeded' : 'badge-failed'}`}>
      {isActive ? words.endpointActive : words.endpointDisabled}
    </span>
  );
}

export function Time({ at, isExact = false }: { readonly at: string; readonly isExact?: boolean }) {
  const times = useTimes();
  // The tooltip is set on demand, because a table has many times and people point at few.
  const explain = (event: PointerEvent) => void event.currentTarget.setAttribute('title', times.full(at));
  return (
    <time dateTime={at} onPointerEnter={explain}>
      {isExact ? times.exact(at) : times.short(at)}
    </time>
  );
}

function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const words = useWords();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <button
      type="button"
      className="quiet icon-button"
      onClick={() => void copy()}
      aria-label={`${words.copy}: ${label}`}
    >
      {isCopied ? words.copied : <CopyGlyph />}
    </button>
  );
}

export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <span className="code">
      <code dir="ltr">{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

export function Field({ label, children }: { readonly label: string; readonly children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

export function Notice({ kind, children }: { readonly kind: 'bad' | 'warm' | 'good'; readonly children: ReactNode }) {
  return (
    <p className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

/** A native dialog, which traps the focus and closes on Escape. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} className="dialog" aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

export function PageHead({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) {
  return (
    <header className="page-head">
      <h1>{title}</h1>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Till`;
  }, [title]);
}

interface FormEndProps {
  readonly label: string;
  readonly isRunning: boolean;
  readonly problem: string | undefined;
  readonly onCancel: () => void;
}

/** The end of a dialog's form: the problem of the last attempt, and the buttons. */
export function FormEnd({ label, isRunning, problem, onCancel }: FormEndProps) {
  const words = useWords();
  return (
    <>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <div className="dialog-actions">
        <button type="button" className="quiet" onClick={onCancel}>
          {words.cancel}
        </button>
        <button type="submit" className="main" disabled={isRunning}>
          {label}
        </button>
      </div>
    </>
  );
}
