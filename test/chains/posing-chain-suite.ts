import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG, ONLY_LONG } from '../long.ts';
import { describeChain } from './conformance.ts';
import { createEvmHarness, type Pose } from './evm-harness.ts';
import { installNode, type NodeName } from './nodes/install-node.ts';
import type { OtherNode } from './nodes/start-node.ts';
import { startPosingChain } from './posing-chain.ts';
import { openScriptedEvm } from './scripted-evm.ts';

/** A revert, an invalid opcode, one that does not exist, an empty stack, a jump to nowhere; and no code at all. */
const HALTING = ['0x60006000fd', '0xfe', '0x0c', '0x01', '0x600a56', '0x'];

/**
 * The conformance suite on another node implementation that poses as a network, with tokens in the shapes of the real
 * ones.
 */
export async function describePosingChain(name: NodeName, pose: Pose): Promise<void> {
  const title = `the EVM adapter on ${name}, which poses as ${pose.networkId}`;
  // Every run pays on these nodes (`paying-on-posing-chain.ts`). The whole suite takes minutes on them.
  if (!IS_LONG) return void it(title, ONLY_LONG);
  const installed = await installNode(name);
  if ('missing' in installed) return void it(title, { skip: installed.missing });
  describe(title, () => {
    let node: OtherNode;
    before(async () => {
      node = await startPosingChain(name, installed, pose.networkId);
    });
    after(() => node?.stop());

    it('takes a token that halts for a token that is wrong, and never for a fault of the endpoint', async () => {
      const harness = createEvmHarness(await openScriptedEvm(node.rpcUrl), pose);
      const asset = pose.assets['eip3009-bytes'];
      const address = asset.slice(asset.lastIndexOf(':') + 1);
      for (const code of HALTING) {
        await node.request('hardhat_setCode', [address, code]);
        const { payable, unchecked, problems } = await harness.chain.check();
        assert.deepEqual([payable.includes(asset), unchecked, problems.length], [false, [], 1], code);
        assert.equal(harness.chain.health().endpointsUp, 1, code);
      }
      await harness.close();
    });

    it('replaces a block by another one, even if its clock returns to the second of the first one', async () => {
      const evm = await openScriptedEvm(node.rpcUrl);
      const latest = async () =>
        (await evm.request('eth_getBlockByNumber', ['latest', false])) as Record<string, string>;
      // The least base fee stays as it is, so blocks without transactions differ in nothing but their times.
      await evm.request('hardhat_setNextBlockBaseFeePerGas', ['0x7']);
      await evm.mine();
      const { timestamp } = await latest();
      await evm.request('evm_setNextBlockTimestamp', [Number(timestamp) + 1]);
      await evm.mine();
      const hashes = [(await latest()).hash];
      for (let reorgs = 0; reorgs < 2; reorgs += 1) {
        await evm.reorg(1, 'forgotten');
        hashes.push((await latest()).hash);
      }
      await evm.close();
      assert.equal(new Set(hashes).size, hashes.length);
    });

    describeChain('conforms', async () => createEvmHarness(await openScriptedEvm(node.rpcUrl), pose));
  });
}
