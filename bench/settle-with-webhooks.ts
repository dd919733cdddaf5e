import { describeOthers } from './contest.ts';
import { compare, type Figure, type Measurement, round } from './figures.ts';
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
      return result.perSecond;
    };
    await turn('warm-up', 'disabled');
    await settle(gateway);
    const withEndpoints: number[] = [];
    const without: number[] = [];
    for (let done = 0; done < ROUNDS; done += 1) {
      withEndpoints.push(await turn(`with-${done}`, 'active'));
      without.push(await turn(`without-${done}`, 'disabled'));
    }
    const { ratio, byRound } = compare(withEndpoints, without);
    return {
      name: 'settle_with_webhooks',
      value: ratio,
      target: { atLeast: 0.9 },
      unit: 'x',
      detail: {
        [`payments/s with ${ENDPOINTS} endpoints`]: withEndpoints.map((value) => round(value)),
        'payments/s without': without.map((value) => round(value)),
        'ratio by round': byRound,
        ...describeOthers(shares),
      },
    };
  } finally {
    await gateway.stop();
    await chain.stop();
  }
}
