import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';
import { createEvmHarness } from './evm-harness.ts';
import type { Harness } from './harness.ts';

/** The EVM adapter on a real EVM in this process, reached over HTTP like any other. */
export async function createLocalEvmHarness(): Promise<Harness> {
  const evm = await createSandboxEvm({ mining: 'manual', initialTimestamp: Date.UTC(2026, 0, 1) / 1000 });
  let isReachable = true;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (!isReachable) return void request.socket.destroy();
    response.setHeader('content-type', 'application/json').end(await evm.rpc(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return createEvmHarness({
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    request: (method, params = []) => evm.request({ method, params }),
    mine: () => evm.mine(),
    reorg: (depth, transactions) => evm.reorg(depth, transactions),
    setReachable: async (value) => {
      isReachable = value;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await evm.close();
    },
  });
}
