import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { formatAmount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { clamp, shortAccount } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import type { Refund, RefundPage } from '../api-types.ts';
import { useLivePayments } from '../follow.ts';
import { useMay, useMerchantName } from '../queries.ts';
import { REFUND_STATUSES } from '../statuses.ts';
import type { Strings } from '../strings/en.ts';
import { usePages } from '../ui/pages-list.ts';
import { Code, Notice, problemOf, Time, waitText } from '../ui/parts.tsx';
import { StatusList } from '../ui/status-list.tsx';
import { usePageState, useTimes, useWords } from '../words.ts';

const STATUS_WORDS = {
  requested: ['refundRequested', 'badge-processing'],
  awaiting_funds: ['refundAwaitingFunds', 'badge-requires_action'],
  sending: ['refundSending', 'badge-processing'],
  refunded: ['statusRefunded', 'badge-refund'],
  failed: ['statusRefundFailed', 'badge-failed'],
} as const satisfies Record<(typeof REFUND_STATUSES)[number], readonly [keyof Strings, string]>;

export function RefundsPage() {
  const words = useWords();
  const { status } = useSearch({ from: '/shell/refunds' });
  const navigate = useNavigate();
  // Refund events reload this list, because its query key begins with `payments`.
  useLivePayments();
  const list = usePages<RefundPage>(
    ['payments', 'refunds', status],
    (cursor) => `/v1/refunds${queryText({ limit: 50, status, cursor })}`,
  );
  const refunds = list.data?.pages.flatMap((page) => page.refunds);
  return (
    <StatusList
      title={words.refunds}
      empty={words.noRefunds}
      status={status}
      statuses={REFUND_STATUSES}
      statusWords={STATUS_WORDS}
      onStatus={(search) => void navigate({ to: '/refunds', search })}
      list={list}
      rows={refunds?.map((refund) => <RefundRow key={refund.refundId} refund={refund} />)}
    />
  );
}

function RefundRow({ refund }: { readonly refund: Refund }) {
  const words = useWords();
  const style = usePageState();
  const { paymentId, merchantId, amount, priceAmount, destination, status, problem, reason, txId } = refund;
  const [word, badge] = problem === 'vetoed' ? (['refundVetoed', 'badge-cancelled'] as const) : STATUS_WORDS[status];
  const merchant = useMerchantName(merchantId);
  const transaction = txId === null ? null : transactionPath(chainOf(amount.unit), txId);
  return (
    <li>
      <span className="person-names">
        <span>
          <Link to="/payments/$merchantId/$paymentId" params={{ merchantId, paymentId }} className="strong">
            {formatAmount(priceAmount, style)}
          </Link>{' '}
          <span className="soft">{formatAmount(amount, style)}</span>
        </span>
        <span className="soft small">
          <Time at={refund.requestedAt} />
          {merchant !== undefined && (
            <>
              {' · '}
              <bdi>{clamp(merchant, 40)}</bdi>
            </>
          )}
          {' · '}
          <code dir="ltr">{shortAccount(destination)}</code>
          {transaction !== null && (
            <>
              {' · '}
              <a href={transaction}>{words.transaction}</a>
            </>
          )}
        </span>
        {reason !== null && <bdi className="soft small">{clamp(reason, 160)}</bdi>}
        {problem !== null && <span className="soft small">{problemOf(words, problem)}</span>}
        <RefundWait refund={refund} />
      </span>
      <span className={`badge ${badge}`}>{words[word]}</span>
    </li>
  );
}

function RefundWait({ refund: { refundId, waitingFor, signUrl } }: { readonly refund: Refund }) {
  const words = useWords();
  const times = useTimes();
  const style = usePageState();
  const isOperator = useMay('operator:read');
  if (waitingFor == null) return null;
  const text = waitText(words, waitingFor, {
    amount: formatAmount(waitingFor.amount, style),
    time: times.full(waitingFor.until ?? waitingFor.since),
  });
  if (text === undefined) return null;
  return (
    <>
      <Notice kind="warm">
        {text} {signUrl !== undefined && <a href={signUrl}>{words.signRefund}</a>}
      </Notice>
      {(waitingFor.what === 'float' || waitingFor.what === 'merchant_signature') && isOperator && (
        <Code text={`npm run till -- refunds cover ${refundId}`} label={words.command} />
      )}
    </>
  );
}
