import type { FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Registry } from '../../chains/registry.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import type { PaymentFilter } from '../../store/payments/payment-filter.ts';
import { type ListedPayment, listPayments } from '../../store/payments/payment-lists.ts';
import { type PaymentStats, readPaymentStats } from '../../store/payments/payment-stats.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { HttpDeps } from '../deps.ts';
import { Cursor, enumOf, limitOf, PLAIN_TEXT, plainText } from '../schemas.ts';
import type { CallerRights } from './caller.ts';
import { readSearch } from './payment-search.ts';
import { isPlausibleId } from './plausible-id.ts';

/** A query for a list of payments, independent of the route's parameter names. */
export interface ListRequest extends Owner {
  readonly merchantIds: readonly string[] | null;
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly symbols: readonly string[];
  readonly networks: readonly string[];
  readonly statuses: readonly PaymentStatus[];
  readonly referenceId: string | undefined;
  readonly search: string | undefined;
  readonly sortBy: 'date' | 'amount' | undefined;
  readonly sortDir: 'asc' | 'desc' | undefined;
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  readonly stats: StatsWanted | undefined;
}

type StatsWanted = (typeof STATS)[number];

export interface ListAnswer {
  readonly page: readonly ListedPayment[];
  readonly nextCursor: string | null;
  /** The totals of all pages. Undefined if the request does not want them. */
  readonly stats: PaymentStats | undefined;
  readonly nowMs: number;
}

/** One page of payments, the cursor of the next page, and the totals of all pages. */
export async function answerList(
  deps: Pick<HttpDeps, 'world' | 'cursorKeys' | 'config'>,
  db: Reader,
  request: ListRequest,
): Promise<ListAnswer> {
  const nowMs = deps.world.clock.nowMs();
  const { sortBy = 'date', sortDir = 'desc', limit = DEFAULT_LIMIT, stats: wanted = 'all' } = request;
  const question = canonical(request, sortBy, sortDir);
  const filter = await filterOf(deps, db, request, new Date(nowMs));
  const afterId = openAfter(deps, question, request.cursor);
  // The statements run one after the other, so that a list occupies only one connection and one processor of the database.
  const rows = await listPayments(db, { ...filter, sortBy, sortDir, afterId, limit: limit + 1 });
  const stats =
    wanted === 'none' ? undefined : await readPaymentStats(db, filter, { countsCustomers: wanted === 'all' });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const nextCursor = last === undefined ? null : sealCursor(deps.cursorKeys, question, [last.id]);
  return { page, nextCursor, stats, nowMs };
}

/**
 * The query in one canonical spelling, to which a cursor is bound: the owner, the merchants, the filters and the order. The time
 * range is not included, because point-of-sale software computes a new `endTs` for each page. This is safe: a cursor is a position,
 * and the range only bounds the list.
 */
function canonical(request: ListRequest, sortBy: string, sortDir: string): string {
  const { partnerId, mode, merchantIds, symbols, networks, statuses, referenceId, search } = request;
  const set = (items: readonly string[]) => [...new Set(items)].sort();
  return JSON.stringify([
    'payments',
    partnerId,
    mode,
    merchantIds && set(merchantIds),
    // The time range was here in older versions. The two values stay null, so that older cursors without a time range stay valid.
    null,
    null,
    set(symbols.map((symbol) => symbol.toLowerCase())),
    set(networks),
    set(statuses),
    referenceId ?? null,
    sortBy,
    sortDir,
    // The search text is added only if there is one, so that cursors of versions without a search stay valid.
    ...(search === undefined ? [] : [search]),
  ]);
}

export type FilterRequest = Omit<ListRequest, 'sortBy' | 'sortDir' | 'cursor' | 'limit' | 'stats'>;

export async function filterOf(
  { config }: Pick<HttpDeps, 'config'>,
  db: Reader,
  request: FilterRequest,
  now: Date,
): Promise<PaymentFilter> {
  const { partnerId, mode, merchantIds, start, end, symbols, networks, statuses, referenceId, search } = request;
  if (search !== undefined && referenceId !== undefined) {
    throw validationError([{ field: 'search', message: 'cannot be used together with referenceId' }]);
  }
  const sought = search === undefined ? undefined : await readSearch(db, config.publicUrl, search);
  return {
    partnerId,
    mode,
    merchantIds,
    fromMs: timeOf(start),
    untilMs: timeOf(end),
    assets: symbols.length === 0 ? undefined : assetsCalled(config.registry, symbols),
    networks: networks.length === 0 ? undefined : networks,
    statuses: statuses.length === 0 ? undefined : statuses,
    referencePart: referenceId,
    ...sought,
    now,
  };
}

