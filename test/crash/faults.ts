import { CRASH_POINTS, type CrashPoint } from '../../src/runtime/crash-points.ts';
import type { NodeProcess } from '../node-process.ts';
import { until } from '../until.ts';
import type { Fault, Run } from './fault.ts';
import type { Order } from './load.ts';
import type { CrashSceneInput } from './scene.ts';
import { SURROUNDING_FAULTS } from './surroundings.ts';

/** A fault that happened, with the orders that were under way. */
export interface Incident {
  readonly fault: string;
  readonly orders: readonly Order[];
  /** From the fault until the last of these orders was paid and refunded. Undefined if nobody waited for it. */
  readonly recoveryMs?: number;
}

/** Every point is passed several times a second under load. */
const REACHED = { withinMs: 180_000 };
const RECOVERED = { withinMs: 240_000 };
/** The node is killed at the first or second pass through the point, so that runs differ. */
const PASSES = 2;

const isDone = ({ isOver, misreports }: Order) => isOver || misreports.length > 0;

export const FAULTS: readonly Fault[] = [
  ...(Object.keys(CRASH_POINTS) as CrashPoint[]).map(crashAt),
  {
    name: 'SIGKILL of PostgreSQL',
    cause: async ({ scene }) => void process.kill(scene.postgres.pid, 'SIGKILL'),
    repair: async ({ scene }) => {
      const killed = scene.postgres.pid;
      await until('PostgreSQL runs again', () => scene.postgres.pid !== killed, RECOVERED);
    },
  },
  {
    name: 'SIGKILL of the chain',
    cause: async ({ scene }) => void process.kill(scene.chain.pid, 'SIGKILL'),
    repair: async ({ scene }) => {
      const killed = scene.chain.pid;
      await until('the chain runs again', () => scene.chain.pid !== killed, RECOVERED);
    },
  },
  stopPastLease(),
  ...SURROUNDING_FAULTS,
];

/** The scene that all of these faults need. */
export function sceneFor(faults: readonly Fault[]): CrashSceneInput {
  return Object.assign({}, ...faults.map(({ scene }) => scene));
}

/** The node kills itself at the point, and is started again. */
function crashAt(point: CrashPoint): Fault {
  return {
    name: point,
    async cause({ scene: { node } }) {
      node.send({ point, pass: 1 + Math.floor(Math.random() * PASSES) });
      await until(`a node dies at ${point}`, () => node.isOver(), REACHED);
      const how = await node.ended;
      if (how !== 'SIGKILL') throw new Error(`The node ended with ${how}: ${node.output()}`);
    },
    repair: ({ scene }) => scene.restart(),
  };
}

/** The node sleeps until another one has its leases, and wakes up in the middle of its work. */
function stopPastLease(): Fault {
  let stopped: NodeProcess | undefined;
  return {
    name: 'SIGSTOP past the lease, then SIGCONT',
    async cause({ scene }) {
      stopped = scene.node;
      const next = await scene.startNode();
      await next.ready();
      stopped.signal('SIGSTOP');
      scene.replace(next);
    },
    async repair({ load }) {
      const first = load.orders.length;
      const isServed = () => load.orders.slice(first).some(({ isOver }) => isOver);
      await until('another node serves whole orders', isServed, RECOVERED);
      stopped?.signal('SIGCONT');
      const open = load.open();
      await until('orders end after the node woke up', () => open.every(isDone), RECOVERED);
      stopped?.signal('SIGTERM');
      await stopped?.ended;
    },
  };
}

/** Causes the fault and repairs it. A patient run waits for the orders that were under way. */
export async function runFault(run: Run, fault: Fault, { isPatient }: { isPatient: boolean }): Promise<Incident> {
  await fault.cause(run);
  const startMs = performance.now();
  const orders = run.load.open();
  await fault.repair(run);
  if (!isPatient) return { fault: fault.name, orders };
  // An order that does not end is lost, and the judgement at the end names it.
  await until('the orders under way have ended', () => orders.every(isDone), RECOVERED).catch(() => {});
  return { fault: fault.name, orders, recoveryMs: performance.now() - startMs };
}
