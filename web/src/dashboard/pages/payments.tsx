import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { formatAmount, numberFormat } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import type { ListedPayment } from '../api-types.ts';
import { COLUMN_NAMES, COLUMNS, type ColumnName, keepColumns, readColumns } from '../columns.tsx';
import { type Filters, isShortSearch, readFilters, SORTS } from '../filters.ts';
import { useLivePayments } from '../follow.ts';
import { lateMark } from '../late-words.ts';
import { paymentsQuery, paymentTotalsQuery, useAssets, useMerchantList } from '../queries.ts';
import { STATUSES } from '../statuses.ts';
import type { Strings } from '../strings/en.ts';
import { ExportDialog } from '../ui/export-dialog.tsx';
import { MerchantBox } from '../ui/merchant-box.tsx';
import { Field, Notice, PageHead, StatusBadge, statusText, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { usePlainLinks } from '../ui/use-plain-links.ts';
import { usePrinting } from '../ui/use-printing.ts';
import { usePageState, useWords } from '../words.ts';

export function PaymentsPage() {
  const words = useWords();
  const search = useSearch({ from: '/shell/payments' });
  // The URL may also contain parameters that are not filters.
  const filters = useMemo(() => readFilters({ ...search }), [search]);
  const isLive = useLivePayments();
  const numbers = numberFormat(usePageState().locale, {});
  const [columns, setColumns] = useState(readColumns);
  const [isExporting, setExporting] = useState(false);
  useTitle(words.payments);
  const list = useInfiniteQuery(paymentsQuery(filters));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.data) ?? [], [list.data]);
  const hasRows = list.data !== undefined && !list.isPlaceholderData;
  const total = useQuery({ ...paymentTotalsQuery(filters), enabled: hasRows }).data?.stats.totalTransactions;
  const filtersOfRows = useRef(filters);
  if (hasRows) filtersOfRows.current = filters;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title={words.payments}>
        {isLive && <span className="live">{words.following}</span>}
        {total !== undefined && <span className="soft">{fill(words.matches, { count: numbers.format(total) })}</span>}
        <ColumnChoice
          columns={columns}
          onChange={(chosen) => {
            keepColumns(chosen);
            setColumns(readColumns());
          }}
        />
        <button type="button" className="quiet" onClick={() => setExporting(true)}>
          {words.export}
        </button>
      </PageHead>
      {isExporting && <ExportDialog filters={filters} total={total} onClose={() => setExporting(false)} />}
      <FilterBar filters={filters} />
      {list.error !== null && <Notice kind="bad">{problemText(words, list.error)}</Notice>}
      {list.data !== undefined && rows.length === 0 && (
        <p className="empty">{isFiltered ? words.noMatches : words.noPayments}</p>
      )}
      {list.data === undefined && list.error === null && <p className="empty">{words.loading}</p>}
      {rows.length > 0 && (
        <PaymentRows
          rows={rows}
          filters={filtersOfRows.current}
          columns={columns}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
          }}
        />
      )}
    </>
  );
}

const ROW_HEIGHT = 52;
/**
 * The assumed position of the first row, in pixels, until it is measured. Without it, more rows would be rendered than the screen
 * shows.
 */
const USUAL_TOP = 290;

interface RowsProps {
  readonly rows: readonly ListedPayment[];
  /** The filters that found these rows. After a change of the filters, the old rows stay until the new ones are loaded. */
  readonly filters: Filters;
  readonly columns: readonly ColumnName[];
  readonly onEnd: () => void;
}

/** The largest number of printed rows. Printing more would take the browser minutes, and an export contains them all. */
const MOST_PRINTED = 1_000;

/**
 * The table of payments. Only the rows on the screen are in the document, so that the table stays fast. A print contains the loaded
 * rows, up to a limit.
 */
function PaymentRows({ rows, filters, columns, onEnd }: RowsProps) {
  const words = useWords();
  const isPrinting = usePrinting();
  const table = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(USUAL_TOP);
  useEffect(() => setTop(table.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 2,
    scrollMargin: top,
  });
  const shown = virtual.getVirtualItems();
  const links = usePlainLinks();
  const keyOf = useRowKeys(filters);
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20) onEnd();
  }, [last, rows.length, onEnd]);
  return (
    <table className="table" aria-label={words.payments} aria-rowcount={rows.length}>
      <thead>
        <tr className="row head">
          <th scope="col" className="col-amount">
            {words.amount}
          </th>
          <th scope="col" className="col-status">
            {words.status}
          </th>
          {columns.map((name) => (
            <th key={name} scope="col" className={`col-${name}`}>
              {words[COLUMNS[name].word]}
            </th>
          ))}
        </tr>
      </thead>
      {isPrinting ? (
        <tbody className="rows printed">
          {rows.slice(0, MOST_PRINTED).map((row, index) => (
            <PaymentRow key={row.paymentId} row={row} columns={columns} index={index} />
          ))}
        </tbody>
      ) : (
        <tbody ref={table} className="rows" style={{ height: virtual.getTotalSize() }} {...links}>
          {shown.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return <PaymentRow key={keyOf(row)} row={row} columns={columns} index={index} offset={start - top} />;
          })}
        </tbody>
      )}
    </table>
  );
}

/**
 * The React keys of rows. With other filters, the new rows reuse the old elements, because changing their text is faster than
 * creating elements. With the same filters, a payment keeps its element, and so the focus, when new rows appear above it.
 */
