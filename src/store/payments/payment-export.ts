import { one, type Reader } from '../plumbing/database.ts';
import { type Fragment, type PaymentFilter, seenStatus } from './payment-filter.ts';
import { pageIds } from './payment-lists.ts';

/** A token or coin as an export spells it. */
export interface ExportedAsset {
  /** CAIP-19. */
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The currency that the token is worth one to one. */
  readonly peg?: string | undefined;
}

export interface ExportQuery extends PaymentFilter {
  readonly content: 'payments' | 'bookkeeping';
  readonly format: 'csv' | 'jsonl';
  readonly known: readonly ExportedAsset[];
  readonly afterId: string | undefined;
  readonly limit: number;
}

export interface ExportPage {
  /** The number of payments that were read. */
  readonly payments: number;
  readonly lastId: string | null;
  /** Lines with their ends. Null if no payment of the page has a line. */
  readonly text: string | null;
}

/** A column: its text in SQL. A stranger chose the text of a column that is `free`. */
interface Column {
  readonly name: string;
  readonly text: Fragment;
  readonly isFree?: boolean;
}

/**
 * The next payments in order of their ids, as the text of the file. PostgreSQL writes the lines: reading a row into this
 * process and writing it again would take longer than everything else.
 */
export async function readExportPage(db: Reader, query: ExportQuery): Promise<ExportPage> {
  const columns = query.content === 'payments' ? columnsOfPayments(db, query) : columnsOfMovements(db);
  const line = query.format === 'csv' ? csvLine(db, columns) : jsonLine(db, columns);
  const lines = query.content === 'payments' ? linesOfPayments(db, line) : linesOfMovements(db, line);
  const rows = await db<ExportPage[]>`
    with page as materialized (${pageIds(db, { ...query, sortBy: 'date', sortDir: 'asc' })}),
    known as materialized (${knownAssets(db, query.known)}),
    lines as (${lines})
    select (select count(*)::int from page) as payments, (select max(id) from page) as "lastId",
      (select string_agg(line, '' order by id, place) from lines) as text`;
  return one(rows);
}

/** The first line of a CSV file. */
export function exportHead({ content, format }: Pick<ExportQuery, 'content' | 'format'>): string {
  if (format === 'jsonl') return '';
  return `${EXPORT_COLUMNS[content].join(',')}\r\n`;
}

export const EXPORT_COLUMNS = {
  payments: [
    'paymentId',
    'referenceId',
    'merchantId',
    'merchantName',
    'status',
    'amount',
    'currency',
    'tokenAmount',
    'token',
    'network',
    'asset',
    'payer',
    'wallet',
    'transactionHash',
    'createdAt',
    'updatedAt',
    'expiresAt',
  ],
  bookkeeping: [
    'date',
    'type',
    'paymentId',
    'referenceId',
    'merchantId',
    'merchantName',
    'amount',
    'token',
    'network',
    'asset',
    'fiatAmount',
    'fiatCurrency',
    'account',
    'transactionHash',
  ],
} as const;

function knownAssets(db: Reader, known: readonly ExportedAsset[]): Fragment {
  const column = (value: (asset: ExportedAsset) => string | null) => known.map(value);
  return db`
    select k.id, 'caip19/' || k.id as unit, k.symbol, k.step::numeric as step, k.peg
    from unnest(${column(({ id }) => id)}::text[], ${column(({ symbol }) => symbol)}::text[],
      ${column(({ decimals }) => `1e-${decimals}`)}::text[], ${column(({ peg }) => peg ?? null)}::text[])
      as k(id, symbol, step, peg)`;
}

function columnsOfPayments(db: Reader, { now }: ExportQuery): readonly Column[] {
  const texts: Readonly<Record<(typeof EXPORT_COLUMNS)['payments'][number], Fragment>> = {
    paymentId: db`p.id`,
    referenceId: db`p.reference_id`,
    merchantId: db`p.merchant_id`,
    merchantName: db`page.name`,
    status: seenStatus(db, now),
    amount: price(db, db`p.amount_value`),
    currency: db`coalesce(${fiatCode(db)}, priced.symbol)`,
    tokenAmount: db`(p.token_value * paid.step)::text`,
    token: db`paid.symbol`,
    network: networkOf(db, db`p.token_asset`),
    asset: db`p.token_asset`,
    payer: db`p.buyer_account`,
    wallet: db`p.buyer_name`,
    transactionHash: db`p.transaction_hash`,
    createdAt: timeText(db, db`p.created_at`),
    updatedAt: timeText(db, db`p.updated_at`),
    expiresAt: timeText(db, db`p.expires_at`),
  };
  const free: readonly string[] = ['referenceId', 'merchantName', 'wallet'];
  return EXPORT_COLUMNS.payments.map((name) => ({ name, text: texts[name], isFree: free.includes(name) }));
}

