import { LATE_STATES } from '../../domain/late-money.ts';
import { one, type Reader } from '../plumbing/database.ts';
import { linesOfMovements } from './book-lines.ts';
import { type Fragment, type PaymentFilter, seenStatus } from './payment-filter.ts';
import { pageIds } from './payment-lists.ts';

/** The facts about a token or coin that an export needs. */
export interface ExportedAsset {
  /** The asset as a CAIP-19 id. */
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The currency to which the token is pegged, one to one. Undefined if it is pegged to none. */
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
  /** The number of payments that the page read. */
  readonly payments: number;
  readonly lastId: string | null;
  /** The lines of the file, with their line ends, in parts of `LINES_OF_PART` lines. */
  readonly texts: readonly string[];
}

/** A column of the export, with the SQL expression of its text. */
interface Column {
  readonly name: string;
  readonly text: Fragment;
  /** True if a stranger can choose the text, so that it must be escaped. */
  readonly isFree: boolean;
  /** True if the text is never null. */
  readonly isFilled: boolean;
}

/**
 * The number of lines in a part of the answer, about as many as the driver reads at once. A text of a megabyte would be copied while it
 * arrives, and would fill the heap.
 */
const LINES_OF_PART = 64;

const FREE: readonly string[] = ['referenceId', 'merchantName', 'wallet'];
const FILLED: readonly string[] = [
  'paymentId',
  'referenceId',
  'merchantId',
  'merchantName',
  'status',
  'type',
  'createdAt',
  'statusChangedAt',
  'expiresAt',
];

/**
 * The next payments by id, as the lines of the file. PostgreSQL formats the lines, because reading the rows into this process and
 * formatting them here would take longer than everything else. Lines are formatted before they are sorted. Otherwise the sort would carry
 * the names of all assets with each row.
 */
export async function readExportPage(db: Reader, query: ExportQuery): Promise<ExportPage> {
  const columns = columnsOf(db, query);
  const line = query.format === 'csv' ? csvLine(db, columns) : jsonLine(db, columns);
  const lines = query.content === 'payments' ? linesOfPayments(db, line) : linesOfMovements(db, paymentRows(db), line);
  const rows = await db<ExportRow[]>`
    with page as materialized (${pageIds(db, { ...query, sortBy: 'date', sortDir: 'asc' })}),
    known as materialized (${knownAssets(db, query.known)}),
    lines as materialized (${lines})
    select payments, "lastId", text
    from (select count(*)::int as payments, max(id) as "lastId" from page) read
    left join (
      select part, string_agg(line, '' order by id, place) as text
      from (select *, row_number() over (order by id, place) / ${LINES_OF_PART}::int as part from lines) numbered
      group by part
    ) parts on true
    order by part`;
  const { payments, lastId } = one(rows);
  return { payments, lastId, texts: rows.flatMap(({ text }) => text ?? []) };
}

interface ExportRow {
  readonly payments: number;
  readonly lastId: string | null;
  /** The lines of one part. Null if no payment of the page has a line. */
  readonly text: string | null;
}

export function exportHead({ content, format }: Pick<ExportQuery, 'content' | 'format'>): string {
  if (format === 'jsonl') return '';
  return `${EXPORT_COLUMNS[content].join(',')}\r\n`;
}

