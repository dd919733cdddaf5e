import { CRASH_POINTS, type CrashPoint } from '../../src/runtime/crash-points.ts';
import { crashSuite } from './crash-suite.ts';

/**
 * The crashes after which a mistake would pay twice, or lose a payment that was accepted. A start of a node takes more
 * than two seconds of processor time, so the other points are left to the long test run.
 */
const ALWAYS: ReadonlySet<string> = new Set<CrashPoint>([
  'create.committed',
  'confirm.accepted',
  'relay.stored',
  'relay.broadcast',
  'watch.settled',
  'outgoing.signed',
]);

crashSuite('a gateway that dies', { isChosen: (name) => name in CRASH_POINTS, isAlways: (name) => ALWAYS.has(name) });
