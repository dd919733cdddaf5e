import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { formatAmount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { clamp, fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Payment, PaymentTimeline, SignedReceipt } from '../api-types.ts';
import { download } from '../export-file.ts';
import { useLivePayments } from '../follow.ts';
import { plainText } from '../plain-text.ts';
import { useMay, useMerchantName } from '../queries.ts';
import { leftToRefund } from '../refunded.ts';
import { useAcceptedNames } from '../ui/accepted-assets.tsx';
import { LateMoneyList } from '../ui/late-money.tsx';
import { ListState } from '../ui/list-state.tsx';
import { MoneyFlow, useReceipt } from '../ui/money-flow.tsx';
import { Code, Dialog, Notice, problemOf, RefundBadge, StatusBadge, Time, useTitle } from '../ui/parts.tsx';
import { PaymentDeliveries } from '../ui/payment-deliveries.tsx';
import { RefundDialog } from '../ui/refund-dialog.tsx';
import { useChange } from '../ui/use-change.ts';
import { usePageState, useTimes, useWords } from '../words.ts';

export function PaymentPage() {
  const words = useWords();
  const style = usePageState();
  const { merchantId, paymentId } = useParams({ from: '/shell/payments/$merchantId/$paymentId' });
  useLivePayments();
  const path = `/v1/payments/${encodeURIComponent(paymentId)}`;
  const { data: payment, error } = useQuery({
    queryKey: ['payments', 'one', paymentId],
    queryFn: ({ signal }) => call<Payment>('GET', path, { merchantId, signal }),
  });
  const { data: timeline } = useQuery({
    queryKey: ['payments', 'timeline', paymentId],
    queryFn: ({ signal }) => call<PaymentTimeline>('GET', `${path}/timeline`, { merchantId, signal }),
    // While the payment waits for blocks, the timeline is polled, because new blocks cause no events.
    refetchInterval: ({ state }) => (state.data?.waiting == null ? false : 5_000),
  });
  const amount = payment === undefined ? '' : formatAmount(payment.amount, style);
  useTitle(payment === undefined ? words.payments : amount);
  if (payment === undefined) return <ListState error={error} />;
  return <LoadedPayment payment={payment} amount={amount} timeline={timeline} />;
}

interface PaymentProps {
  readonly payment: Payment;
  readonly amount: string;
  readonly timeline: PaymentTimeline | undefined;
}

function LoadedPayment({ payment, amount, timeline }: PaymentProps) {
  const words = useWords();
  const times = useTimes();
  const receipt = useReceipt(payment);
  return (
    <>
      <Link to="/payments" className="back-link">
        {words.payments}
      </Link>
      <header className="page-head">
        <div>
          <h1 className="payment-title">
            {amount} <StatusBadge {...payment} />
          </h1>
          <p className="soft">
            <bdi>{clamp(payment.referenceId, 60)}</bdi>
          </p>
        </div>
        <Actions payment={payment} />
      </header>
      {timeline?.waiting != null && (
        <div className="notice notice-warm waiting" role="status">
          <p>
            <bdi lang="en">{plainText(timeline.waiting.text, times.full)}</bdi>
          </p>
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
                <p>
                  <bdi lang="en">{plainText(entry.text, times.full)}</bdi>
                </p>
                <p className="soft small">
                  <Time at={entry.at} isExact />
                  {entry.block !== undefined && ` · ${fill(words.evidence, { block: String(entry.block) })}`}
                  <TransactionLink chainId={entry.network} hash={entry.transaction} />
                </p>
              </li>
            ))}
          </ol>
        </section>
        <div className="stack">
          {receipt !== undefined && <MoneyFlow payment={payment} receipt={receipt} />}
          <Facts payment={payment} receipt={receipt} />
          <Refunds payment={payment} />
          <LateMoneyList payment={payment} />
          <PaymentDeliveries payment={payment} />
        </div>
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

interface FactsProps {
  readonly payment: Payment;
  readonly receipt: SignedReceipt | undefined;
}

function Facts({ payment, receipt }: FactsProps) {
  const words = useWords();
  const style = usePageState();
  const times = useTimes();
  const merchant = useMerchantName(payment.merchantId);
  const namesOf = useAcceptedNames();
  const { info, settlement, description } = payment;
  const href = info && transactionPath(chainOf(info.optionAmount.unit), info.txId);
  return (
    <section aria-labelledby="details" className="card">
      <h2 id="details">{words.details}</h2>
      <dl className="facts">
        <Fact name={words.merchant}>
          <bdi>{clamp(merchant ?? payment.merchantId, 60)}</bdi>
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
        {payment.acceptedAssets !== null && <Fact name={words.acceptedAssets}>{namesOf(payment.acceptedAssets)}</Fact>}
        {payment.status === 'succeeded' && (
          <Fact name={words.settlement}>{settlement === null ? words.unsettled : words.settled}</Fact>
        )}
        {payment.status === 'succeeded' && (
          <Fact name={words.receipt}>
            {receipt !== undefined && (
              <a href={receipt.pageUrl} target="_blank" rel="noreferrer">
                {words.openReceipt}
              </a>
            )}{' '}
            {receipt !== undefined && (
              <button type="button" className="quiet small" onClick={() => saveReceipt(payment.id, receipt)}>
                {words.saveReceipt}
              </button>
            )}
          </Fact>
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

/** Saves the receipt as a file. Anybody can verify it with the chain and the operator's public keys. */
function saveReceipt(paymentId: string, receipt: SignedReceipt): void {
  download(new Blob([JSON.stringify(receipt, null, 2)], { type: 'application/json' }), `receipt-${paymentId}.json`);
}

function Refunds({ payment }: { readonly payment: Payment }) {
  const words = useWords();
  const style = usePageState();
  const { refunds = [] } = payment;
  if (refunds.length === 0) return null;
  return (
    <section aria-labelledby="refunds">
      <h2 id="refunds">{words.refunds}</h2>
      <ul className="plain-list">
        {refunds.map(({ refundId, status, problem, priceAmount, reason, requestedAt }) => (
          <li key={refundId}>
            <span className="person-names">
              <span>{formatAmount(priceAmount, style)}</span>
              {reason !== null && (
                <span className="soft small">
                  <bdi>{clamp(reason, 120)}</bdi>
                </span>
              )}
              {problem !== null && <span className="soft small">{problemOf(words, problem)}</span>}
            </span>
            <RefundBadge status={status} problem={problem} />
            <span className="soft small">
              <Time at={requestedAt} />
            </span>
          </li>
        ))}
      </ul>
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

function Actions({ payment }: { readonly payment: Payment }) {
  const words = useWords();
  const [asked, setAsked] = useState<'refund' | 'cancel'>();
  const mayRefund = useMay('refunds:write') && leftToRefund(payment) > 0n;
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
      {asked === 'refund' && <RefundDialog payment={payment} onClose={() => setAsked(undefined)} />}
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
  readonly payment: Payment;
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
