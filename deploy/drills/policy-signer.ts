import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../docs/examples/policy-signer.mjs');

type Policy = (request: unknown) => Promise<unknown>;

/** The exports of the example, which is plain JavaScript. */
interface Example {
  createPolicy(input: { key: string; limits: ReadonlyMap<string, bigint> }): Policy;
  createPolicyServer(policy: Policy): Server;
}

export type PolicySigner = Awaited<ReturnType<typeof startPolicySigner>>;

/** The external signer of the documentation, with a limit of one asset. */
export async function startPolicySigner({ key, asset, units }: { key: string; asset: string; units: bigint }) {
  const { createPolicy, createPolicyServer } = (await import(PROGRAM)) as Example;
  const policy = createPolicy({ key, limits: new Map([[asset.toLowerCase(), units]]) });
  let signatures = 0;
  const server = createPolicyServer(async (request) => {
    const signature = await policy(request);
    signatures += 1;
    return signature;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signatures: () => signatures,
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
