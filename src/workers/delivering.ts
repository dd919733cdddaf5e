import { type CourierDeps, createCourier } from '../actions/webhooks/courier.ts';
import { type BodyReader, createBodyReader, type RenderEvents } from '../actions/webhooks/event-bodies.ts';
import { FAN_OUT_LEASE, fanOutOnce, REPLAY_LEASE, replayOnce } from '../actions/webhooks/fan-out.ts';
import { withJitter } from '../runtime/backoff.ts';
import type { RequestRate } from '../runtime/request-rate.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { DELIVERIES_CHANNEL } from '../store/webhooks/fan-out.ts';
import { newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createWake, type Nap } from './wake.ts';

export interface DeliveringDeps extends WorkerDeps, Pick<CourierDeps, 'secrets' | 'exchangeFor'> {
  readonly feed: EventFeed;
  readonly renderEvents: RenderEvents;
  /** The requests that this node answers meanwhile. */
  readonly requestRate: RequestRate;
}

/** Finds work whose announcement was lost, and deliveries whose next attempt is due. */
const LOOK_MS = 1_000;
/** The least time between two rounds: events and results meanwhile share the next one. */
const GATHER_MS = 10;
/** The fan-out rests this many times as long as it worked: a flood of events must not slow down the payments behind it. */
const REST_FACTOR = 5;
/** Rounds are rarer while the node answers many requests a second: payments come first, and deliveries wait in rows. */
const REST_MS_PER_REQUEST = 0.1;
/** A stop waits this long for attempts in flight. The others are attempted again at the end of their claims. */
const STOP_WAIT_MS = 5_000;

/** Creates deliveries, on whichever node leads, and attempts them on this node. The returned function stops both. */
export async function startDelivering(deps: DeliveringDeps): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const stopFanOut = startFanOut(deps);
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
  const loop = deliverForever(deps, { takeDue: courier.takeDue, nap: wake.sleeper(), stop: stop.signal });
  return async () => {
    stop.abort();
    const ended = Promise.all([stopFanOut(), loop.then(() => courier.stop())]);
    await Promise.race([ended, deps.world.timers.sleep(STOP_WAIT_MS)]);
  };
}

function startFanOut(deps: DeliveringDeps): () => Promise<void> {
  const { clock, timers } = deps.world;
  const wake = createWake(timers);
  deps.feed.subscribe(wake.all);
  const nap = wake.sleeper();
  return startLeading({ ...deps, holder: newHolder(deps.world) }, [
    {
      name: FAN_OUT_LEASE,
      start: (lease) => async (signal) => {
        const startMs = clock.nowMs();
        const hasMore = await fanOutOnce(deps, lease);
        await timers.sleep(Math.max(GATHER_MS, (clock.nowMs() - startMs) * REST_FACTOR), signal);
        if (!hasMore) await nap(LOOK_MS, signal);
      },
    },
    {
      name: REPLAY_LEASE,
      start: (lease) => async (signal) => {
        if (!(await replayOnce(deps, lease))) await timers.sleep(LOOK_MS, signal);
      },
    },
  ]);
}

interface DeliverLoop {
  readonly takeDue: () => Promise<unknown>;
  readonly nap: Nap;
  readonly stop: AbortSignal;
}

async function deliverForever(deps: DeliveringDeps, { takeDue, nap, stop }: DeliverLoop): Promise<void> {
  while (!stop.aborted) {
    try {
      await takeDue();
    } catch (error) {
      deps.log.warn({ err: error }, 'due webhooks could not be claimed');
    }
    await deps.world.timers.sleep(GATHER_MS + deps.requestRate.perSecond() * REST_MS_PER_REQUEST, stop);
    await nap(withJitter(deps.world, LOOK_MS), stop);
  }
}
