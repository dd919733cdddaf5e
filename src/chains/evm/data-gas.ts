import { decodeAbiParameters, encodeFunctionData, parseAbi } from 'viem';
import { ChainUnavailableError, ContractFaultError } from '../chain-errors.ts';
import { ethRead } from './eth-call.ts';
import type { EvmContext } from './evm-context.ts';
import type { Hex } from './rpc-values.ts';

/** The virtual contract `NodeInterface`, which only Arbitrum's nodes have. */
const NODE_INTERFACE = '0x00000000000000000000000000000000000000c8';
/**
 * The maximum gas for data. It is more than the largest batch needs. A wrong higher answer would make every relayer's balance too
 * low to send.
 */
const MAX_DATA_GAS = 50_000_000n;
const NODE_INTERFACE_ABI = parseAbi([
  'function gasEstimateL1Component(address to, bool contractCreation, bytes data) returns (uint64 gas, uint256 baseFee, uint256 dataFee)',
]);

/**
 * The gas for a transaction's data, in addition to its execution. The price of data moves while the transaction waits, so a margin
 * of one half is added. Unused gas is not paid.
 */
export async function dataGas({ rpc, network }: EvmContext, to: Hex, data: Hex): Promise<bigint> {
  if (!network.gasPaysForData) return 0n;
  const args = [to, false, data] as const;
  const call = encodeFunctionData({ abi: NODE_INTERFACE_ABI, functionName: 'gasEstimateL1Component', args });
  const read = ethRead({ to: NODE_INTERFACE, data: call }, (returned) => {
    const [gas] = decodeAbiParameters([{ type: 'uint64' }], returned);
    const withMargin = (gas * 3n) / 2n;
    return withMargin < MAX_DATA_GAS ? withMargin : MAX_DATA_GAS;
  });
  return rpc.call(read).catch((error: unknown) => {
    // `NodeInterface` is part of the node's program and no contract on chain. A node without it is not a node of this network.
    if (error instanceof ContractFaultError) throw new ChainUnavailableError(network.chainId, error.message);
    throw error;
  });
}
