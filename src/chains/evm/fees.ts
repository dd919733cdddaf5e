import type { Fees } from '../chain.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readFields, readQuantity, toQuantity } from './rpc-values.ts';

const RECENT_BLOCKS = 5;
/** The median tip of mined transactions. */
const PERCENTILE = 50;
const DEFAULT_MIN_TIP = 1_000_000n;
/** No network needs more. It bounds the damage by an endpoint that lies about fees. */
const MAX_TIP = 1_000_000_000_000n;
const MAX_BASE_FEE = 20_000_000_000_000n;

interface FeeHistory {
  /** The base fee of the block after the requested ones. */
  readonly baseFee: bigint;
  readonly tips: readonly bigint[];
}

/** Enough for one of the next blocks: the base fee may more than double meanwhile, which takes seven full blocks. */
export async function suggestFees({ rpc, network }: EvmContext): Promise<Fees> {
  const { baseFee, tips } = await rpc.call(feeHistoryCall(rpc.sharedHead()));
  const paid = tips.filter((tip) => tip > 0n).sort((left, right) => (left < right ? -1 : 1));
  const usual = paid[Math.floor(paid.length / 2)] ?? 0n;
  const tip = min(max(usual, network.minTip ?? DEFAULT_MIN_TIP), MAX_TIP);
  return { max: (min(baseFee, MAX_BASE_FEE) * 9n) / 4n + tip, tip };
}

/**
 * Ends at the last block but one, so that the next base fee is known. To compute the fee of a block that does not exist
 * yet, some nodes execute the whole mempool.
 */
function feeHistoryCall(head = 0): RpcCall<FeeHistory> {
  return {
    method: 'eth_feeHistory',
    params: [toQuantity(RECENT_BLOCKS), head > 0 ? toQuantity(head - 1) : 'latest', [PERCENTILE]],
    ...(head > 0 && { minBlock: head - 1 }),
    read: (result) => {
      const { baseFeePerGas, reward } = readFields(result);
      if (!Array.isArray(baseFeePerGas) || baseFeePerGas.length === 0) throw new TypeError('no base fees');
      return {
        baseFee: readQuantity(baseFeePerGas.at(-1)),
        // For empty blocks nodes omit the field, or send empty rows.
        tips: Array.isArray(reward) ? reward.flatMap((row: unknown[]) => row.map(readQuantity)) : [],
      };
    },
  };
}

const max = (left: bigint, right: bigint) => (left > right ? left : right);
const min = (left: bigint, right: bigint) => (left < right ? left : right);
