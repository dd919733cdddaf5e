import type { SpanAbout, Tracing } from '../../runtime/tracing.ts';
import { attemptDelivery, type Claimed } from './attempt-delivery.ts';

/** Attempts a delivery in a span, with a link to the trace of the payment that its event is about. */
export function tracedAttempt(tracing: Tracing | undefined): typeof attemptDelivery {
  if (tracing === undefined) return attemptDelivery;
  return (deps, endpoint, claimed) =>
    tracing.span('delivery', aboutOf(claimed), async (span) => {
      const outcome = await attemptDelivery(deps, endpoint, claimed);
      if (outcome.answerStatus !== null) span.set('http.response.status_code', outcome.answerStatus);
      if (outcome.verdict !== 'succeeded') span.fail(outcome.verdict);
      return outcome;
    });
}

function aboutOf({ endpointId, eventId, tries, body }: Claimed): SpanAbout {
  const { type, payment } = eventOf(body);
  const attributes = {
    'till.endpoint.id': endpointId,
    'till.event.id': eventId,
    'till.event.type': type,
    'till.tries': tries,
  };
  return { kind: 'client', place: 'root', attributes, payments: payment === undefined ? [] : [payment] };
}

interface EventBody {
  readonly type: string;
  readonly data?: { readonly id?: unknown; readonly paymentId?: unknown };
}

function eventOf(body: Uint8Array | undefined): { readonly type: string; readonly payment?: string } {
  if (body === undefined) return { type: 'unknown' };
  const { type, data } = JSON.parse(Buffer.from(body).toString('utf8')) as EventBody;
  const payment = [data?.paymentId, data?.id].find((id) => typeof id === 'string' && id.startsWith('pay_'));
  return typeof payment === 'string' ? { type, payment } : { type };
}
