import { runGateway } from '../../src/main.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';

/** The order to a node: end at this point, at the given pass through it. */
export interface CrashOrder {
  readonly point: CrashPoint;
  readonly pass: number;
}

let order: CrashOrder | undefined;
let passes = 0;

/** The gateway as operators run it, with crash points. The harness names the point over the channel. */
if (import.meta.main) {
  process.on('message', (message: CrashOrder) => {
    order = message;
    passes = 0;
  });
  // The harness has ended.
  process.on('disconnect', () => process.exit(1));
  await runGateway({ ...systemWorld, crashPoint });
}

function crashPoint(point: CrashPoint): void {
  if (order?.point !== point) return;
  passes += 1;
  // The signal ends the process before this call returns.
  if (passes === order.pass) process.kill(process.pid, 'SIGKILL');
}