function timeOf(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseTimestamp(text);
  return parsed?.ok ? parsed.value : undefined;
}

/** The assets with these symbols. An unknown symbol matches nothing. */
function assetsCalled(registry: Registry, symbols: readonly string[]): string[] {
  const wanted = new Set(symbols.map((symbol) => symbol.toLowerCase()));
  return registry.assets.filter(({ symbol }) => wanted.has(symbol.toLowerCase())).map(({ id }) => id);
}

function openAfter(
  deps: Pick<HttpDeps, 'cursorKeys'>,
  question: string,
  cursor: string | undefined,
): string | undefined {
  if (cursor === undefined) return undefined;
  const [afterId] = openCursor(deps.cursorKeys, question, cursor) ?? [];
  if (afterId === undefined) {
    throw new ApiError(
      'invalid_params',
      'The cursor is not one of ours for this query: use nextCursor with the same filters and the same order.',
    );
  }
  return afterId;
}

/** The requested merchants that the key may see. Unknown and foreign ids match nothing. */
export function merchantsFor(
  { merchantIds: allowed }: Pick<CallerRights, 'merchantIds'>,
  wanted: readonly string[] | undefined,
): readonly string[] | null {
  if (wanted === undefined) return allowed;
  return wanted.filter((id) => isPlausibleId(id) && (allowed === null || allowed.includes(id)));
}

/**
 * Splits `a,b` into `a` and `b`, in each of the named query parameters. A parameter may also be repeated. Runs before the schema
 * checks the parameters.
 */
export function splitCommas(names: readonly string[]) {
  return (request: FastifyRequest, _reply: unknown, done: () => void): void => {
    const query = request.query as Record<string, unknown>;
    for (const name of names) {
      if (Object.hasOwn(query, name)) query[name] = [query[name]].flat().flatMap((value) => String(value).split(','));
    }
    done();
  };
}

const DEFAULT_LIMIT = 50;
const STATS = ['all', 'totals', 'none'] as const;
const MOST_VALUES = 50;
const REPEATED = 'May be repeated, or hold several with commas between them.';

const range = (form: string, description: string) =>
  Type.Optional(
    Type.String({
      'x-form': form,
      description: `${description} RFC 3339 with its offset; the seconds may be left out.`,
      examples: ['2026-02-18T09:30:00Z'],
    }),
  );

/** Parameters of every list of payments. Each route gives them its own names. */
export const ListParameter = {
  start: range('timestamp', 'Made at this time or later.'),
  end: range('end-of-range', 'Made before this time.'),
  merchants: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 50,
      description: 'Only of these merchants. May be repeated.',
    }),
  ),
  referenceId: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 35,
      pattern: '^[A-Za-z0-9 /:.,+-]*$',
      'x-rule': 'must be ASCII letters, digits, spaces and / : . , + -',
      description: 'A part of the reference id, in any case.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 512,
      ...PLAIN_TEXT,
      'x-form': 'text-trimmed',
      'x-rule': 'must be text without control characters, and without white space around it',
      description:
        'Finds payments by the id of a payment or refund, the link of a checkout, the hash of a transaction that paid, settled or refunded them, the account of the payer (CAIP-10, or its address alone), or else by a part of the reference id.',
      examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    }),
  ),
  sortBy: Type.Optional(
    enumOf(['date', 'amount'], 'Default: date. Amounts are compared in major units, whatever the currency.'),
  ),
  sortDir: Type.Optional(enumOf(['asc', 'desc'], 'Default: desc.')),
  cursor: Type.Optional(Cursor),
  limit: limitOf(200, DEFAULT_LIMIT),
  stats: Type.Optional(
    enumOf(
      STATS,
      'The members of `stats`. Default: `all`. `totals` leaves out `totalCustomers`, which takes the longest if there are many customers. `none` leaves out all of them, for pages after the first.',
    ),
  ),
  symbols: (description: string) =>
    several(
      Type.String({
        ...plainText(1, 64, '/:'),
        'x-rule':
          'must be the symbol of a token, such as USDC, of at most 64 characters; CAIP-19 ids are not taken here',
        examples: ['USDC'],
      }),
      description,
    ),
  networks: () => several(Type.String({ 'x-form': 'caip2-chain', examples: ['eip155:8453'] }), 'CAIP-2 chain ids.'),
} as const;

export function several<S extends TSchema>(item: S, description: string) {
  return Type.Optional(Type.Array(item, { maxItems: MOST_VALUES, description: `${description} ${REPEATED}` }));
}
