import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBareServer } from './bare.ts';
import { createPayments } from './calls.ts';
import { contest, type Side } from './contest.ts';
import { countRequests } from './count-requests.ts';
import type { Measurement } from './figures.ts';
import { addMerchants, HIGH_LIMITS, settle, startGateway } from './gateway.ts';
import { freePort } from './processes.ts';
import { makeFolder, removeFolder } from './temporary.ts';
import { runWrk } from './wrk.ts';

const MERCHANTS = 50;
const PAYMENTS = 1_000;

/** Reading the status of open payments, which must not come from memory, compared with a constant answer. */
export const statusMeasurement: Measurement = {
  names: ['status'],
  async measure(_, { isCounting }) {
    const folder = await makeFolder();
    const inspectPort = isCounting ? await freePort() : undefined;
    const gateway = await startGateway(HIGH_LIMITS, inspectPort);
    const bare = await startBareServer();
    try {
      await addMerchants(gateway, MERCHANTS);
      const payments = await createPayments(gateway, { count: PAYMENTS, merchants: MERCHANTS });
      const file = join(folder, 'payments');
      await writeFile(file, payments.map(({ id, merchant }) => `${id} ${merchant}\n`).join(''));
      await settle(gateway);
      const side = (name: string, { port, pid }: { port: number; pid: number }): Side => ({
        name,
        pid,
        run: (input) => runWrk({ ...input, script: 'status', port, args: [gateway.apiKey, file] }),
      });
      if (inspectPort !== undefined) {
        await countRequests(gateway, side('status', gateway), inspectPort);
        return [];
      }
      const sides = [side('gateway', gateway), side('bare Fastify', bare)] as const;
      return [await contest(sides, { name: 'status', atLeast: 0.8, rounds: 5, seconds: 4 })];
    } finally {
      await bare.stop();
      await gateway.stop();
      await removeFolder(folder);
    }
  },
};
