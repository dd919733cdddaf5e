import { type Static, Type } from 'typebox';
import type { Registry } from '../../chains/registry.ts';
import { isFiatUnit, storedUnit } from '../../chains/units.ts';
import { addDecimals, type Decimal, formatDecimal } from '../../domain/money.ts';
import { PAYMENT_STATUSES } from '../../domain/payment.ts';
import { timeOfShare } from '../../domain/time-to-pay.ts';
import type { DayCount } from '../../store/payments/payment-days.ts';
import type { PaymentStep, StepCount, StepRange } from '../../store/payments/payment-steps.ts';
import { enumOf, nullable } from '../schemas.ts';
import { chainOf } from './payment-list.ts';

export function viewStatistics(
  registry: Registry,
  { fromDay, untilDay }: Pick<StepRange, 'fromDay' | 'untilDay'>,
  days: readonly DayCount[],
  steps: readonly StepCount[],
): Static<typeof StatisticsBody> {
  const paid = days.filter(({ status }) => status === 'succeeded');
  const times = steps.filter(({ step }) => step === 'paid');
  const reached = (wanted: PaymentStep) => sumOf(steps.filter(({ step }) => step === wanted));
  const byDay = Map.groupBy(days, ({ day }) => day);
  const byAsset = Map.groupBy(paid, ({ tokenAsset }) => tokenAsset);
  const statuses = PAYMENT_STATUSES.map((status) => [status, sumOf(days.filter((row) => row.status === status))]);
  return {
    from: fromDay,
    until: untilDay,
    statuses: Object.fromEntries(statuses),
    volume: volumeOf(registry, paid),
    days: [...byDay].map(([day, rows]) => {
      const succeeded = rows.filter(({ status }) => status === 'succeeded');
      return { day, payments: sumOf(rows), succeeded: sumOf(succeeded), volume: volumeOf(registry, succeeded) };
    }),
    assets: [...byAsset]
      .map(([asset, rows]) => ({
        ...viewAsset(registry, asset),
        payments: sumOf(rows),
        volume: volumeOf(registry, rows),
      }))
      .sort((a, b) => b.payments - a.payments),
    steps: {
      created: sumOf(days),
      opened: reached('opened'),
      options: reached('options'),
      signed: reached('signed'),
      paid: reached('paid'),
    },
    timeToPay: { medianSeconds: timeOfShare(times, 0.5), p90Seconds: timeOfShare(times, 0.9) },
  };
}

function sumOf(rows: readonly { readonly payments: number }[]): number {
  return rows.reduce((sum, { payments }) => sum + payments, 0);
}

function viewAsset(registry: Registry, asset: string) {
  const network = chainOf(asset);
  return {
    asset,
    symbol: registry.asset(asset)?.symbol ?? asset,
    network,
    networkName: registry.network(network)?.name ?? network,
  };
}

/** The volume by currency code, or by symbol for prices in a token. */
function volumeOf(registry: Registry, rows: readonly DayCount[]) {
  const sums = new Map<string, Decimal & { readonly kind: 'currency' | 'token' }>();
  for (const { unit, decimals, value } of rows) {
    const { symbol } = storedUnit(registry, unit, decimals);
    const sum = addDecimals(sums.get(symbol) ?? { units: 0n, decimals: 0 }, { units: value, decimals });
    sums.set(symbol, { ...sum, kind: isFiatUnit(unit) ? 'currency' : 'token' });
  }
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { kind, ...sum }]) => ({ currency, kind, decimals: sum.decimals, amount: formatDecimal(sum) }));
}

const Count = Type.Integer({ minimum: 0 });
const Day = Type.String({ format: 'date', examples: ['2026-02-18'] });

const VolumeBody = Type.Array(
  Type.Object(
    {
      currency: Type.String({ description: 'Currency code; the symbol, if priced in a token.' }),
      kind: enumOf(['currency', 'token']),
      decimals: Type.Integer({ minimum: 0, description: 'The decimals to show.' }),
      amount: Type.String({ description: 'Major units, exact.', examples: ['1234.5'] }),
    },
    { title: 'Volume' },
  ),
  { description: 'Prices of succeeded payments, less the parts that were refunded.' },
);

export const StatisticsBody = Type.Object(
  {
    from: Day,
    until: Day,
    statuses: Type.Object(
      Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, Count])) as Record<string, typeof Count>,
      { title: 'StatusCounts', description: 'The number of payments by their present status.' },
    ),
    volume: VolumeBody,
    days: Type.Array(
      Type.Object({ day: Day, payments: Count, succeeded: Count, volume: VolumeBody }, { title: 'DayStatistics' }),
      {
        description: 'Days with payments, in order. A payment belongs to the day (UTC) on which it was created.',
      },
    ),
    assets: Type.Array(
      Type.Object(
        {
          asset: Type.String({ description: 'CAIP-19.' }),
          symbol: Type.String(),
          network: Type.String({ description: 'CAIP-2.' }),
          networkName: Type.String(),
          payments: Count,
          volume: VolumeBody,
        },
        { title: 'AssetStatistics' },
      ),
      { description: 'What succeeded payments were paid with, the most used first.' },
    ),
    steps: Type.Object(
      { created: Count, opened: Count, options: Count, signed: Count, paid: Count },
      {
        title: 'StepCounts',
        description:
          'Payments that were created, opened by a payer, shown with ways to pay, signed and paid. Each counts once, under the day of its creation. The steps follow their payments within seconds.',
      },
    ),
    timeToPay: Type.Object(
      {
        medianSeconds: nullable(Type.Integer({ minimum: 0 })),
        p90Seconds: nullable(Type.Integer({ minimum: 0 })),
      },
      {
        title: 'TimeToPay',
        description:
          'From creation to success: half of the payments, and nine in ten, took at most so long. Times are counted in steps of about a fifth. Null if nothing was paid.',
      },
    ),
  },
  { title: 'PaymentStatistics', description: 'The statistics.' },
);

export const AttentionBody = Type.Object(
  {
    waitingRefunds: { ...Count, description: 'Refunds that wait for money on the intermediate account.' },
    failedRefunds: { ...Count, description: 'Refunds that have failed, without vetoed ones.' },
    failingEndpoints: {
      ...Count,
      description: 'Webhook endpoints whose last deliveries failed, and those that were disabled for it.',
    },
    heldPayments: {
      ...Count,
      description: 'Payments whose net amount is held, because the merchant has no destination.',
    },
    lateMoney: { ...Count, description: 'Amounts of late money whose return nobody has requested.' },
    slowPayments: { ...Count, description: 'Payments older than 15 minutes that are processing.' },
  },
  { title: 'AttentionCounts', description: 'The counts. Each ends at 1000.' },
);
