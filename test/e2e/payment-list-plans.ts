import fc from 'fast-check';
import { PAYMENT_STATUSES, type PaymentEvent } from '../../src/domain/payment.ts';
import { FIATS, type ModelQuery, type ModelUnit, NOW_MS, T0_MS, TOKEN_UNITS } from './payment-list-model.ts';
import { TX_HASH } from './shop.ts';

/** The planned events of a payment. */
export interface PaymentPlan {
  /** Its merchant, by number. The last one is another partner's. */
  readonly merchant: number;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly referenceId: string;
  readonly unit: ModelUnit;
  readonly value: bigint;
  readonly isNative: boolean;
  readonly events: readonly PaymentEvent[];
}

const ACCOUNTS = [
  'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  'eip155:1:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
];
/** Few of them, so that many are the same. */
const moment = fc.constantFrom(0, 1, 2, 999, 1_000, 5_000, 5_001).map((ms) => T0_MS + ms);
const value = fc.oneof(
  fc.constantFrom(1n, 9n, 10n, 100n, 1_000_000n, 10n ** 18n, 10n ** 78n - 1n),
  fc.bigInt({ min: 1n, max: 10n ** 40n }),
);
const referenceId = fc.constantFrom(
  'order-1',
  'order-10',
  'ORDER-1',
  'a 1/2:3.4,5+6-7',
  '100%_x',
  'täst',
  'noise-less',
);

const facts = fc
  .record({ account: fc.constantFrom(...ACCOUNTS), token: fc.constantFrom(...TOKEN_UNITS), value })
  .map(({ account, token, value: units }) => {
    const buyer = { account, name: 'Wallet', icon: null };
    return { buyer, token: { asset: token.asset, value: units } };
  });
const confirmed = facts.map((known): PaymentEvent => ({ type: 'confirmed', ...known, isNative: false }));
const TRANSACTION = { hash: TX_HASH, nonce: 7 };
/** The arrived transfer may differ from the confirmed one. */
const succeeded = facts.map((known): PaymentEvent => ({ type: 'succeeded', ...known, transaction: TRANSACTION }));
const FAILED: PaymentEvent = { type: 'failed', failureCode: null };
const EXPIRED: PaymentEvent = { type: 'expired', proof: { finalBlockAtMs: NOW_MS * 2 } };

/** Whole lives of payments. */
const events = fc.oneof(
  { arbitrary: fc.constant<PaymentEvent[]>([]), weight: 3 },
  { arbitrary: fc.tuple(confirmed, succeeded), weight: 4 },
  confirmed.map((event) => [event]),
  confirmed.map((event) => [event, FAILED]),
  confirmed.map((event) => [event, EXPIRED]),
  fc.constant<PaymentEvent[]>([FAILED]),
  fc.constant<PaymentEvent[]>([EXPIRED]),
  fc.constantFrom<PaymentEvent[]>([{ type: 'cancelled', by: 'merchant' }], [{ type: 'cancelled', by: 'user' }]),
);

export const paymentPlan: fc.Arbitrary<PaymentPlan> = fc
  .record({
    merchant: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.constantFrom(1, 2, 3)),
    createdMs: moment,
    // The queries run at the last one, to the millisecond.
    expiresMs: fc.constantFrom(T0_MS + 10_000, NOW_MS - 1_000, NOW_MS, NOW_MS + 1_000, NOW_MS + 600_000),
    referenceId,
    unit: fc.constantFrom(...FIATS, ...TOKEN_UNITS),
    value,
    isNative: fc.boolean(),
    events,
  })
  .map((plan) => ({ ...plan, isNative: plan.isNative && plan.events.length === 0 }));

const some = <T>(items: readonly T[]) => fc.oneof(fc.constant([]), fc.subarray([...items], { minLength: 1 }));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, arbitrary);

const filters = fc.record({
  range: rarely(fc.tuple(maybe(moment), maybe(moment))),
  symbols: rarely(some(['USDC', 'EURC', 'ETH', 'USDT', 'NONE'])),
  networks: rarely(some(['eip155:8453', 'eip155:56', 'eip155:1', 'eip155:10'])),
  statuses: maybe(some(PAYMENT_STATUSES)),
  referenceId: rarely(fc.constantFrom('order', 'order-1', 'ORDER', '1/2:3', '00 ', 'noise', 'nothing')),
});

export const queryPlan: fc.Arbitrary<ModelQuery> = fc
  .record({
    scope: fc.constantFrom('merchant', 'merchant', 'partner', 'restricted' as const),
    wanted: rarely(fc.subarray([0, 1, 2, 3, 4], { minLength: 1 })),
    // Half of the queries have no filter except statuses, so the totals answer them.
    filters: fc.oneof(
      filters,
      filters.map(({ statuses }) => ({ statuses })),
    ) as typeof filters,
    sortBy: maybe(fc.constantFrom('date', 'amount')),
    sortDir: maybe(fc.constantFrom('asc', 'desc')),
    limit: fc.constantFrom(1, 2, 3, 7, 50, 200),
  })
  .map(({ filters: { range, symbols = [], networks = [], statuses = [], referenceId: part }, ...rest }) => {
    const [startMs, endMs] = range ?? [];
    const isBackwards = startMs !== undefined && endMs !== undefined && startMs > endMs;
    const [from, until] = isBackwards ? [endMs, startMs] : [startMs, endMs];
    return {
      ...(rest as Pick<ModelQuery, 'scope' | 'wanted' | 'sortBy' | 'sortDir' | 'limit'>),
      startMs: from,
      endMs: until,
      symbols,
      networks,
      statuses,
      referenceId: part,
    };
  });

/** The query as a client sends it: lists with commas or repeated, times with other offsets. */
export function searchOf(
  query: ModelQuery,
  { ids, cursor }: { ids: readonly string[]; cursor: string | null },
): URLSearchParams {
  const { startMs, endMs, symbols, networks, statuses, referenceId: part, sortBy, sortDir, limit } = query;
  const search = new URLSearchParams({ limit: String(limit) });
  if (startMs !== undefined) search.set('startTs', new Date(startMs).toISOString());
  if (endMs !== undefined) search.set('endTs', `${new Date(endMs + 3_600_000).toISOString().slice(0, -1)}+01:00`);
  for (const symbol of symbols) search.append('token_symbol', symbol);
  if (networks.length > 0) search.set('network', networks.join());
  if (limit % 2 === 0 && statuses.length > 0) search.set('status', statuses.join());
  else for (const status of statuses) search.append('status', status);
  if (part !== undefined) search.set('referenceId', part);
  if (sortBy !== undefined) search.set('sortBy', sortBy);
  if (sortDir !== undefined) search.set('sortDir', sortDir);
  for (const id of ids) search.append('merchantId', id);
  if (cursor !== null) search.set('cursor', cursor);
  return search;
}
