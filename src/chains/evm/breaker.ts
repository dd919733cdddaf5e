import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import type { World } from '../../runtime/world.ts';

/**
 * A circuit breaker for an endpoint. It opens after a few failures in a row. After a short pause, a probe checks whether the
 * endpoint answers again. The probe is a request of our own, so no payer's request waits for a dead endpoint.
 */
export interface Breaker {
  isOpen(): boolean;
  /** True if the breaker is open because the endpoint asked for a pause. */
  isThrottled(): boolean;
  /** Called when a request begins. The caller passes the returned number back with the outcome of that request. */
  begin(): number;
  succeeded(): void;
  failed(begun: number): void;
  /** Called when the endpoint asked for a pause. Such an endpoint is alive, so requests resume after the pause without a probe. */
  throttled(pauseMs: number): void;
  /** Called when the endpoint must not be used. Opens the breaker at once, for at least this long. */
  rejected(pauseMs: number): void;
  close(): void;
}

export interface BreakerInput {
  readonly world: Pick<World, 'timers' | 'random'>;
  /** The probe: resolves to true if the endpoint answers. */
  readonly probe: () => Promise<boolean>;
  readonly onChange: (isOpen: boolean) => void;
}

const FAILURES_TO_OPEN = 3;
/** The pauses before a probe. They are short, because an outage of one second must not cost a payer ten seconds. */
const PAUSE = { firstMs: 250, maxMs: 5_000 };
const THROTTLED_PAUSE = { firstMs: 200, maxMs: 1_000 };
/** The longest pause granted to an endpoint, even if it asks for more. */
const MAX_THROTTLED_MS = 30_000;

export function createBreaker({ world, probe, onChange }: BreakerInput): Breaker {
  let isOpen = false;
  let cause: 'failures' | 'throttled' | 'rejected' = 'failures';
  /** The number of pauses so far. */
  let pause = 0;
  let isClosing = false;
  let failures = 0;
  let throttles = 0;
  let cancelTimer = () => {};

  // A pause is a timer, and not a point in time. Otherwise a clock that is set back would keep the breaker open for longer.
  function open(why: typeof cause, pauseMs: number, andThen: () => void): void {
    if (isOpen || isClosing) return;
    isOpen = true;
    cause = why;
    pause += 1;
    cancelTimer = world.timers.after(withJitter(world, pauseMs), andThen);
    onChange(true);
  }

  function shut(): void {
    if (isClosing) return;
    isOpen = false;
    cancelTimer();
    onChange(false);
  }

  async function tryAgain(): Promise<void> {
    const probed = pause;
    const answers = await probe();
    if (isClosing || !isOpen || probed !== pause) return;
    if (answers) {
      failures = 0;
      shut();
      return;
    }
    failures += 1;
    cancelTimer = world.timers.after(withJitter(world, pauseAfter(failures)), () => void tryAgain());
  }

  const pauseAfter = (count: number) => backoffMs(PAUSE, count - FAILURES_TO_OPEN + 1);

  return {
    isOpen: () => isOpen,
    isThrottled: () => isOpen && cause === 'throttled',
    begin: () => failures,
    succeeded: () => {
      throttles = 0;
      // An answered request takes longer than a refused one, so a success may arrive after the breaker has opened. Such a success
      // closes the breaker only if failures opened it. It does not end a pause that the endpoint asked for, or a pause after a
      // rejection.
      if (isOpen && cause !== 'failures') return;
      failures = 0;
      if (isOpen) shut();
    },
    failed: (begun) => {
      // Concurrent requests that fail together count as one failure.
      if (isOpen || begun < failures) return;
      failures += 1;
      if (failures >= FAILURES_TO_OPEN) open('failures', pauseAfter(failures), () => void tryAgain());
    },
    throttled: (pauseMs) => {
      if (isOpen) return;
      throttles += 1;
      const grantedMs = Math.max(Math.min(pauseMs, MAX_THROTTLED_MS), backoffMs(THROTTLED_PAUSE, throttles));
      open('throttled', grantedMs, shut);
    },
    rejected: (pauseMs) => {
      failures = Math.max(failures, FAILURES_TO_OPEN);
      if (isOpen) cause = 'rejected';
      open('rejected', pauseMs, () => void tryAgain());
    },
    close: () => {
      isClosing = true;
      cancelTimer();
    },
  };
}
