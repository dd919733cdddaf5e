import { backoffMs, MIN_INTERVAL_MS, pause } from '../shared/backoff.ts';
import { untilOffline } from '../shared/until-offline.ts';
import type { Gateway, StatusBody } from './api.ts';
import type { Connection } from './flow-state.ts';
import type { PaymentStatus } from './page-state.ts';

interface FollowInput {
  readonly gateway: Pick<Gateway, 'status'>;
  readonly known: () => PaymentStatus;
  /** Returns how long the gateway may hold the next status request. Undefined: the default of `Gateway.status`, 20 s. */
  readonly holdMs: () => number | undefined;
  /** Called with the answer and the status that the page knew when it sent the request. */
  readonly onStatus: (status: StatusBody, knew: PaymentStatus) => void;
  readonly onConnection: (connection: Connection) => void;
  readonly isOnline: () => boolean;
  /** Fires `offline` when the browser loses its connection, and `wake` when it is online again or the page becomes visible again. */
  readonly outside: EventTarget;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/**
 * How many changes of the status may be followed by an immediate request. After further changes, the next request waits for the
 * minimum pause.
 */
const MAX_CHANGES = 8;

/**
 * Keeps one long poll open until the payment is final. If the browser is online, the payer does not see a single failure, but sees two
 * in a row.
 */
export async function followStatus(input: FollowInput): Promise<void> {
  const { gateway, onStatus, onConnection, isOnline, outside, random, signal } = input;
  let changes = 0;
  for (let failures = 0; !signal.aborted; ) {
    const knew = input.known();
    // After a failure the gateway must answer at once, because the status may have changed.
    const known = failures === 0 ? knew : null;
    const answer = await untilOffline(outside, signal, (request) => gateway.status(known, request, input.holdMs()));
    if (signal.aborted) return;
    if (answer.is === 'ok') {
      failures = 0;
      onConnection('good');
      onStatus(answer.value, knew);
      if (answer.value.isFinal) return;
      // After a status change another one may follow soon, so ask again at once. Otherwise pause, because a gateway node that is
      // stopping does not hold long polls.
      if (known !== null && known !== answer.value.status && changes < MAX_CHANGES) {
        changes += 1;
        continue;
      }
      await pause(Math.max(MIN_INTERVAL_MS, answer.value.pollInMs ?? 0), signal);
      continue;
    }
    failures += 1;
    if (!isOnline()) onConnection('offline');
    else if (failures > 1) onConnection('away');
    const wait = answer.is === 'unavailable' ? (answer.retryAfterMs ?? 0) : 30_000;
    await pause(Math.max(wait, backoffMs(failures - 1, random)), signal, outside);
  }
}
