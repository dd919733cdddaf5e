import { type Courier, type CourierDeps, createCourier } from '../actions/webhooks/courier.ts';
import { type BodyReader, createBodyReader, type RenderEvents } from '../actions/webhooks/event-bodies.ts';
import { FAN_OUT_LEASE, fanOutOnce, REPLAY_LEASE, replayOnce } from '../actions/webhooks/fan-out.ts';
import { withJitter } from '../runtime/backoff.ts';
import type { PaymentWork } from '../runtime/payment-work.ts';
import { unshifted } from '../runtime/shifted-clock.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { DELIVERIES_CHANNEL } from '../store/webhooks/fan-out.ts';
import { newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createThrottle, type Throttle } from './throttle.ts';
import { createWake, type Nap } from './wake.ts';

export interface DeliveringDeps extends WorkerDeps, Pick<CourierDeps, 'secrets' | 'exchangeFor'> {
  readonly feed: EventFeed;
  readonly renderEvents: RenderEvents;
  /** The payment work of this node. Deliveries give way to it. */
  readonly paymentWork: PaymentWork;
}

/** The pause between two searches for due attempts. A lost notification delays work by no more than this. */
const POLL_MS = 1_000;
/** The shortest time between two rounds, so that events and results of this time share a round. */
const GATHER_MS = 10;
/**
 * Factors of the fan-out's rest after many events or while the node is busy: it rests this many times as long as it worked, because
 * a flood of events must not slow down payments. Without payments the factor is 1, so that the fan-out soon catches up.
 */
const REST_FACTOR = 9;
const BUSY_REST_FACTOR = 39;
const ALONE_REST_FACTOR = 1;
const FEW_EVENTS = 50;
/** The longest rest of the fan-out. After a round that was slow because the database stalled, deliveries must not stop for minutes. */
const MAX_REST_MS = 2_000;
const REST_STEP_MS = 100;
/** The number of events in a round of the fan-out while the node is busy. A round occupies one core of the database until it ends. */
const BUSY_EVENTS = 100;
/** A stop waits this long for attempts in flight. Unfinished ones are attempted again when their claims expire. */
const STOP_WAIT_MS = 5_000;

/**
 * Creates deliveries while this node holds the lease of the fan-out, and attempts deliveries on this node. The returned function
 * stops both.
 */
export async function startDelivering(deps: DeliveringDeps): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const throttle = createThrottle(deps);
  const stopFanOut = startFanOut(deps, throttle);
  const wake = createWake(deps.world.timers);
  await deps.db.listen(DELIVERIES_CHANNEL, { onMessage: wake.all, onConnected: wake.all });
  const readBodies: BodyReader = createBodyReader(deps);
  const { metrics } = deps;
  const courier = createCourier({
    ...deps,
    readBodies,
    onFree: wake.all,
    meters: {
      attempt: (outcome, latencyMs) => metrics.webhookAttempts.observe({ outcome }, latencyMs / 1000),
      inFlight: (count) => metrics.webhooksInFlight.set(count),
    },
  });
  const loop = deliverForever(deps, { throttle, takeDue: courier.takeDue, nap: wake.sleeper(), stop: stop.signal });
  return async () => {
    stop.abort();
    const ended = Promise.all([stopFanOut(), loop.then(() => courier.stop())]);
    await Promise.race([ended, deps.world.timers.sleep(STOP_WAIT_MS)]);
  };
}

function startFanOut(deps: DeliveringDeps, throttle: Throttle): () => Promise<void> {
  const { timers } = deps.world;
  const clock = unshifted(deps.world.clock);
  const wake = createWake(timers);
  deps.feed.subscribe(wake.all);
  const nap = wake.sleeper();
  return startLeading({ ...deps, holder: newHolder(deps) }, [
    {
      name: FAN_OUT_LEASE,
      start: (lease) => async (signal) => {
        const isBusy = throttle.isBusy();
        const startMs = clock.nowMs();
        const events = await fanOutOnce(deps, lease, isBusy ? BUSY_EVENTS : undefined);
        const restMs = Math.min(MAX_REST_MS, (clock.nowMs() - startMs) * restFactorOf(deps, { events, isBusy }));
        const endMs = clock.nowMs() + restMs;
        // A busy node's rest ends as soon as it is no longer busy.
        const leftMs = () => (isBusy && !throttle.isBusy() ? 0 : endMs - clock.nowMs());
        await timers.sleep(GATHER_MS, signal);
        while (leftMs() > 0 && !signal.aborted) await timers.sleep(Math.min(REST_STEP_MS, leftMs()), signal);
        if (events === 0) await nap(POLL_MS, signal);
      },
    },
    {
      name: REPLAY_LEASE,
      start: (lease) => async (signal) => {
        if (!(await replayOnce(deps, lease))) await timers.sleep(POLL_MS, signal);
      },
    },
  ]);
}

function restFactorOf(
  { paymentWork }: DeliveringDeps,
  { events, isBusy }: { readonly events: number; readonly isBusy: boolean },
): number {
  if (isBusy) return BUSY_REST_FACTOR;
  if (events <= FEW_EVENTS) return 0;
  return paymentWork.isThere() ? REST_FACTOR : ALONE_REST_FACTOR;
}

interface DeliverLoop {
  readonly throttle: Throttle;
  readonly takeDue: Courier['takeDue'];
  readonly nap: Nap;
  readonly stop: AbortSignal;
}

async function deliverForever(deps: DeliveringDeps, { throttle, takeDue, nap, stop }: DeliverLoop): Promise<void> {
  const { timers } = deps.world;
  while (!stop.aborted) {
    try {
      throttle.use(await takeDue(throttle.allowance()));
    } catch (error) {
      deps.log.warn({ err: error }, 'due webhooks could not be claimed');
    }
    await timers.sleep(GATHER_MS, stop);
    for (let waitMs = throttle.waitMs(); waitMs > 0 && !stop.aborted; waitMs = throttle.waitMs()) {
      await timers.sleep(waitMs, stop);
    }
    await nap(withJitter(deps.world, POLL_MS), stop);
  }
}
