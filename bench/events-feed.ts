import type { ChildProcess } from 'node:child_process';
import { call } from './calls.ts';
import { describeOthers } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import type { FeedMessage, FeedReport } from './feed-client.ts';
import { type Figure, type Measurement, quantile, round } from './figures.ts';
import { type Gateway, merchantId, settle, startGateway } from './gateway.ts';
import { type BenchPartner, createPartners } from './partners.ts';
import { messageOf, startClient, stopProcess, until } from './processes.ts';
import { shareDuring } from './quiet.ts';
import { atRate } from './steadily.ts';

/** Each follows the feed of a partner of its own. */
const FOLLOWERS = 1_000;
const EVENTS_PER_SECOND = 500;
const WARM_UP_SECONDS = 3;
const SECONDS = 15;
const ARRIVED_WITHIN_MS = 60_000;

/** The time from an event to its arrival at the follower of its partner. */
export const eventsFeedMeasurement: Measurement = {
  names: ['events_feed'],
  async measure() {
    const gateway = await startGateway();
    const client = startClient(new URL('./feed-client.ts', import.meta.url));
    try {
      return [await measureFeed(gateway, client)];
    } finally {
      await stopProcess(client);
      await gateway.stop();
    }
  },
};

async function measureFeed(gateway: Gateway, client: ChildProcess): Promise<Figure> {
  const partners = await createPartners(gateway.databaseUrl.href, { count: FOLLOWERS });
  await addMerchants(gateway, partners);
  client.send({ port: gateway.port, apiKeys: partners.map(({ apiKey }) => apiKey) } satisfies FeedMessage);
  await messageOf<FeedReport>(client, { withinMs: ARRIVED_WITHIN_MS });
  const create = (seconds: number) =>
    atRate({ seconds, perSecond: EVENTS_PER_SECOND }, (number) => {
      const index = number % partners.length;
      const headers = {
        'Api-Key': partners[index]?.apiKey ?? '',
        'Merchant-Id': merchantId(index + 1),
        'Content-Type': 'application/json',
      };
      const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: `FEED-${number}` });
      return call({ port: gateway.port, method: 'POST', path: '/v1/payments', headers, body });
    });
  await create(WARM_UP_SECONDS);
  await arrived(client, WARM_UP_SECONDS * EVENTS_PER_SECOND);
  await settle(gateway);
  const before = await readCpuUse(gateway.pid);
  const { others } = await shareDuring(() => create(SECONDS));
  const agesMs = await arrived(client, SECONDS * EVENTS_PER_SECOND);
  const after = await readCpuUse(gateway.pid);
  const eachUs = [after.ownMs - before.ownMs, after.belowMs - before.belowMs].map((ms) =>
    round((ms * 1000) / agesMs.length),
  );
  return {
    name: 'events_feed',
    value: round(quantile(agesMs, 0.99)),
    target: { atMost: 200 },
    unit: 'ms',
    detail: {
      'events, followers': [agesMs.length, FOLLOWERS],
      'median in ms': quantile(agesMs, 0.5),
      'processor time per event in µs, its payment included: the gateway, PostgreSQL': eachUs,
      ...describeOthers([others]),
    },
  };
}

/** The ages of events, once so many have arrived. */
async function arrived(client: ChildProcess, count: number): Promise<number[]> {
  const agesMs: number[] = [];
  const all = async () => {
    const report = messageOf<FeedReport>(client, { withinMs: ARRIVED_WITHIN_MS });
    client.send('report' satisfies FeedMessage);
    const found = await report;
    if (found !== 'ready') agesMs.push(...found.agesMs);
    return agesMs.length >= count ? agesMs : undefined;
  };
  return until(`${count} events have arrived`, all, { withinMs: ARRIVED_WITHIN_MS });
}

/** One merchant for each partner. */
async function addMerchants({ sql }: Gateway, partners: readonly BenchPartner[]): Promise<void> {
  await sql`
    insert into merchants (id, partner_id, mode, name, email, status, created_at, updated_at)
    select 'mrch_' || lpad(n::text, 26, '0'), id, 'test', 'Shop ' || n, 'shop@example.com', 'active', now(), now()
    from unnest(${partners.map(({ id }) => id)}::text[]) with ordinality as p(id, n)`;
}