/** The columns of each export in their order, with the SQL expressions of their texts. */
const COLUMNS: Readonly<Record<ExportQuery['content'], Readonly<Record<string, ColumnText>>>> = {
  payments: {
    paymentId: (db) => db`p.id`,
    referenceId: (db) => db`p.reference_id`,
    merchantId: (db) => db`p.merchant_id`,
    merchantName: (db) => db`page.name`,
    status: (db, { now }) => seenStatus(db, now),
    amount: (db) => price(db, db`p.amount_value`),
    currency: (db) => db`coalesce(${fiatCode(db)}, ${symbolOf(db, pricedAsset(db))})`,
    tokenAmount: (db) => wholeTokens(db, db`p.token_value`, db`p.token_asset`),
    token: (db) => symbolOf(db, db`p.token_asset`),
    network: (db) => networkOf(db, db`p.token_asset`),
    asset: (db) => db`p.token_asset`,
    payer: (db) => db`p.buyer_account`,
    wallet: (db) => db`p.buyer_name`,
    transactionHash: (db) => db`p.transaction_hash`,
    createdAt: (db) => timeText(db, db`p.created_at`),
    // The status of an overdue payment changed at its expiry, even if no job has stored that yet.
    statusChangedAt: (db, { now }) =>
      timeText(db, db`case when ${seenStatus(db, now)} = p.status then p.updated_at else p.expires_at end`),
    expiresAt: (db) => timeText(db, db`p.expires_at`),
    // An asset id contains neither spaces nor commas, so the cell needs no quotes.
    acceptedAssets: (db) => db`array_to_string(p.accepted_assets, ' ')`,
    lateMoney: (db) => lateMoneyText(db),
  },
  bookkeeping: {
    date: (db) => timeText(db, db`b.at`),
    type: (db) => db`b.type`,
    paymentId: (db) => db`p.id`,
    referenceId: (db) => db`p.reference_id`,
    merchantId: (db) => db`p.merchant_id`,
    merchantName: (db) => db`page.name`,
    amount: (db) => wholeTokens(db, db`b.amount`, db`b.asset`),
    token: (db) => symbolOf(db, db`b.asset`),
    network: (db) => networkOf(db, db`b.asset`),
    asset: (db) => db`b.asset`,
    fiatAmount: (db) => db`case when ${fiatCurrency(db)} is not null then ${price(db, db`b.price`)} end`,
    fiatCurrency: (db) => db`case when b.price is not null then ${fiatCurrency(db)} end`,
    account: (db) => db`b.account`,
    transactionHash: (db) => db`b.transaction_hash`,
  },
};

type ColumnText = (db: Reader, query: ExportQuery) => Fragment;

export const EXPORT_COLUMNS: Readonly<Record<ExportQuery['content'], readonly string[]>> = {
  payments: Object.keys(COLUMNS.payments),
  bookkeeping: Object.keys(COLUMNS.bookkeeping),
};

function columnsOf(db: Reader, query: ExportQuery): readonly Column[] {
  return Object.entries(COLUMNS[query.content]).map(([name, text]) => columnOf(name, text(db, query)));
}

/** The SQL row that has the facts about all assets by their id. A join would compare each payment with each asset. */
function knownAssets(db: Reader, known: readonly ExportedAsset[]): Fragment {
  const byId = (value: (asset: ExportedAsset) => string | undefined) =>
    db.json(Object.fromEntries(known.map((asset) => [asset.id, value(asset)])));
  return db`select ${byId(({ symbol }) => symbol)} as symbols, ${byId(({ decimals }) => `1e-${decimals}`)} as steps,
    ${byId(({ peg }) => peg)} as pegs`;
}

function symbolOf(db: Reader, asset: Fragment): Fragment {
  return db`(known.symbols ->> ${asset})`;
}

/** An amount of smallest units in whole tokens. The factor is an exact decimal, so the product is exact. */
function wholeTokens(db: Reader, units: Fragment, asset: Fragment): Fragment {
  return db`(${units} * (known.steps ->> ${asset})::numeric)::text`;
}

/** The asset in which a payment is priced, if it is priced in a token. */
function pricedAsset(db: Reader): Fragment {
  return db`substr(p.amount_unit, 8)`;
}

/** The currency of the price, or the currency to which the token of the price is pegged. */
function fiatCurrency(db: Reader): Fragment {
  return db`coalesce(${fiatCode(db)}, known.pegs ->> ${pricedAsset(db)})`;
}

function columnOf(name: string, text: Fragment): Column {
  return { name, text, isFree: FREE.includes(name), isFilled: FILLED.includes(name) };
}

