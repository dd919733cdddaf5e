import { setTimeout as pause } from 'node:timers/promises';
import type { CrashScene } from '../test/crash/scene.ts';
import type { NodeProcess } from '../test/node-process.ts';
import { signalTree } from '../test/process-tree.ts';
import { until } from './processes.ts';

/** The node that is killed now and then. */
export interface Victim {
  node: NodeProcess;
}

/** A fault of the soak, which repairs itself. */
export interface SoakFault {
  readonly label: string;
  cause(scene: CrashScene, victim: Victim): Promise<void>;
}

const OUTAGE_MS = 5_000;
const BACK = { withinMs: 60_000 };

export const SOAK_FAULTS: readonly SoakFault[] = [
  {
    label: 'a node is killed',
    async cause(scene, victim) {
      victim.node.signal('SIGKILL');
      await victim.node.ended;
      victim.node = await scene.startNode(new URL(victim.node.baseUrl).port);
      await victim.node.ready();
    },
  },
  {
    label: 'PostgreSQL stands still for 5 s',
    async cause({ postgres: { pid } }) {
      await signalTree(pid, 'SIGSTOP');
      await pause(OUTAGE_MS);
      await signalTree(pid, 'SIGCONT');
    },
  },
  {
    label: 'the chain is out of reach for 5 s',
    async cause({ wires }) {
      await wires?.chain.cut();
      await pause(OUTAGE_MS);
      await wires?.chain.restore();
    },
  },
  {
    label: 'database connections break',
    cause: async ({ wires }) => wires?.postgres.reset(),
  },
  {
    label: 'PostgreSQL is killed',
    async cause({ postgres }) {
      const { pid } = postgres;
      process.kill(pid, 'SIGKILL');
      await until('PostgreSQL runs again', async () => (postgres.pid === pid ? undefined : true), BACK);
    },
  },
];