function useRowKeys(filters: Filters): (row: ListedPayment) => number {
  // biome-ignore lint/correctness/useExhaustiveDependencies: With other filters, the React keys of the rows begin at 0 again.
  const keys = useMemo(() => new Map<string, number>(), [filters]);
  return ({ paymentId }) => {
    const key = keys.get(paymentId) ?? keys.size;
    keys.set(paymentId, key);
    return key;
  };
}

interface RowProps {
  readonly row: ListedPayment;
  readonly columns: readonly ColumnName[];
  readonly index: number;
  /** The position of the row in the table, in pixels. Undefined in a print, where each row follows the one before. */
  readonly offset?: number;
}

/** A row of the table. It is memoized, because the page is rendered again with each letter of a search. */
const PaymentRow = memo(function PaymentRow({ row, columns, index, offset }: RowProps) {
  const words = useWords();
  const style = usePageState();
  const late = lateMark(row.lateMoney, words, style);
  const amount = row.fiatAmount ?? row.tokenAmount;
  return (
    <tr
      className="row"
      aria-rowindex={index + 1}
      style={{ height: ROW_HEIGHT, ...(offset !== undefined && { top: offset }) }}
    >
      <td className="col-amount amount">
        <a href={`/dashboard/payments/${row.merchant.id}/${row.paymentId}`}>
          {amount === undefined ? '—' : formatAmount(amount, style)}
        </a>
        {late !== null && (
          <span className="late-mark" title={late.title}>
            {late.text}
          </span>
        )}
      </td>
      <td className="col-status">
        <StatusBadge status={row.status} refund={row.refund} refunds={row.refunds} amount={amount} />
      </td>
      {columns.map((name) => (
        <td key={name} className={`col-${name} cut`}>
          {COLUMNS[name].show(row, style)}
        </td>
      ))}
    </tr>
  );
});

/** The choice of columns, which is kept in this browser. */
function ColumnChoice({
  columns,
  onChange,
}: {
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}) {
  const words = useWords();
  const toggle = (name: ColumnName) =>
    onChange(COLUMN_NAMES.filter((each) => (each === name ? !columns.includes(each) : columns.includes(each))));
  return (
    <details className="menu">
      <summary className="button quiet">{words.columns}</summary>
      <fieldset>
        <legend className="unseen">{words.columns}</legend>
        {COLUMN_NAMES.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} />
            {words[COLUMNS[name].word]}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

const SORT_WORDS = {
  oldest: 'sortOldest',
  largest: 'sortLargest',
  smallest: 'sortSmallest',
} as const satisfies Record<keyof typeof SORTS, keyof Strings>;

function optionsOf(options: readonly (readonly [value: string, text: string])[]): ReactNode {
  return options.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

/**
 * The tokens and networks to choose from: those for which this gateway is configured, and those in the present filters. A bookmark
 * may have a filter for a former token or network.
 */
function useOffered({ token, network }: Filters) {
  const assets = useAssets();
  return useMemo(() => {
    const symbols = new Set([...assets.map(({ symbol }) => symbol), ...(token === undefined ? [] : [token])]);
    const names = new Map([
      ...(network === undefined ? [] : [[network, network] as const]),
      ...assets.map((asset) => [asset.network, asset.networkName] as const),
    ]);
    return {
      tokens: optionsOf([...symbols].map((symbol) => [symbol, symbol] as const)),
      networks: optionsOf([...names]),
    };
  }, [assets, token, network]);
}

/** The filters of the list. They are all in the URL, so that it can be bookmarked and shared. */
const FilterBar = memo(function FilterBar({ filters }: { readonly filters: Filters }) {
  const words = useWords();
  const { merchants = [] } = useMerchantList();
  const navigate = useNavigate({ from: '/payments' });
  const { tokens, networks } = useOffered(filters);
  const client = useQueryClient();
  const set = (name: keyof Filters, value: string) => {
    // The request for the new rows is sent before the page is rendered, so that the gateway works on it while the browser renders.
    void client.prefetchInfiniteQuery(paymentsQuery(readFilters({ ...filters, [name]: value })));
    void navigate({ search: (before) => ({ ...before, [name]: value }), replace: true });
  };
  const select = (name: keyof Filters, label: string, any: string, options: ReactNode) => (
    <Field label={label}>
      {(id) => (
        <select id={id} value={filters[name] ?? ''} onChange={(event) => set(name, event.target.value)}>
          <option value="">{any}</option>
          {options}
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
          <>
            <input
              id={id}
              type="search"
              maxLength={512}
              placeholder={words.searchHint}
              value={filters.search ?? ''}
              onChange={(event) => set('search', event.target.value)}
            />
            {isShortSearch(filters) && (
              <span className="soft small" role="status">
                {words.searchShort}
              </span>
            )}
          </>
        )}
      </Field>
      {select(
        'status',
        words.status,
        words.anyStatus,
        optionsOf(STATUSES.map((status) => [status, statusText(words, status)] as const)),
      )}
      {merchants.length > 1 && (
        <Field label={words.merchant}>
          {(id) => (
            <MerchantBox
              id={id}
              value={filters.merchant ?? ''}
              all={words.anyMerchant}
              onChange={(merchantId) => set('merchant', merchantId)}
            />
          )}
        </Field>
      )}
      {select('token', words.token, words.anyToken, tokens)}
      {select('network', words.network, words.anyNetwork, networks)}
      {day('from', words.from)}
      {day('until', words.until)}
      {select(
        'sort',
        words.order,
        words.sortNewest,
        optionsOf(Object.keys(SORTS).map((sort) => [sort, words[SORT_WORDS[sort as keyof typeof SORTS]]] as const)),
      )}
      {Object.keys(filters).length > 0 && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
          {words.clearFilters}
        </button>
      )}
    </search>
  );
});
