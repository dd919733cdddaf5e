import { type ReactNode, useEffect, useState } from 'react';
import { CheckGlyph, CrossGlyph } from '../../shared/glyphs.tsx';
import { qrShape } from '../../shared/qr.ts';
import type { ServerClock } from '../../shared/server-clock.ts';
import { fill } from '../../shared/text.ts';
import { timeLeft } from '../../shared/time-left.ts';
import { endingOf, type FinalStatus, isFinal, type LateLines } from '../ending.ts';
import { type OpenOrder, totalOf } from '../kept.ts';
import type { Pos } from '../pos.ts';
import type { PosView } from '../pos-state.ts';
import { useMoney, usePageState, useWords } from './words.ts';

interface TakingProps {
  readonly pos: Pos;
  readonly view: PosView;
  readonly open: OpenOrder;
  readonly clock: ServerClock;
}

export function Taking(props: TakingProps) {
  const { view, open } = props;
  const money = useMoney();
  const { status } = view;
  const amount = money(totalOf(open.order), open.order.currency, open.order.decimals);
  if (status !== null && isFinal(status)) return <Ended {...props} amount={amount} status={status} />;
  return <Waiting {...props} amount={amount} />;
}

function Waiting({ pos, view, open, clock, amount }: TakingProps & { readonly amount: string }) {
  const words = useWords();
  const { payment } = open;
  const isProcessing = view.status === 'processing';
  const isRefused = view.problem?.kind === 'refused';
  const title = payment === null ? words.creatingTitle : isProcessing ? words.processingTitle : words.waitingTitle;
  return (
    <section className="taking" aria-labelledby="taking-title">
      <p className="taking-amount">
        <bdi>{amount}</bdi>
      </p>
      {payment === null || isProcessing ? <div className="turning" aria-hidden="true" /> : <Qr payment={payment} />}
      <div role="status" className="taking-text">
        <h2 id="taking-title">{title}</h2>
        {isProcessing && <p>{words.processingText}</p>}
        {payment !== null && !isProcessing && <p>{words.waitingText}</p>}
      </div>
      {view.problem?.kind === 'refused' && (
        <p className="problem" role="alert">
          {view.problem.message}
        </p>
      )}
      {payment !== null && !isProcessing && <Countdown expiresAtS={payment.expiresAtS} clock={clock} />}
      {!isProcessing && !isRefused && (
        <button type="button" className="quiet wide" disabled={view.isCancelling} onClick={() => void pos.cancel()}>
          {words.cancel}
        </button>
      )}
      {isRefused && (
        <button type="button" className="main wide" onClick={pos.done}>
          {words.newPayment}
        </button>
      )}
    </section>
  );
}

/** The QR code of a payment, black on white in both themes, with the quiet zone that scanners need. */
function Qr({ payment }: { readonly payment: NonNullable<OpenOrder['payment']> }) {
  const words = useWords();
  const { qrStart } = usePageState();
  const url = qrStart === null ? payment.gatewayUrl : qrStart + payment.id.slice('pay_'.length);
  const { size, path } = qrShape(url);
  return (
    <svg
      className="qr-code"
      viewBox={`-4 -4 ${size + 8} ${size + 8}`}
      role="img"
      aria-label={words.qrLabel}
      data-url={url}
    >
      <rect x="-4" y="-4" width={size + 8} height={size + 8} className="qr-light" />
      <path d={path} className="qr-dark" />
    </svg>
  );
}

/** The time left to pay, by the gateway's clock, because the device's clock may be wrong. Only the gateway ends the payment. */
function Countdown({ expiresAtS, clock }: { readonly expiresAtS: number; readonly clock: ServerClock }) {
  const { strings, locale } = usePageState();
  const [nowMs, setNowMs] = useState(clock.nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(clock.nowMs()), 1_000);
    return () => clearInterval(timer);
  }, [clock]);
  const { text } = timeLeft(expiresAtS, nowMs, locale);
  return (
    <p className="soft" role="timer">
      {fill(strings.timeLeft, { time: text })}
    </p>
  );
}

interface EndedProps extends TakingProps {
  readonly amount: string;
  readonly status: FinalStatus;
}

function Ended({ pos, view, open, amount, status }: EndedProps): ReactNode {
  const words = useWords();
  const style = usePageState();
  const lateMoney = view.kept.recent.find(({ id }) => id === open.payment?.id)?.lateMoney;
  const { title, text, late, mayChargeAgain } = endingOf({ status, lateMoney }, words, style);
  const isPaid = status === 'succeeded';
  const again = () => {
    pos.done();
    pos.charge(open.order.amount, open.order.tip);
  };
  return (
    <section className={isPaid ? 'taking ended ended-paid' : 'taking ended'} aria-labelledby="taking-title">
      <div className="ended-mark" aria-hidden="true">
        {isPaid ? <CheckGlyph /> : <CrossGlyph />}
      </div>
      <div role="status" className="taking-text">
        <h2 id="taking-title">{title}</h2>
        {text !== undefined && <p>{text}</p>}
      </div>
      <p className="taking-amount">
        <bdi>{amount}</bdi>
      </p>
      {late !== null && <Late {...late} />}
      {mayChargeAgain && (
        <button type="button" className="quiet wide" onClick={again}>
          {words.again}
        </button>
      )}
      <button type="button" className="main wide" onClick={pos.done}>
        {words.newPayment}
      </button>
    </section>
  );
}

/** Money that arrived and did not count for the payment. */
function Late({ title, rows, text }: LateLines) {
  return (
    <div className="late" role="status">
      <dl aria-label={title}>
        {rows.map(({ label, value }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are in the order of their arrival
          <div key={index}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <p>{text}</p>
    </div>
  );
}
