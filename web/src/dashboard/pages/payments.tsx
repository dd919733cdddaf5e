import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { formatAmount } from '../../shared/money.ts';
import { clamp, fill, shortAccount } from '../../shared/text.ts';
import { call } from '../api.ts';
import { type Filters, listPath, readFilters } from '../filters.ts';
import { useLivePayments } from '../follow.ts';
import { useMerchants } from '../queries.ts';
import { type ListedPayment, type PaymentPage as PageOfPayments, STATUSES } from '../shapes.ts';
import { Field, Notice, PageHead, StatusBadge, statusText, Time, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { usePageState, useWords } from '../words.ts';

const TOKENS = ['USDC', 'EURC', 'USDT', 'ETH', 'PYUSD', 'AUSD', 'USDG', 'EURe', 'POL', 'BNB', 'CELO', 'MON'];

export function PaymentsPage() {
  const words = useWords();
  // Other parts of the address are no filters.
  const filters = readFilters({ ...useSearch({ from: '/shell/payments' }) });
  const isLive = useLivePayments();
  useTitle(words.payments);
  const list = useInfiniteQuery({
    queryKey: ['payments', filters],
    queryFn: ({ pageParam, signal }) => call<PageOfPayments>('GET', listPath(filters, pageParam), { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  const total = list.data?.pages[0]?.stats.totalTransactions;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title={words.payments}>
        {isLive && <span className="live">{words.following}</span>}
        {total !== undefined && <span className="soft">{fill(words.matches, { count: String(total) })}</span>}
      </PageHead>
      <FilterBar filters={filters} />
      {list.error !== null && <Notice kind="bad">{problemText(words, list.error)}</Notice>}
      {list.data !== undefined && rows.length === 0 && (
        <p className="empty">{isFiltered ? words.noMatches : words.noPayments}</p>
      )}
      {list.data === undefined && list.error === null && <p className="empty">{words.loading}</p>}
      {rows.length > 0 && (
        <PaymentRows
          rows={rows}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
          }}
        />
      )}
    </>
  );
}

const ROW_HEIGHT = 52;

/** Only the rows on the screen are in the document, so the table stays quick with any number of rows. */
function PaymentRows({ rows, onEnd }: { readonly rows: readonly ListedPayment[]; readonly onEnd: () => void }) {
  const words = useWords();
  const table = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => setTop(table.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollMargin: top,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20) onEnd();
  }, [last, rows.length, onEnd]);
  return (
    <table className="table" aria-label={words.payments} aria-rowcount={rows.length}>
      <thead>
        <tr className="row head">
          <th scope="col">{words.amount}</th>
          <th scope="col">{words.status}</th>
          <th scope="col">{words.reference}</th>
          <th scope="col" className="wide-only">
            {words.merchant}
          </th>
          <th scope="col" className="wide-only">
            {words.payer}
          </th>
          <th scope="col">{words.created}</th>
        </tr>
      </thead>
      <tbody ref={table} className="rows" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return <PaymentRow key={row.paymentId} row={row} index={index} offset={start - top} />;
        })}
      </tbody>
    </table>
  );
}

function PaymentRow({
  row,
  index,
  offset,
}: {
  readonly row: ListedPayment;
  readonly index: number;
  readonly offset: number;
}) {
  const style = usePageState();
  const amount = row.fiatAmount ?? row.tokenAmount;
  return (
    <tr className="row" aria-rowindex={index + 1} style={{ height: ROW_HEIGHT, transform: `translateY(${offset}px)` }}>
      <td className="amount">
        <Link to="/payments/$merchantId/$paymentId" params={{ merchantId: row.merchant.id, paymentId: row.paymentId }}>
          {amount === undefined ? '—' : formatAmount(amount, style)}
        </Link>
      </td>
      <td>
        <StatusBadge status={row.status} refund={row.refund} />
      </td>
      <td className="cut">
        <bdi>{clamp(row.referenceId, 60)}</bdi>
      </td>
      <td className="cut wide-only">
        <bdi>{clamp(row.merchant.name, 60)}</bdi>
      </td>
      <td className="cut wide-only soft">
        {row.buyer !== undefined && (
          <code dir="ltr" title={row.buyer.accountCaip10}>
            {shortAccount(row.buyer.accountCaip10)}
          </code>
        )}
      </td>
      <td className="soft when">
        <Time at={row.createdAt} />
      </td>
    </tr>
  );
}

/** Every filter is in the address, so it can be kept and sent to others. */
function FilterBar({ filters }: { readonly filters: Filters }) {
  const words = useWords();
  const merchants = useMerchants();
  const navigate = useNavigate({ from: '/payments' });
  const set = (name: keyof Filters, value: string) =>
    void navigate({ search: (before) => ({ ...before, [name]: value }), replace: true });
  const select = (name: keyof Filters, label: string, any: string, options: readonly (readonly [string, string])[]) => (
    <Field label={label}>
      {(id) => (
        <select id={id} value={filters[name] ?? ''} onChange={(event) => set(name, event.target.value)}>
          <option value="">{any}</option>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const day = (name: 'from' | 'until', label: string) => (
    <Field label={label}>
      {(id) => (
        <input id={id} type="date" value={filters[name] ?? ''} onChange={(event) => set(name, event.target.value)} />
      )}
    </Field>
  );
  return (
    <search className="filters">
      <Field label={words.search}>
        {(id) => (
          <input
            id={id}
            type="search"
            maxLength={35}
            value={filters.reference ?? ''}
            onChange={(event) => set('reference', event.target.value)}
          />
        )}
      </Field>
      {select(
        'status',
        words.status,
        words.anyStatus,
        STATUSES.map((status) => [status, statusText(words, status)] as const),
      )}
      {merchants.length > 1 &&
        select(
          'merchant',
          words.merchant,
          words.anyMerchant,
          merchants.map(({ id, name }) => [id, clamp(name, 40)] as const),
        )}
      {select(
        'token',
        words.token,
        words.anyToken,
        TOKENS.map((token) => [token, token] as const),
      )}
      {day('from', words.from)}
      {day('until', words.until)}
      {Object.keys(filters).length > 0 && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
          {words.clearFilters}
        </button>
      )}
    </search>
  );
}
