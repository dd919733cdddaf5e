import { sandboxFirstBlock, sandboxGenesis } from '../../src/sandbox/genesis.ts';
import type { InstalledNode, NodeName } from './nodes/install-node.ts';
import { type OtherNode, startNode } from './nodes/start-node.ts';
import { placeTokens } from './token-shapes.ts';

/**
 * Another node implementation that poses as a network: with its chain id, and with its tokens at their real addresses.
 */
export async function startPosingChain(
  name: NodeName,
  installed: InstalledNode,
  networkId: string,
): Promise<OtherNode> {
  const chainId = Number(networkId.slice('eip155:'.length));
  const node = await startNode(name, installed, { chainId });
  try {
    const tokens = placeTokens(networkId);
    for (const { address, code, balance, nonce, storage = [] } of sandboxGenesis(tokens)) {
      if (code !== undefined) await node.request('hardhat_setCode', [address, code]);
      if (balance !== undefined) await node.request('hardhat_setBalance', [address, `0x${balance.toString(16)}`]);
      if (nonce !== undefined) await node.request('hardhat_setNonce', [address, `0x${nonce.toString(16)}`]);
      for (const { slot, value } of storage) await node.request('hardhat_setStorageAt', [address, slot, value]);
    }
    for (const raw of await sandboxFirstBlock(chainId, tokens)) await node.request('eth_sendRawTransaction', [raw]);
    await node.request('evm_mine');
    return node;
  } catch (error) {
    await node.stop();
    throw error;
  }
}
