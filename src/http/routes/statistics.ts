import { type Static, Type } from 'typebox';
import { firstIdAt } from '../../domain/ids.ts';
import { type Issue, validationError } from '../../errors.ts';
import { countAttention, countDays } from '../../store/payments/payment-days.ts';
import { countSteps } from '../../store/payments/payment-steps.ts';
import { listEndpoints } from '../../store/webhooks/endpoints.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, ownerOf } from '../entry/caller.ts';
import { ListParameter, merchantsFor } from '../entry/payment-query.ts';
import { AttentionBody, StatisticsBody, viewStatistics } from '../views/statistics.ts';
import { ownershipOf } from './webhook-endpoints.ts';

const READ = { scheme: 'partner', scope: 'payments:read' } as const;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const SLOW_MS = 15 * 60_000;

/** Routes for statistics of payments, from stored totals. No request reads the single payments, so their number does not matter. */
export async function statisticsRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get(
    '/v1/statistics/payments',
    { schema: STATISTICS, config: { access: READ, priority: 'spare' } },
    async (request, reply) => {
      const range = {
        ...ownerOf(request),
        merchantIds: merchantsFor(callerRights(request), request.query.merchantId),
        ...daysOf(request.query, deps.world.clock.nowMs()),
      };
      const [days, steps] = await deps.lists.readReplicated(
        callerRights(request),
        reply,
        async (db) => [await countDays(db, range), await countSteps(db, range)] as const,
      );
      return viewStatistics(deps.registry, range, days, steps);
    },
  );

  app.get(
    '/v1/statistics/attention',
    { schema: ATTENTION, config: { access: READ, priority: 'spare' } },
    async (request, reply) => {
      const owner = ownerOf(request);
      const { id: keyId, merchantIds } = callerRights(request);
      const isOwn = ownershipOf(request);
      const slowBefore = firstIdAt('pay_', deps.world.clock.nowMs() - SLOW_MS);
      return deps.lists.read(keyId, reply, async (db) => {
        const endpoints = (await listEndpoints(db, owner)).filter(isOwn);
        // Only endpoints that fail, or that were disabled because they failed, need attention. An endpoint that a person disabled does not.
        const failing = endpoints.filter(({ failingSince }) => failingSince !== null);
        return {
          ...(await countAttention(db, { ...owner, merchantIds, slowBefore })),
          failingEndpoints: failing.length,
        };
      });
    },
  );
}

/** The requested days, the last 30 by default. */
function daysOf({ from, until }: Static<typeof Days>, nowMs: number) {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const issues: Issue[] = [];
  const read = (field: string, text: string | undefined, fallback: number) => {
    const ms = text === undefined ? fallback : Date.parse(`${text}T00:00:00Z`);
    if (!Number.isNaN(ms) && (text === undefined || dayText(ms) === text)) return ms;
    issues.push({ field, message: 'must be a day of the calendar, such as 2026-02-18' });
    return fallback;
  };
  const untilMs = read('until', until, today);
  const fromMs = read('from', from, untilMs - (DEFAULT_DAYS - 1) * DAY_MS);
  if (issues.length === 0 && fromMs > untilMs) issues.push({ field: 'from', message: 'must not be after until' });
  if (issues.length === 0 && untilMs - fromMs >= MAX_DAYS * DAY_MS) {
    issues.push({ field: 'from', message: `must be at most ${MAX_DAYS} days before the end of until` });
  }
  if (issues.length > 0) throw validationError(issues);
  return { fromDay: dayText(fromMs), untilDay: dayText(untilMs) };
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const TAGS = ['Statistics'];

const day = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}$',
      'x-rule': 'must be a day such as 2026-02-18',
      description,
      examples: ['2026-02-18'],
    }),
  );

const Days = Type.Object({
  from: day('The first day (UTC). Default: 30 days with the last one.'),
  until: day('The last day (UTC). Default: today.'),
});

const STATISTICS = {
  tags: TAGS,
  operationId: 'getPaymentStatistics',
  summary: 'Get statistics of payments',
  description:
    'Of all merchants that the caller may act for, or of those named. The numbers are exact: late refunds change the day on which the payment was created. At most 366 days.',
  querystring: Type.Object({ ...Days.properties, merchantId: ListParameter.merchants }),
  response: { 200: StatisticsBody },
};

const ATTENTION = {
  tags: TAGS,
  operationId: 'getAttentionCounts',
  summary: 'Count what waits for a person',
  description: 'Of all merchants that the caller may act for.',
  response: { 200: AttentionBody },
};