function columnsOfMovements(db: Reader): readonly Column[] {
  const texts: Readonly<Record<(typeof EXPORT_COLUMNS)['bookkeeping'][number], Fragment>> = {
    date: timeText(db, db`b.at`),
    type: db`b.type`,
    paymentId: db`p.id`,
    referenceId: db`p.reference_id`,
    merchantId: db`p.merchant_id`,
    merchantName: db`page.name`,
    amount: db`(b.amount * k.step)::text`,
    token: db`k.symbol`,
    network: networkOf(db, db`b.asset`),
    asset: db`b.asset`,
    fiatAmount: db`case when coalesce(${fiatCode(db)}, priced.peg) is not null then ${price(db, db`b.price`)} end`,
    fiatCurrency: db`coalesce(${fiatCode(db)}, priced.peg)`,
    account: db`b.account`,
    transactionHash: db`b.transaction_hash`,
  };
  const free: readonly string[] = ['referenceId', 'merchantName'];
  return EXPORT_COLUMNS.bookkeeping.map((name) => ({ name, text: texts[name], isFree: free.includes(name) }));
}

function linesOfPayments(db: Reader, line: Fragment): Fragment {
  return db`
    select p.id, 0 as place, ${line} as line
    from ${payments(db)}
    left join known paid on paid.id = p.token_asset
    left join known priced on priced.unit = p.amount_unit`;
}

/**
 * One line for each movement of a succeeded payment: the payment, its fee, its settlement and its refunds. The share of the
 * fee in the price is that in the paid amount, without fractions of the minor unit. The rest is that of the settlement.
 */
function linesOfMovements(db: Reader, line: Fragment): Fragment {
  return db`
    select p.id, b.place, ${line} as line
    from ${payments(db)}
    cross join lateral (
      select fee, ended_at, div(p.amount_value * fee, p.token_value) as fee_price from items
      where subject = p.id and state = 'paid' and end_reason is distinct from 'paid_after_end' limit 1
    ) i
    left join payment_settlements s on s.payment_id = p.id
    cross join lateral (
      select 0 as place, 'payment' as type, i.ended_at as at, p.token_asset as asset, p.token_value as amount,
        p.amount_value as price, p.buyer_account as account, p.transaction_hash
      union all
      select 1, 'fee', i.ended_at, p.token_asset, i.fee, i.fee_price, null, p.transaction_hash where i.fee > 0
      union all
      select 2, 'settlement', s.at, s.asset, s.amount, p.amount_value - i.fee_price,
        ${networkOf(db, db`s.asset`)} || ':' || s.recipient, s.transaction_hash
      where s.payment_id is not null
      union all
      select 2 + r.number, 'refund', r.updated_at, r.asset, r.amount, coalesce(r.price_value, p.amount_value),
        ${networkOf(db, db`r.asset`)} || ':' || r.recipient, r.transaction_hash
      from refunds r where r.payment_id = p.id and r.state = 'refunded'
    ) b
    left join known k on k.id = b.asset
    left join known priced on priced.unit = p.amount_unit`;
}

function payments(db: Reader): Fragment {
  return db`(select * from payments where id = any(array(select id from page))) p join page on page.id = p.id`;
}

function fiatCode(db: Reader): Fragment {
  return db`case when starts_with(p.amount_unit, 'iso4217/') then substr(p.amount_unit, 9) end`;
}

/** Minor units of the price as major units. A product of exact numbers is exact. */
function price(db: Reader, value: Fragment): Fragment {
  return db`(${value} * case p.amount_decimals when 2 then 1e-2 when 0 then 1 when 6 then 1e-6
    else ('1e-' || p.amount_decimals)::numeric end)::text`;
}

function networkOf(db: Reader, asset: Fragment): Fragment {
  return db`split_part(${asset}, '/', 1)`;
}

function timeText(db: Reader, time: Fragment): Fragment {
  return db`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/**
 * RFC 4180. Spreadsheets take a text that begins with one of these characters for a formula. An apostrophe before it makes
 * it text.
 */
function csvLine(db: Reader, columns: readonly Column[]): Fragment {
  const fields = columns.map(({ text, isFree }) =>
    isFree === true
      ? db`coalesce('"' || replace(case when ${text} ~ '^\\s*[-=+@\\t\\r＝＋－＠]' then '''' || ${text} else ${text} end, '"', '""') || '"', '')`
      : db`coalesce(${text}, '')`,
  );
  const [first = db``, ...others] = fields;
  return db`${others.reduce((all, field) => db`${all} || ',' || ${field}`, first)} || E'\r\n'`;
}

function jsonLine(db: Reader, columns: readonly Column[]): Fragment {
  const [first = db``, ...others] = columns.map(({ name, text }) => db`${name}::text, ${text}`);
  return db`json_build_object(${others.reduce((all, pair) => db`${all}, ${pair}`, first)})::text || E'\n'`;
}
