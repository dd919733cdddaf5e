import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { formatAmount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { clamp, fill, shortAccount } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import type { Payout, PayoutPage } from '../api-types.ts';
import { useMerchantName } from '../queries.ts';
import { PAYOUT_STATUSES } from '../statuses.ts';
import type { Strings } from '../strings/en.ts';
import { usePages } from '../ui/pages-list.ts';
import { Notice, Time } from '../ui/parts.tsx';
import { StatusList } from '../ui/status-list.tsx';
import { usePageState, useTimes, useWords } from '../words.ts';

const REFRESH_MS = 10_000;

const STATUS_WORDS = {
  held: ['payoutHeld', 'badge-requires_action'],
  sending: ['payoutSending', 'badge-processing'],
  paid: ['payoutPaid', 'badge-succeeded'],
  refunding: ['statusRefunding', 'badge-refund'],
  refunded: ['statusRefunded', 'badge-refund'],
} as const satisfies Record<Payout['status'], readonly [keyof Strings, string]>;

const WAIT_WORDS = {
  destination: 'waitDestination',
  cooling_off: 'waitCoolingOff',
  unfreeze: 'waitUnfreeze',
  retry: 'waitRetry',
  gateway: 'waitGateway',
  network: 'waitNetwork',
} as const satisfies Record<string, keyof Strings>;

export function PayoutsPage() {
  const words = useWords();
  const { status } = useSearch({ from: '/shell/payouts' });
  const navigate = useNavigate();
  const list = usePages<PayoutPage>(
    ['payouts', status],
    (cursor) => `/v1/payouts${queryText({ limit: 50, status, cursor })}`,
    { refreshMs: REFRESH_MS },
  );
  const payouts = list.data?.pages.flatMap((page) => page.payouts);
  return (
    <StatusList
      title={words.payouts}
      text={words.payoutsText}
      empty={words.noPayouts}
      status={status}
      statuses={PAYOUT_STATUSES}
      statusWords={STATUS_WORDS}
      onStatus={(search) => void navigate({ to: '/payouts', search })}
      list={list}
      rows={payouts?.map((payout) => <PayoutRow key={payout.paymentId} payout={payout} />)}
    />
  );
}

function PayoutRow({ payout }: { readonly payout: Payout }) {
  const words = useWords();
  const style = usePageState();
  const times = useTimes();
  const { paymentId, merchantId, amount, destination, status, txId, waitingFor } = payout;
  const merchant = useMerchantName(merchantId);
  const [word, badge] = STATUS_WORDS[status];
  const transaction = txId === null ? null : transactionPath(chainOf(amount.unit), txId);
  const time = waitingFor?.until === undefined ? '' : times.full(waitingFor.until);
  return (
    <li>
      <span className="person-names">
        <span>
          <Link to="/payments/$merchantId/$paymentId" params={{ merchantId, paymentId }} className="strong">
            {formatAmount(amount, style)}
          </Link>{' '}
          <bdi className="soft">{clamp(payout.referenceId, 40)}</bdi>
        </span>
        <span className="soft small">
          <Time at={payout.heldAt} />
          {merchant !== undefined && (
            <>
              {' · '}
              <Link to="/merchants/$merchantId" params={{ merchantId }}>
                <bdi>{clamp(merchant, 40)}</bdi>
              </Link>
            </>
          )}
          {destination !== null && (
            <>
              {' · '}
              <code dir="ltr">{shortAccount(destination)}</code>
            </>
          )}
          {transaction !== null && (
            <>
              {' · '}
              <a href={transaction}>{words.transaction}</a>
            </>
          )}
        </span>
        {waitingFor !== null && (
          <Notice kind="warm">
            {fill(words[WAIT_WORDS[waitingFor.what]], { time, amount: formatAmount(amount, style) })}
          </Notice>
        )}
      </span>
      <span className={`badge ${badge}`}>{words[word]}</span>
    </li>
  );
}
