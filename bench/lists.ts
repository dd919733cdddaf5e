import { call } from './calls.ts';
import { type Figure, median, quantile, round } from './figures.ts';
import { type Gateway, merchantId } from './gateway.ts';

/** Enough for a p99 that one pause of the machine does not decide. */
const ASKED = 400;
const DAY_MS = 86_400_000;

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const ORDERED = ['sortBy=amount', 'sortBy=amount&sortDir=asc', 'sortDir=asc'] as const;

/** Every documented filter and order alone. */
const SINGLE = {
  none: '',
  oldest: 'sortDir=asc',
  largest: 'sortBy=amount',
  smallest: 'sortBy=amount&sortDir=asc',
  succeeded: 'status=succeeded',
  open: 'status=requires_action',
  processing: 'status=processing',
  reference: 'referenceId=000042',
  reference_unknown: 'referenceId=nothing',
  since: `startTs=${daysAgo(63.3)}`,
  until: `endTs=${daysAgo(21.7)}`,
  range: `startTs=${daysAgo(63.3)}&endTs=${daysAgo(21.7)}`,
  token: 'token_symbol=USDC',
  token_unused: 'token_symbol=ETH',
  network: 'network=eip155:8453',
  network_unused: 'network=eip155:10',
} as const;

const NARROWED = ['status=failed', 'token_symbol=USDC', SINGLE.range, 'referenceId=000042'] as const;

/** Filters with each other and with every order. */
const COMBINED: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...NARROWED.flatMap((filter) => ORDERED.map((order) => `${filter}&${order}`)),
    `status=failed&token_symbol=USDC&${SINGLE.range}`,
    `status=failed&token_symbol=USDC&${SINGLE.range}&sortBy=amount`,
    'status=expired,cancelled&token_symbol=ETH&sortBy=amount',
    `referenceId=00004&status=succeeded&${SINGLE.range}`,
  ].map((query) => [query.replace(/\.\d+Z|\d\dT[^&]*/g, ''), query]),
);

/** The lists of a merchant with a tenth of all payments, with their totals. */
export async function measureLists(gateway: Gateway, merchant: number, wanted: ReadonlySet<string>): Promise<Figure[]> {
  const all = [
    { name: 'lists', views: SINGLE, atMost: 50 },
    { name: 'lists_combined', views: COMBINED, atMost: 500 },
  ];
  const figures: Figure[] = [];
  for (const each of all) if (wanted.has(each.name)) figures.push(await slowest(gateway, merchant, each));
  return figures;
}

interface Views {
  readonly name: string;
  readonly views: Readonly<Record<string, string>>;
  readonly atMost: number;
}

/** The p99 of the slowest view, from sequential requests. */
async function slowest(gateway: Gateway, merchant: number, { name, views, atMost }: Views): Promise<Figure> {
  const headers = { 'Api-Key': gateway.apiKey, 'Merchant-Id': merchantId(merchant) };
  const p99s: number[] = [];
  const detail: Record<string, readonly number[]> = {};
  for (const [view, query] of Object.entries(views)) {
    const path = `/v1/merchants/payments?limit=50${query === '' ? '' : `&${query}`}`;
    const times: number[] = [];
    for (let asked = 0; asked < ASKED; asked += 1) times.push((await call({ port: gateway.port, path, headers })).ms);
    const p99 = quantile(times, 0.99);
    p99s.push(p99);
    detail[`${view}: p50 and p99 in ms`] = [round(median(times), 1), round(p99, 1)];
  }
  return { name, value: round(Math.max(...p99s), 1), target: { atMost }, unit: 'ms', detail };
}
