import { call } from './calls.ts';
import { describeOthers, perSecond, type Turn, takeTurn } from './contest.ts';
import { createSide } from './create.ts';
import { compare, type Figure, type Measurement, median, round } from './figures.ts';
import { addMerchants, type Gateway, merchantId, startGateway } from './gateway.ts';
import { loadPayments } from './loader.ts';
import { createQuiet } from './quiet.ts';

const PER_MERCHANT = 10_000;
const MERCHANTS = 1_000;
/** A merchant in the middle: its rows are not the first or last of any index. */
const WATCHED = 500;
const PAGE = 50;
const ROUNDS = 5;
const ASKED_PER_ROUND = 40;
const CREATE_SECONDS = 10;
const CREATE_CONNECTIONS = 128;

/** The speed of lists and of creating payments with ten million payments in the database. */
export const growthMeasurement: Measurement = {
  names: ['list_growth', 'create_growth'],
  isLarge: true,
  async measure(wanted) {
    const open: Gateway[] = [];
    const start = async () => {
      const gateway = await startGateway();
      open.push(gateway);
      await addMerchants(gateway, MERCHANTS);
      return gateway;
    };
    const load = async (gateway: Gateway, merchants: number) => {
      const loaded = await gateway.restart((sql) => loadPayments(sql, { merchants, perMerchant: PER_MERCHANT }));
      open.splice(open.indexOf(gateway), 1, loaded);
      return loaded;
    };
    try {
      const large = await load(await start(), MERCHANTS);
      return [
        ...(wanted.has('list_growth') ? [await listGrowth(large, await load(await start(), 1))] : []),
        ...(wanted.has('create_growth') ? [await createGrowth(large, await start())] : []),
      ];
    } finally {
      for (const gateway of open) await gateway.stop();
    }
  },
};

/** The lists that a merchant's staff opens. */
const VIEWS = {
  page_1: `limit=${PAGE}`,
  page_100: `limit=${PAGE}`,
  reference: `limit=${PAGE}&referenceId=000042`,
  status: `limit=${PAGE}&status=cancelled`,
  stats: 'limit=1',
} as const;

type View = keyof typeof VIEWS;

async function listGrowth(large: Gateway, small: Gateway): Promise<Figure> {
  const sides = [
    { gateway: large, merchant: merchantId(WATCHED) },
    { gateway: small, merchant: merchantId(1) },
  ] as const;
  const ratios: Record<string, number> = {};
  const detail: Record<string, readonly number[]> = {};
  for (const view of Object.keys(VIEWS) as View[]) {
    const cursors = await Promise.all(sides.map((side) => (view === 'page_100' ? cursorOfPage(side, 100) : '')));
    const p50s: [number[], number[]] = [[], []];
    for (let done = 0; done < ROUNDS; done += 1) {
      for (const [index, side] of sides.entries()) {
        const times: number[] = [];
        for (let asked = 0; asked < ASKED_PER_ROUND; asked += 1) {
          times.push((await list(side, `${VIEWS[view]}${cursors[index]}`)).ms);
        }
        p50s[index]?.push(median(times));
      }
    }
    const { ratio, byRound } = compare(p50s[0], p50s[1]);
    ratios[view] = ratio;
    detail[`${view}: ratio, p50 in ms with and without the others`] = [
      ratio,
      ...p50s.map((p50) => round(median(p50), 2)),
    ];
    detail[`${view}: ratio by round`] = byRound;
  }
  return {
    name: 'list_growth',
    value: Math.max(...Object.values(ratios)),
    target: { atMost: 1.5 },
    unit: 'x',
    detail,
  };
}

interface ListSide {
  readonly gateway: Gateway;
  readonly merchant: string;
}

async function list({ gateway, merchant }: ListSide, query: string) {
  const headers = { 'Api-Key': gateway.apiKey, 'Merchant-Id': merchant };
  const { text, ms } = await call({ port: gateway.port, path: `/v1/merchants/payments?${query}`, headers });
  return { answer: JSON.parse(text) as { data: unknown[]; nextCursor: string | null }, ms };
}

/** A page can only be reached through the pages before it. */
async function cursorOfPage(side: ListSide, page: number): Promise<string> {
  let cursor = '';
  for (let at = 1; at < page; at += 1) {
    const { nextCursor } = (await list(side, `${VIEWS.page_100}${cursor}`)).answer;
    if (nextCursor === null) throw new Error(`The list ends on page ${at}.`);
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
  return cursor;
}

async function createGrowth(large: Gateway, empty: Gateway): Promise<Figure> {
  const sides = [createSide(large), createSide(empty)] as const;
  const input = { connections: CREATE_CONNECTIONS, seconds: CREATE_SECONDS };
  for (const side of sides) await side.run({ ...input, isWarmUp: true });
  const quiet = createQuiet();
  const turns: [Turn[], Turn[]] = [[], []];
  for (let done = 0; done < ROUNDS; done += 1) {
    turns[0].push(await takeTurn(quiet, sides[0], input));
    turns[1].push(await takeTurn(quiet, sides[1], input));
  }
  const rates = [turns[0].map(perSecond), turns[1].map(perSecond)] as const;
  const { ratio, byRound } = compare(...rates);
  return {
    name: 'create_growth',
    value: ratio,
    target: { atLeast: 0.8 },
    unit: 'x',
    detail: {
      [`payments/s with ${MERCHANTS * PER_MERCHANT} rows`]: rates[0].map((rate) => round(rate)),
      'payments/s, empty': rates[1].map((rate) => round(rate)),
      'ratio by round': byRound,
      ...describeOthers(turns.flat().map(({ others }) => others)),
    },
  };
}
