import { type Courier, type CourierDeps, createCourier } from '../actions/webhooks/courier.ts';
import { type BodyReader, createBodyReader, type RenderEvents } from '../actions/webhooks/event-bodies.ts';
import { FAN_OUT_LEASE, fanOutOnce, REPLAY_LEASE, replayOnce } from '../actions/webhooks/fan-out.ts';
import { withJitter } from '../runtime/backoff.ts';
import type { RequestRate } from '../runtime/request-rate.ts';
import { unshifted } from '../runtime/shifted-clock.ts';
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
/** After many events the fan-out rests this many times as long as it worked: a flood must not slow down the payments behind it. */
const REST_FACTOR = 9;
const FEW_EVENTS = 50;
/** A node that answers more requests a second than this gives way to them. */
const QUIET_PER_SECOND = 10;
/** The rest before a round then grows with the requests, and once more with every 10 ms by which the event loop is late. */
const REST_MS_PER_REQUEST = 0.1;
const MAX_REST_MS = 1_000;
/** An event loop that is later than this is busy: a round then claims few deliveries. */
const BUSY_LATE_MS = 10;
const BUSY_CLAIMS = 64;
/** The weight of the newest measurement in the average. */
const WEIGHT = 0.3;
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
  const { timers } = deps.world;
  const clock = unshifted(deps.world.clock);
  const wake = createWake(timers);
  deps.feed.subscribe(wake.all);
  const nap = wake.sleeper();
  return startLeading({ ...deps, holder: newHolder(deps.world) }, [
    {
      name: FAN_OUT_LEASE,
      start: (lease) => async (signal) => {
        const startMs = clock.nowMs();
        const events = await fanOutOnce(deps, lease);
        const restMs = events > FEW_EVENTS ? (clock.nowMs() - startMs) * REST_FACTOR : 0;
        await timers.sleep(Math.max(GATHER_MS, restMs), signal);
        if (events === 0) await nap(LOOK_MS, signal);
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
  readonly takeDue: Courier['takeDue'];
  readonly nap: Nap;
  readonly stop: AbortSignal;
}

async function deliverForever(deps: DeliveringDeps, { takeDue, nap, stop }: DeliverLoop): Promise<void> {
  const manners = createManners(deps);
  while (!stop.aborted) {
    try {
      await takeDue(manners.mostClaims());
    } catch (error) {
      deps.log.warn({ err: error }, 'due webhooks could not be claimed');
    }
    await manners.rest(stop);
    await nap(withJitter(deps.world, LOOK_MS), stop);
  }
}

/** Payments come first, and deliveries wait in rows: rounds are smaller and rarer while the node is busy with requests. */
function createManners({ world, requestRate }: DeliveringDeps) {
  const { timers } = world;
  const clock = unshifted(world.clock);
  let lateMs = 0;
  const perSecond = () => {
    const rate = requestRate.perSecond();
    return rate > QUIET_PER_SECOND ? rate : 0;
  };
  return {
    mostClaims: () => (perSecond() > 0 && lateMs > BUSY_LATE_MS ? BUSY_CLAIMS : Number.POSITIVE_INFINITY),
    async rest(stop: AbortSignal) {
      const startMs = clock.nowMs();
      await timers.sleep(GATHER_MS, stop);
      lateMs += WEIGHT * (Math.max(0, clock.nowMs() - startMs - GATHER_MS) - lateMs);
      const restMs = perSecond() * REST_MS_PER_REQUEST * (1 + lateMs / BUSY_LATE_MS);
      if (restMs > 0) await timers.sleep(Math.min(MAX_REST_MS, restMs), stop);
    },
  };
}
