import { describeOthers } from './contest.ts';
import { compare, type Figure, type Measurement, median, round } from './figures.ts';
import { settle } from './gateway.ts';
import { shareDuring } from './quiet.ts';
import { prepareOurs, settleOurs, startShops } from './settle.ts';
import { type Receiver, startReceiver, subscribeMany } from './webhook-endpoints.ts';

const ENDPOINTS = 10;
const PAYMENTS_PER_TURN = 1_000;
const ROUNDS = 3;

/** Settling payments with ten endpoints subscribed to all events, compared with none. */
export const settleWithWebhooksMeasurement: Measurement = {
  names: ['settle_with_webhooks'],
  async measure() {
    const receiver = await startReceiver();
    try {
      return [await measureBoth(receiver)];
    } finally {
      await receiver.stop();
    }
  },
};

type Settled = Awaited<ReturnType<typeof settleOurs>>;

async function measureBoth(receiver: Receiver): Promise<Figure> {
  const { chain, gateway } = await startShops();
  try {
    const endpoints = await subscribeMany(gateway, { receiver, count: ENDPOINTS, events: ['payment.*'] });
    const shares: number[] = [];
    const turn = async (name: string, status: 'active' | 'disabled') => {
      await endpoints.set('disabled');
      const payments = await prepareOurs(chain, gateway, { count: PAYMENTS_PER_TURN, name });
      await endpoints.dropBacklog();
      await endpoints.set(status);
      const { result, others } = await shareDuring(() => settleOurs(chain, gateway, payments));
      if (result.succeeded < payments.length) throw new Error(`Only ${result.succeeded} payments succeeded.`);
      shares.push(others);
      return result;
    };
    await turn('warm-up', 'disabled');
    await settle(gateway);
    const withEndpoints: Settled[] = [];
    const without: Settled[] = [];
    for (let done = 0; done < ROUNDS; done += 1) {
      withEndpoints.push(await turn(`with-${done}`, 'active'));
      without.push(await turn(`without-${done}`, 'disabled'));
    }
    const rates = (turns: readonly Settled[]) => turns.map(({ perSecond }) => perSecond);
    const { ratio, byRound } = compare(rates(withEndpoints), rates(without));
    return {
      name: 'settle_with_webhooks',
      value: ratio,
      target: { atLeast: 0.9 },
      unit: 'x',
      detail: {
        [`payments/s with ${ENDPOINTS} endpoints`]: rates(withEndpoints).map((value) => round(value)),
        'payments/s without': rates(without).map((value) => round(value)),
        'processor time per payment in µs with them: the gateway, PostgreSQL, the chain': middle(withEndpoints),
        'processor time per payment in µs without': middle(without),
        'ratio by round': byRound,
        ...describeOthers(shares),
      },
    };
  } finally {
    await gateway.stop();
    await chain.stop();
  }
}

function middle(turns: readonly Settled[]): number[] {
  return [0, 1, 2].map((place) => median(turns.map(({ eachUs }) => eachUs[place] ?? 0)));
}
