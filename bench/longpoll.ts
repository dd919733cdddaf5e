import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPayments, type PaymentRef } from './calls.ts';
import type { CancelOrder, CancelReport } from './canceller.ts';
import { describeOthers } from './contest.ts';
import { type Figure, type Measurement, quantile, round } from './figures.ts';
import { addMerchants, type Gateway, settle, startGateway } from './gateway.ts';
import type { HolderMessage, HolderOrder, HolderReport } from './longpoll-client.ts';
import { messageOf, residentKb, startClient, stopProcess } from './processes.ts';
import { shareDuring } from './quiet.ts';

const MERCHANTS = 50;
const HELD = 10_000;
const HOLDERS = 2;
const CHANGES_PER_SECOND = 500;
const CHANGES = 7_500;
const SETTLE_MS = 5_000;
/** The approximate need of the gateway's process besides the held connections. */
const OTHER_DESCRIPTORS = 200;

/** Ten thousand requests held on as many payments, while 500 payments a second change. */
export const longPollMeasurement: Measurement = {
  names: ['longpoll'],
  async measure() {
    await checkDescriptorLimit();
    const first = await startGateway();
    await addMerchants(first, MERCHANTS);
    const payments = await createPayments(first, { count: HELD + CHANGES, merchants: MERCHANTS });
    await settle(first);
    // A new process, so that the baseline is the memory of a fresh node.
    const gateway = await first.restart();
    const clients: ChildProcess[] = [];
    try {
      return await measureHeld(gateway, payments, clients);
    } finally {
      await Promise.all(clients.map(stopProcess));
      await gateway.stop();
    }
  },
};

async function measureHeld(
  gateway: Gateway,
  payments: readonly PaymentRef[],
  clients: ChildProcess[],
): Promise<Figure[]> {
  const { port, apiKey, pid } = gateway;
  const beforeKb = await warmResidentKb(gateway);
  const holders = Array.from({ length: HOLDERS }, () => startClient(new URL('./longpoll-client.ts', import.meta.url)));
  const canceller = startClient(new URL('./canceller.ts', import.meta.url));
  clients.push(...holders, canceller);

  // Every connection moves on to a fresh payment when its payment has ended, so that 10,000 stay held throughout.
  await Promise.all(
    holders.map(async (holder, index) => {
      const mine = (_payment: PaymentRef, at: number) => at % HOLDERS === index;
      const order: HolderOrder = {
        port,
        apiKey,
        held: payments.slice(0, HELD).filter(mine),
        spare: payments.slice(HELD).filter(mine),
      };
      holder.send(order);
      await messageOf<HolderReport>(holder, { withinMs: 120_000 });
    }),
  );
  await sleep(SETTLE_MS);
  const heldKb = await residentKb(pid);

  const cancelled = messageOf<CancelReport>(canceller, { withinMs: 120_000 });
  const order: CancelOrder = { port, apiKey, payments: payments.slice(0, CHANGES), perSecond: CHANGES_PER_SECOND };
  canceller.send(order);
  const { result, others } = await shareDuring(() => cancelled);
  const { answeredAtMs, tookMs } = result;
  await sleep(SETTLE_MS);
  const peakKb = await residentKb(pid);
  const wokenAtMs = new Map<string, number>();
  for (const holder of holders) {
    const report = messageOf<HolderReport>(holder, { withinMs: 30_000 });
    holder.send('report' satisfies HolderMessage);
    for (const [id, at] of (await report).wokenAtMs) wokenAtMs.set(id, at);
  }

  const delaysMs = answeredAtMs.map(([id, at]) => (wokenAtMs.get(id) ?? Number.POSITIVE_INFINITY) - at);
  const missing = delaysMs.filter((delay) => delay === Number.POSITIVE_INFINITY).length;
  if (missing > 0) throw new Error(`${missing} of ${CHANGES} changes woke nobody.`);
  return [
    {
      name: 'longpoll_p99_ms',
      value: round(quantile(delaysMs, 0.99), 1),
      target: { atMost: 150 },
      unit: 'ms',
      detail: {
        'wake-up after the answer to the cancel, p50, p90, p99.9, max in ms': [0.5, 0.9, 0.999, 1].map((share) =>
          round(quantile(delaysMs, share), 1),
        ),
        'changes/s': round(CHANGES / (tookMs / 1000)),
        held: HELD,
        ...describeOthers([others]),
      },
    },
    {
      name: 'longpoll_kb',
      value: round((heldKb - beforeKb) / HELD, 1),
      target: { atMost: 40 },
      unit: 'KB',
      detail: {
        'resident before, with all held, after the changes, in MB': [beforeKb, heldKb, peakKb].map((kb) =>
          round(kb / 1024),
        ),
        'each after the changes, in KB': round((peakKb - beforeKb) / HELD, 1),
      },
    },
  ];
}

/** The memory of the process after a warm-up and the first garbage collection. */
async function warmResidentKb(gateway: Gateway): Promise<number> {
  await createPayments(gateway, { count: 500, merchants: MERCHANTS });
  await sleep(SETTLE_MS);
  return residentKb(gateway.pid);
}

async function checkDescriptorLimit(): Promise<void> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const needed = HELD + OTHER_DESCRIPTORS;
  if (limit < needed) {
    throw new Error(
      `longpoll holds ${HELD} connections and the limit is ${limit} open files: \`ulimit -n ${needed}\`.`,
    );
  }
}