function linesOfPayments(db: Reader, line: Fragment): Fragment {
  return db`
    select p.id, 0 as place, ${line} as line
    from ${paymentRows(db)}`;
}

function paymentRows(db: Reader): Fragment {
  return db`(select * from payments where id = any(array(select id from page))) p
    join page on page.id = p.id cross join known`;
}

/**
 * The SQL text of a payment's late money, summed by reason and asset, as in `underpaid 12.000000 USDC; late 5.000000 USDC`. Null if there
 * is none.
 */
function lateMoneyText(db: Reader): Fragment {
  return db`(
    select string_agg(concat(reason, ' ', units * coalesce((known.steps ->> asset)::numeric, 1), ' ',
      coalesce(known.symbols ->> asset, asset)), '; ' order by first_at, reason, asset)
    from (
      select coalesce(s.reason, 'late') as reason, s.asset, sum(s.amount) as units, min(s.seen_at) as first_at
      from strays s where s.payment_id = p.id and s.state = any(${LATE_STATES as unknown as string[]}::text[])
      group by 1, 2
    ) added)`;
}

function fiatCode(db: Reader): Fragment {
  return db`case when starts_with(p.amount_unit, 'iso4217/') then substr(p.amount_unit, 9) end`;
}

/** A price of minor units in major units. The factor is an exact decimal, so the product is exact. */
function price(db: Reader, value: Fragment): Fragment {
  return db`(${value} * case p.amount_decimals when 2 then 1e-2 when 0 then 1 when 6 then 1e-6
    else ('1e-' || p.amount_decimals)::numeric end)::text`;
}

function networkOf(db: Reader, asset: Fragment): Fragment {
  return db`split_part(${asset}, '/', 1)`;
}

/** A time in ISO 8601. A format pattern would take four times as long. */
function timeText(db: Reader, time: Fragment): Fragment {
  return db`replace((${time} at time zone 'UTC')::text, ' ', 'T') || 'Z'`;
}

/** The SQL expression of a line by RFC 4180. A single `concat` joins all parts, and leaves null fields empty. */
function csvLine(db: Reader, columns: readonly Column[]): Fragment {
  const fields = columns.map(({ text, isFree }) => (isFree ? csvText(db, text) : text));
  const [first = db``, ...others] = fields;
  return db`concat(${others.reduce((all, field) => db`${all}, ',', ${field}`, first)}, E'\r\n')`;
}

/**
 * A text that a stranger chose, in quotes. Spreadsheets read a text that begins with certain characters as a formula, so an apostrophe is
 * put before it. A text that begins with a letter or a digit cannot be a formula. This check comes first, because it is the fastest.
 */
function csvText(db: Reader, text: Fragment): Fragment {
  const first = db`ascii(${text})`;
  const isPlain = db`${first} between 97 and 122 or ${first} between 65 and 90 or ${first} between 48 and 57`;
  return db`'"' || case when ${isPlain} then '' when ${text} ~ '^\\s*[-=+@\\t\\r＝＋－＠]' then '''' else '' end
    || replace(${text}, '"', '""') || '"'`;
}

/**
 * The SQL expression of a line of JSON. Texts that strangers chose are escaped. All other texts contain nothing to escape. Neighbouring
 * constants are joined into one, for speed.
 */
function jsonLine(db: Reader, columns: readonly Column[]): Fragment {
  let line = db`'{'`;
  let between = '';
  for (const { name, text, isFree, isFilled } of columns) {
    const quote = isFilled && !isFree ? '"' : '';
    const bare = isFree ? db`to_json(${text})` : db`'"' || ${text} || '"'`;
    const value = quote === '"' ? text : isFilled ? bare : db`coalesce((${bare})::text, 'null')`;
    line = db`${line}, ${`${between}"${name}":${quote}`}::text, ${value}`;
    between = `${quote},`;
  }
  return db`concat(${line}, ${between.slice(0, -1)}::text, E'}\n')`;
}
