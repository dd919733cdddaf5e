import { CRASH_POINTS, type CrashPoint } from '../../src/runtime/crash-points.ts';
import { crashSuite } from './crash-suite.ts';

/**
 * The crashes after which a mistake would cost money or an answer: something was just stored, signed or sent. A start of
 * a node takes more than two seconds of processor time, so the other points are left to the long test run.
 */
const ALWAYS: ReadonlySet<string> = new Set<CrashPoint>([
  'write.unfinished',
  'create.committed',
  'confirm.accepted',
  'events.placed',
  'relay.signed',
  'relay.stored',
  'relay.broadcast',
  'watch.settled',
  'watch.decided',
  'outgoing.signed',
  'outgoing.stored',
]);

crashSuite('a gateway that dies', { isChosen: (name) => name in CRASH_POINTS, isAlways: (name) => ALWAYS.has(name) });
