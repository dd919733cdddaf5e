import { after, before, describe, it } from 'node:test';
import { describeChain } from './conformance.ts';
import { createEvmHarness, type Pose } from './evm-harness.ts';
import { installNode, type NodeName } from './nodes/install-node.ts';
import type { OtherNode } from './nodes/start-node.ts';
import { startPosingChain } from './posing-chain.ts';
import { openScriptedEvm } from './scripted-evm.ts';

/** The conformance suite on a node of another make that poses as a network, with tokens in the shapes of the real ones. */
export async function describePosingChain(name: NodeName, pose: Pose): Promise<void> {
  const title = `the EVM adapter on ${name}, which poses as ${pose.networkId}`;
  const installed = await installNode(name);
  if ('missing' in installed) return void it(title, { skip: installed.missing });
  const { folder } = installed;
  describe(title, () => {
    let node: OtherNode;
    before(async () => {
      node = await startPosingChain(name, folder, pose.networkId);
    });
    after(() => node?.stop());
    describeChain('conforms', async () => createEvmHarness(await openScriptedEvm(node.rpcUrl), pose));
  });
}
