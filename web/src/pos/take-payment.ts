import { backoffMs, MIN_INTERVAL_MS, pause } from '../shared/backoff.ts';
import type { LateMoney } from '../shared/late-money.ts';
import { untilOffline } from '../shared/until-offline.ts';
import { isFinal } from './ending.ts';
import type { Answer } from './gateway.ts';
import { type OpenOrder, type Order, type PaymentStatus, totalOf, withRecent } from './kept.ts';
import type { Device } from './pos-state.ts';

const HOLD_MS = 20_000;
/**
 * The intervals of the requests for late money, which grow. The requests go on for about an hour, while the ended payment is on the
 * screen.
 */
const FIRST_LATE_MS = 3_000;
const LONGEST_LATE_MS = 60_000;
const MAX_LATE_CHECKS = 64;

/** Continues the open order until it has ended, whatever happens in between. */
export async function takePayment(device: Device, open: OpenOrder, signal: AbortSignal): Promise<void> {
  const { order } = open;
  const payment = open.payment ?? (await create(device, order, signal));
  if (payment === undefined) return;
  await follow(device, { order, payment }, signal);
}

async function create(device: Device, order: Order, signal: AbortSignal): Promise<OpenOrder['payment'] | undefined> {
  const { ask, isOpen, keep, set, random, outside } = device;
  const unit = `iso4217/${order.currency}`;
  const { sale, tip } = device.words;
  const line = (name: string, value: string) => ({ name, amount: { unit, value } });
  const body = {
    amount: { unit, value: totalOf(order) },
    referenceId: `POS-${order.key.slice(0, 8).toUpperCase()}`,
    ...(order.tip !== '0' && { lineItems: [line(sale, order.amount), line(tip, order.tip)] }),
  };
  const { merchantId, mode } = order.place;
  for (let failures = 0; !signal.aborted && isOpen(order); failures += 1) {
    const answer = await ask(
      { method: 'POST', path: '/v1/payments', mode, merchantId, body, idempotencyKey: order.key },
      signal,
    );
    if (signal.aborted || !isOpen(order)) return undefined;
    if (answer.is === 'ok') {
      observe(device, answer);
      const { paymentId, gatewayUrl, expiresAt } = answer.body as CreatedPayment;
      const payment = { id: paymentId, gatewayUrl, expiresAtS: expiresAt };
      keep({ open: { order, payment } });
      set({ isOffline: false });
      return payment;
    }
    if (answer.is === 'refused') return refuse(device, answer, order);
    set({ isOffline: true });
    await pause(backoffMs(failures, random), signal, outside);
  }
  return undefined;
}

/**
 * Handles the refusal of an order: no payment was created. Only a 401 says nothing about the order, so the order is sent again
 * after the next sign-in.
 */
function refuse(
  { keep, set }: Device,
  { status, message }: Extract<Answer, { is: 'refused' }>,
  { amount, tip }: Order,
): undefined {
  if (status === 401) set({ session: 'out', person: null });
  else {
    keep({ open: null });
    set({ problem: { kind: 'refused', message, order: { amount, tip } }, status: null });
  }
}

async function follow(device: Device, { order, payment }: Required<OpenOrder>, signal: AbortSignal): Promise<void> {
  if (payment === null) return;
  const { ask, isOpen, set, view, random, outside } = device;
  const { merchantId, mode } = order.place;
  let etag: string | undefined;
  for (let failures = 0; !signal.aborted && isOpen(order); ) {
    // After a failure the gateway must answer at once, because the status may have changed.
    const hold = failures === 0 && etag !== undefined ? `?maxPollMs=${HOLD_MS}` : '';
    const path = `/v1/payments/${payment.id}/status${hold}`;
    const answer = await untilOffline(outside, signal, (lost) =>
      ask({ method: 'GET', path, mode, merchantId, etag }, lost),
    );
    if (signal.aborted || !isOpen(order)) return;
    if (answer.is === 'refused' && answer.status === 401) return set({ session: 'out', person: null });
    if (answer.is === 'ok' || answer.is === 'unchanged') {
      failures = 0;
      set({ isOffline: false });
      if (answer.is === 'unchanged') {
        await pause(MIN_INTERVAL_MS, signal, outside);
        continue;
      }
      observe(device, answer);
      etag = answer.etag;
      const { status } = answer.body as { status: PaymentStatus };
      const isNews = status !== view().status;
      note(device, order, payment.id, status);
      if (isFinal(status)) return followLateMoney(device, { order, payment }, status, signal);
      // A gateway without a free slot for long polls answers at once, without a change.
      if (!isNews) await pause(MIN_INTERVAL_MS, signal, outside);
      continue;
    }
    if (answer.is === 'refused') return set({ problem: { kind: 'refused', message: answer.message } });
    failures += 1;
    set({ isOffline: true });
    await pause(backoffMs(failures - 1, random), signal, outside);
  }
}

/**
 * Asks for the late money of an ended payment at growing intervals. The gateway reports money at a deposit address only once it is
 * deep enough in the chain, so one answer is not enough.
 */
async function followLateMoney(
  device: Device,
  { order, payment }: Required<OpenOrder>,
  status: PaymentStatus,
  signal: AbortSignal,
): Promise<void> {
  if (payment === null) return;
  const { ask, isOpen, set, random, outside } = device;
  const { merchantId, mode } = order.place;
  const path = `/v1/payments/${payment.id}`;
  for (let check = 0; check < MAX_LATE_CHECKS && !signal.aborted && isOpen(order); check += 1) {
    const answer = await ask({ method: 'GET', path, mode, merchantId }, signal);
    if (signal.aborted || !isOpen(order)) return;
    if (answer.is === 'refused') {
      if (answer.status === 401) set({ session: 'out', person: null });
      return;
    }
    if (answer.is === 'ok') note(device, order, payment.id, status, lateMoneyIn(answer.body));
    const base = Math.min(LONGEST_LATE_MS, FIRST_LATE_MS * 1.5 ** check);
    await pause(base * (0.75 + random() / 2), signal, outside);
  }
}

function note(device: Device, order: Order, id: string, status: PaymentStatus, lateMoney?: readonly LateMoney[]): void {
  const { view, set, keep } = device;
  const isNewlyPaid = status === 'succeeded' && view().status !== 'succeeded';
  const { currency, decimals } = order;
  const payment = { id, currency, decimals, total: totalOf(order), status, lateMoney, atMs: device.clock.nowMs() };
  set({ status, isCancelling: false });
  keep({ recent: withRecent(view().kept.recent, payment) });
  if (isNewlyPaid) device.onPaid();
}

function observe({ clock }: Device, { serverMs }: Extract<Answer, { is: 'ok' }>): void {
  if (serverMs !== undefined) clock.observe(serverMs);
}

/** The late money in an answer, without the fields that the device does not show. */
function lateMoneyIn(body: unknown): readonly LateMoney[] {
  const { lateMoney = [] } = body as { lateMoney?: readonly LateMoney[] };
  return lateMoney.map(({ reason, status, amount }) => ({ reason, status, amount }));
}

interface CreatedPayment {
  readonly paymentId: string;
  readonly gatewayUrl: string;
  readonly expiresAt: number;
}
