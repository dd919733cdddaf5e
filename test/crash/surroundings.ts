import { setTimeout as pause } from 'node:timers/promises';
import { databaseFault } from '../../src/store/plumbing/database.ts';
import { connectTo } from '../database.ts';
import type { TcpProxy } from '../tcp-proxy.ts';
import type { Fault } from './fault.ts';
import type { Wire } from './scene.ts';

/** Longer than a node needs to notice that a server hangs. */
const OUTAGE_MS = 4_000;

const NAMES: Readonly<Record<Wire, string>> = { postgres: 'PostgreSQL', chain: 'the chain' };

/** Breaks the network between the nodes and a server for a while. */
function broken(
  wire: Wire,
  { how, begin, end }: { how: string; begin(proxy: TcpProxy): unknown; end?(proxy: TcpProxy): unknown },
): Fault {
  return {
    name: `network to ${NAMES[wire]} ${how}`,
    scene: { hasNetwork: true },
    async cause({ scene: { wires } }) {
      if (wires === undefined) throw new Error('The scene has no network to break.');
      await begin(wires[wire]);
      if (end === undefined) return;
      await pause(OUTAGE_MS);
      await end(wires[wire]);
    },
    async repair() {},
  };
}

const onEach = (fault: Parameters<typeof broken>[1]) => (['postgres', 'chain'] as const).map((at) => broken(at, fault));

/** Faults of the network and of the disk that the gateway lives with. */
export const SURROUNDING_FAULTS: readonly Fault[] = [
  ...onEach({ how: 'is cut', begin: (proxy) => proxy.cut(), end: (proxy) => proxy.restore() }),
  ...onEach({ how: 'stalls', begin: (proxy) => proxy.hang(), end: (proxy) => proxy.resume() }),
  ...onEach({ how: 'half-closes', begin: (proxy) => proxy.halfClose() }),
  {
    name: 'disk of PostgreSQL is full',
    scene: { hasSmallDisk: true },
    skip: process.getuid?.() === 0 ? false : 'only root may mount a small disk',
    async cause({ scene: { disk, postgres } }) {
      if (disk === undefined) throw new Error('The scene has no disk that can be full.');
      await disk.fill();
      try {
        if (await canWrite(postgres.url)) throw new Error('PostgreSQL found room on a full disk.');
        await pause(OUTAGE_MS);
      } finally {
        await disk.free();
      }
    },
    async repair() {},
  },
];

/** True if PostgreSQL can store some pages more. */
async function canWrite(url: string): Promise<boolean> {
  const sql = connectTo(url);
  try {
    await sql`create table more as select repeat('x', 1000) from generate_series(1, 1000)`;
    await sql`drop table more`;
    return true;
  } catch (error) {
    if (databaseFault(error) !== 'unavailable') throw error;
    return false;
  } finally {
    await sql.end();
  }
}
