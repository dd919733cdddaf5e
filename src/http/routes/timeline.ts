import { explainPayment } from '../../actions/oversight/explain-payment.ts';
import { gasBudgets } from '../../settings/chains.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights } from '../entry/caller.ts';
import { TimelineBody, viewTimeline } from '../views/timeline.ts';
import { findOwnPayment, PaymentParams, READ } from './payments.ts';
import { findShownEndpoints } from './webhook-endpoints.ts';

const MAX_ENTRIES = 200;

export async function timelineRoutes(app: App, deps: HttpDeps): Promise<void> {
  const relaying = gasBudgets(deps.config);

  app.get(
    '/v1/payments/:id/timeline',
    { schema: TIMELINE, config: { access: READ, priority: 'spare', errors: ['payment_not_found'] } },
    async (request, reply) => {
      const payment = await findOwnPayment(deps.readPayment, request);
      const explanation = await deps.lists.read(callerRights(request).id, reply, async (db) => {
        const shown = await findShownEndpoints(db, request, payment);
        return explainPayment(
          { db, registry: deps.registry, clock: deps.world.clock, chains: deps.chains, relaying },
          { payment, audience: { seesEndpoint: (id) => shown.has(id) }, limit: MAX_ENTRIES },
        );
      });
      return viewTimeline(payment.id, explanation);
    },
  );
}

const TIMELINE = {
  tags: ['Payments'],
  operationId: 'getPaymentTimeline',
  summary: 'Get the timeline of a payment',
  description:
    'Everything that happened to the payment, in sentences, with its transactions and blocks; and why it waits, and what ends the wait. Deliveries of webhooks are shown to callers with the scope `webhooks`, of the endpoints that they may see. Programs should go by the status and by events: texts may change at any time.',
  params: PaymentParams,
  response: { 200: TimelineBody },
};
