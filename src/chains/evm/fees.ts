import type { Fees } from '../chain.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readFields, readQuantity, toQuantity } from './rpc-values.ts';

const RECENT_BLOCKS = 5;
/** Half of what was mined offered less. */
const PERCENTILE = 50;
const DEFAULT_MIN_TIP = 1_000_000n;
/** No network asks for more. It bounds what an endpoint that lies about fees can cost us. */
const MAX_TIP = 1_000_000_000_000n;
const MAX_BASE_FEE = 20_000_000_000_000n;

interface FeeHistory {
  readonly nextBaseFee: bigint;
  readonly tips: readonly bigint[];
}

/** Enough to be in one of the next blocks: the base fee may double meanwhile, which takes it six full blocks. */
export async function suggestFees({ rpc, network }: EvmContext): Promise<Fees> {
  const { nextBaseFee, tips } = await rpc.call(feeHistoryCall);
  const paid = tips.filter((tip) => tip > 0n).sort((left, right) => (left < right ? -1 : 1));
  const usual = paid[Math.floor(paid.length / 2)] ?? 0n;
  const tip = min(max(usual, network.minTip ?? DEFAULT_MIN_TIP), MAX_TIP);
  return { max: min(nextBaseFee, MAX_BASE_FEE) * 2n + tip, tip };
}

const feeHistoryCall: RpcCall<FeeHistory> = {
  method: 'eth_feeHistory',
  params: [toQuantity(RECENT_BLOCKS), 'latest', [PERCENTILE]],
  read: (result) => {
    const { baseFeePerGas, reward } = readFields(result);
    if (!Array.isArray(baseFeePerGas) || baseFeePerGas.length === 0) throw new TypeError('no base fees');
    return {
      nextBaseFee: readQuantity(baseFeePerGas.at(-1)),
      // Nodes leave it out, or the rows empty, when the blocks were.
      tips: Array.isArray(reward) ? reward.flatMap((row: unknown[]) => row.map(readQuantity)) : [],
    };
  },
};

const max = (left: bigint, right: bigint) => (left > right ? left : right);
const min = (left: bigint, right: bigint) => (left < right ? left : right);
