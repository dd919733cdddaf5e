import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { formatAmount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { clamp, fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import { useLivePayments } from '../follow.ts';
import { plainText } from '../plain-text.ts';
import { useMay, useMerchants } from '../queries.ts';
import type { PaymentDetails, Timeline } from '../shapes.ts';
import { Code, Dialog, Notice, StatusBadge, Time, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { useChange } from '../ui/use-change.ts';
import { usePageState, useTimes, useWords } from '../words.ts';

export function PaymentPage() {
  const words = useWords();
  const style = usePageState();
  const { merchantId, paymentId } = useParams({ from: '/shell/payments/$merchantId/$paymentId' });
  const times = useTimes();
  useLivePayments();
  const path = `/v1/payments/${encodeURIComponent(paymentId)}`;
  const { data: payment, error } = useQuery({
    queryKey: ['payments', 'one', paymentId],
    queryFn: ({ signal }) => call<PaymentDetails>('GET', path, { merchantId, signal }),
  });
  const { data: timeline } = useQuery({
    queryKey: ['payments', 'timeline', paymentId],
    queryFn: ({ signal }) => call<Timeline>('GET', `${path}/timeline`, { merchantId, signal }),
    // Blocks come without events.
    refetchInterval: ({ state }) => (state.data?.waiting == null ? false : 5_000),
  });
  const amount = payment === undefined ? '' : formatAmount(payment.amount, style);
  useTitle(payment === undefined ? words.payments : amount);
  if (payment === undefined) {
    const text = problemText(words, error);
    return error === null ? <p className="empty">{words.loading}</p> : <Notice kind="bad">{text}</Notice>;
  }
  return (
    <>
      <Link to="/payments" className="back-link">
        {words.payments}
      </Link>
      <header className="page-head">
        <div>
          <h1 className="payment-title">
            {amount} <StatusBadge status={payment.status} refund={payment.refund} />
          </h1>
          <p className="soft">
            <bdi>{clamp(payment.referenceId, 60)}</bdi>
          </p>
        </div>
        <Actions payment={payment} amount={amount} />
      </header>
      {timeline?.waiting != null && (
        <div className="notice notice-warm waiting" role="status">
          <p>{plainText(timeline.waiting.text, times.full)}</p>
          <p className="small">
            <Fill text={words.waitingSince} time={<Time at={timeline.waiting.since} />} />
          </p>
        </div>
      )}
      <div className="columns">
        <section aria-labelledby="timeline">
          <h2 id="timeline">{words.timeline}</h2>
          <ol className="timeline">
            {timeline?.entries.map((entry, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries are only appended
              <li key={index} className={`entry entry-${entry.what.split('.')[0]}`}>
                <p>{plainText(entry.text, times.full)}</p>
                <p className="soft small">
                  <Time at={entry.at} />
                  <TransactionLink chainId={entry.network} hash={entry.transaction} />
                </p>
              </li>
            ))}
          </ol>
        </section>
        <Facts payment={payment} />
      </div>
    </>
  );
}

function TransactionLink({
  chainId,
  hash,
}: {
  readonly chainId: string | undefined;
  readonly hash: string | undefined;
}) {
  const words = useWords();
  const href = hash === undefined ? null : transactionPath(chainId, hash);
  if (href === null) return null;
  return (
    <>
      {' · '}
      <a href={href} target="_blank" rel="noreferrer">
        {words.transaction}
      </a>
    </>
  );
}

function Facts({ payment }: { readonly payment: PaymentDetails }) {
  const words = useWords();
  const style = usePageState();
  const times = useTimes();
  const merchant = useMerchants().find(({ id }) => id === payment.merchantId);
  const { info, settlement, description } = payment;
  const href = info && transactionPath(chainOf(info.optionAmount.unit), info.txId);
  return (
    <section aria-labelledby="details" className="card">
      <h2 id="details">{words.details}</h2>
      <dl className="facts">
        <Fact name={words.merchant}>
          <bdi>{clamp(merchant?.name ?? payment.merchantId, 60)}</bdi>
        </Fact>
        {info !== null && (
          <Fact name={words.paidWith}>
            {formatAmount(info.optionAmount, style)}
            {info.optionAmount.display.networkName != null && (
              <span className="soft"> · {info.optionAmount.display.networkName}</span>
            )}
          </Fact>
        )}
        {info !== null && (
          <Fact name={words.transaction}>
            {href === null ? (
              <Code text={info.txId} label={words.transaction} />
            ) : (
              <a href={href} target="_blank" rel="noreferrer">
                <code dir="ltr">{`${info.txId.slice(0, 10)}…${info.txId.slice(-8)}`}</code>
              </a>
            )}
          </Fact>
        )}
        {payment.status === 'succeeded' && (
          <Fact name={words.settlement}>{settlement === null ? words.unsettled : words.settled}</Fact>
        )}
        {description !== null && (
          <Fact name={words.description}>
            <bdi>{clamp(description, 300)}</bdi>
          </Fact>
        )}
        <Fact name={words.created}>{times.full(payment.createdAt)}</Fact>
        {payment.status === 'requires_action' && (
          <Fact name={words.expires}>{times.full(payment.expiresAt * 1_000)}</Fact>
        )}
        <Fact name={words.paymentId}>
          <Code text={payment.id} label={words.paymentId} />
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Actions({ payment, amount }: { readonly payment: PaymentDetails; readonly amount: string }) {
  const words = useWords();
  const [asked, setAsked] = useState<'refund' | 'cancel'>();
  const mayRefund = useMay('refunds:write') && payment.status === 'succeeded' && payment.refund === undefined;
  const mayCancel = useMay('payments:write') && payment.status === 'requires_action';
  return (
    <div className="page-actions">
      {payment.status === 'requires_action' && (
        <a className="button quiet" href={payment.gatewayUrl} target="_blank" rel="noreferrer">
          {words.openCheckout}
        </a>
      )}
      {mayCancel && (
        <button type="button" className="quiet" onClick={() => setAsked('cancel')}>
          {words.cancelPayment}
        </button>
      )}
      {mayRefund && (
        <button type="button" className="main" onClick={() => setAsked('refund')}>
          {words.refund}
        </button>
      )}
      {asked === 'refund' && (
        <Question
          title={fill(words.refundTitle, { amount })}
          text={words.refundText}
          action={fill(words.refundButton, { amount })}
          payment={payment}
          // A payment is refunded once, so a repeated request changes nothing.
          send={() => call('POST', '/v1/refunds', { merchantId: payment.merchantId, body: { paymentId: payment.id } })}
          onClose={() => setAsked(undefined)}
        />
      )}
      {asked === 'cancel' && (
        <Question
          title={words.cancelTitle}
          text={words.cancelText}
          action={words.cancelPayment}
          payment={payment}
          send={() => call('POST', `/v1/payments/${payment.id}/cancel`, { merchantId: payment.merchantId })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}

interface QuestionProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly payment: PaymentDetails;
  readonly send: () => Promise<unknown>;
  readonly onClose: () => void;
}

function Question({ title, text, action, send, onClose }: QuestionProps) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const confirm = () =>
    run(async () => {
      await send();
      await client.invalidateQueries({ queryKey: ['payments'] });
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <div className="dialog-actions">
        <button type="button" className="quiet" onClick={onClose}>
          {words.keepIt}
        </button>
        <button type="button" className="main" disabled={isRunning} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
