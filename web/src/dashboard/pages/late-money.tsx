import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { clamp } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import { useLivePayments } from '../follow.ts';
import { useMerchants } from '../queries.ts';
import { LATE_STATUSES, type LateMoney, type LateMoneyPage as Page } from '../shapes.ts';
import { LATE_WORDS, LateRow } from '../ui/late-money.tsx';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { PageHead, useTitle } from '../ui/parts.tsx';
import { StatusFilter } from '../ui/status-filter.tsx';
import { useWords } from '../words.ts';

export function LateMoneyPage() {
  const words = useWords();
  const { status } = useSearch({ from: '/shell/late-money' });
  const navigate = useNavigate();
  useTitle(words.lateMoney);
  // Payment events reload this list, too, because its query key begins with `payments`.
  useLivePayments();
  const list = usePages<Page>(
    ['payments', 'late', 'list', status],
    (cursor) => `/v1/late-money${queryText({ limit: 50, status, cursor })}`,
  );
  const found = list.data?.pages.flatMap((page) => page.lateMoney);
  return (
    <>
      <PageHead title={words.lateMoney}>
        <StatusFilter
          value={status}
          choices={LATE_STATUSES.map((each) => ({ value: each, text: words[LATE_WORDS[each][0]] }))}
          onChange={(next) => void navigate({ to: '/late-money', search: next === '' ? {} : { status: next } })}
        />
      </PageHead>
      <p className="soft lead">{words.lateMoneyText}</p>
      <ListState error={list.error} count={found?.length} empty={words.noLateMoney} />
      <ul className="plain-list" aria-label={words.lateMoney}>
        {found?.map((money) => (
          <LateRow key={money.id} money={money} title={<PaymentLink money={money} />} />
        ))}
      </ul>
      <More list={list} />
    </>
  );
}

function PaymentLink({ money: { merchantId, paymentId } }: { readonly money: LateMoney }) {
  const merchant = useMerchants().find(({ id }) => id === merchantId)?.name;
  return (
    <Link to="/payments/$merchantId/$paymentId" params={{ merchantId, paymentId }} className="strong">
      {merchant === undefined ? <code dir="ltr">{paymentId.slice(-8)}</code> : <bdi>{clamp(merchant, 40)}</bdi>}
    </Link>
  );
}
