import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { vetoRefund } from '../../src/actions/outgoing/refund/veto-refund.ts';
import { eventsPlaced } from '../events-placed.ts';
import { freshKey } from '../gateway.ts';
import type { Json } from './list-test.ts';
import { paidPayment } from './paid-payment.ts';
import { openPayingShop, type PayingShop, SANDBOX } from './paying-shop.ts';

describe('the refundable rest of a payment', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  const read = async (url: string): Promise<Json> => {
    const response = await paying.gateway.call({ url, headers: paying.shop.headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const refund = async (paymentId: string, more: object = {}): Promise<Json> => {
    const headers = { ...paying.shop.headers, 'idempotency-key': freshKey() };
    const request = { method: 'POST', url: '/v1/refunds', headers, payload: { paymentId, ...more } } as const;
    const response = await paying.gateway.call(request);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  const veto = (id: string) => vetoRefund(paying.gateway, { id, reason: 'test', actor: 'operator' });
  const left = ({ refundable }: Json) =>
    refundable && [`${refundable.priceAmount.value} ${refundable.priceAmount.unit}`, refundable.amount.value];
  const dollars = (value: string) => ({ amount: { unit: 'iso4217/USD', value } });

  it('is stated by the payment and by every answer about a refund, in both units', async () => {
    const id = await paidPayment(paying, dollars('1000'));
    const payment = await read(`/v1/payments/${id}`);
    assert.deepEqual(left(payment), ['1000 iso4217/USD', '10000000']);
    assert.equal(payment.refundable.amount.unit, payment.info.optionAmount.unit);
    const first = await refund(id, dollars('400'));
    const rest = ['600 iso4217/USD', '6000000'];
    assert.deepEqual(left(first), rest);
    assert.deepEqual(left(await read(`/v1/payments/${id}`)), rest);
    assert.deepEqual(left(await read(`/v1/refunds/${first.refundId}`)), rest);
    assert.deepEqual((await read(`/v1/refunds?paymentId=${id}`)).refunds.map(left), [rest]);
    assert.deepEqual(left(await refund(id)), ['0 iso4217/USD', '0']);
  });

  it('is null of a payment that has not succeeded', async () => {
    assert.equal((await read(`/v1/payments/${await paying.created({})}`)).refundable, null);
  });

  it('counts nothing of a vetoed refund, which is distinguished from a failed one', async () => {
    const id = await paidPayment(paying, dollars('1000'));
    const { refundId } = await refund(id, dollars('400'));
    await veto(refundId);
    assert.deepEqual(left(await read(`/v1/payments/${id}`)), ['1000 iso4217/USD', '10000000']);
    const { status, problem } = await read(`/v1/refunds/${refundId}`);
    assert.deepEqual([status, problem], ['failed', 'vetoed']);
    const whole = await refund(id, dollars('1000'));
    await veto(whole.refundId);
    const shown = await read(`/v1/payments/${id}`);
    assert.deepEqual(left(shown), ['1000 iso4217/USD', '10000000']);
    assert.deepEqual([shown.refund.status, shown.refund.problem], ['failed', 'vetoed']);
  });

  it('is explained in the timeline: a failed refund with its reason, and a veto as a veto', async () => {
    const id = await paidPayment(paying, dollars('1000'));
    paying.screened.add(`${SANDBOX}:${(await paying.items(id))[0]?.payer}`);
    await veto((await refund(id, dollars('400'))).refundId);
    const { entries } = await read(`/v1/payments/${id}/timeline`);
    const texts = entries.filter(({ what }: Json) => what === 'refund.failed').map(({ text }: Json) => text);
    assert.deepEqual(texts, [
      'The refund failed: the recipient is on the screening list.',
      'The operator has ended the refund. It takes nothing of the payment.',
    ]);
  });

  it('has nothing of a failed refund, whose reason is shown', async () => {
    const id = await paidPayment(paying, dollars('1000'));
    paying.screened.add(`${SANDBOX}:${(await paying.items(id))[0]?.payer}`);
    const failed = await refund(id, dollars('400'));
    assert.deepEqual([failed.status, failed.problem], ['failed', 'recipient_screened']);
    assert.deepEqual(left(await read(`/v1/payments/${id}`)), ['600 iso4217/USD', '6000000']);
    const { data } = await read('/v1/payments');
    const listed = data.find(({ paymentId }: Json) => paymentId === id);
    assert.equal(listed.refunds[0].problem, 'recipient_screened');
  });

  it('is not used up by twelve vetoed refunds', async () => {
    const id = await paidPayment(paying, dollars('1000'));
    for (let count = 0; count < 12; count += 1) await veto((await refund(id, dollars('100'))).refundId);
    assert.deepEqual(left(await read(`/v1/payments/${id}`)), ['1000 iso4217/USD', '10000000']);
    const again = await refund(id, { ...dollars('300'), reason: 'the thirteenth' });
    assert.deepEqual([again.status, again.problem, again.reason], ['requested', null, 'the thirteenth']);
    assert.deepEqual(left(again), ['700 iso4217/USD', '7000000']);
    await eventsPlaced(paying.gateway);
    const { events } = await read(`/v1/events?types=refund.created,refund.failed&limit=100`);
    const refundEvents = events.filter(({ data }: Json) => data.refundId === again.refundId);
    assert.deepEqual(
      refundEvents.map(({ type, data }: Json) => `${type} ${data.priceAmount.value} ${data.status} ${data.problem}`),
      ['refund.created 100 requested null', 'refund.failed 100 failed vetoed', 'refund.created 300 requested null'],
    );
  });
});
