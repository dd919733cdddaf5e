import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { clamp } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import type { LateMoney, LateMoneyPage as Page } from '../api-types.ts';
import { useLivePayments } from '../follow.ts';
import { LATE_WORDS } from '../late-words.ts';
import { useMerchantName } from '../queries.ts';
import { LATE_STATUSES } from '../statuses.ts';
import { LateRow } from '../ui/late-money.tsx';
import { usePages } from '../ui/pages-list.ts';
import { StatusList } from '../ui/status-list.tsx';
import { useWords } from '../words.ts';

export function LateMoneyPage() {
  const words = useWords();
  const { status } = useSearch({ from: '/shell/late-money' });
  const navigate = useNavigate();
  // Payment events reload this list, too, because its query key begins with `payments`.
  useLivePayments();
  const list = usePages<Page>(
    ['payments', 'late', 'list', status],
    (cursor) => `/v1/late-money${queryText({ limit: 50, status, cursor })}`,
  );
  const found = list.data?.pages.flatMap((page) => page.lateMoney);
  return (
    <StatusList
      title={words.lateMoney}
      text={words.lateMoneyText}
      empty={words.noLateMoney}
      status={status}
      statuses={LATE_STATUSES}
      statusWords={LATE_WORDS}
      onStatus={(search) => void navigate({ to: '/late-money', search })}
      list={list}
      rows={found?.map((money) => <LateRow key={money.id} money={money} title={<PaymentLink money={money} />} />)}
    />
  );
}

function PaymentLink({ money: { merchantId, paymentId } }: { readonly money: LateMoney }) {
  const merchant = useMerchantName(merchantId);
  return (
    <Link to="/payments/$merchantId/$paymentId" params={{ merchantId, paymentId }} className="strong">
      {merchant === undefined ? <code dir="ltr">{paymentId.slice(-8)}</code> : <bdi>{clamp(merchant, 40)}</bdi>}
    </Link>
  );
}
