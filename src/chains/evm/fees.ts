import { unlessUnavailable } from '../chain-errors.ts';
import type { Endpoint } from './endpoint.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import type { Fees } from './offer.ts';
import { readFields, readQuantity, toQuantity } from './rpc-values.ts';

const RECENT_BLOCKS = 5;
const PERCENTILE = 50;
const DEFAULT_MIN_TIP = 1_000_000n;
/** The highest tip on a network without its own cap. The tip is paid in full, so a lying endpoint must not choose it. */
const DEFAULT_MAX_TIP = 20_000_000_000n;
const MAX_BASE_FEE = 20_000_000_000_000n;
/**
 * The factor by which similar base fees may differ. Honest endpoints are at most one block apart, and a base fee changes by at
 * most an eighth per block.
 */
const MAX_DIFFERENCE = 2n;

export interface FeeHistory {
  /** The base fee of the block after the requested blocks. */
  readonly baseFee: bigint;
  readonly tips: readonly bigint[];
}

/**
 * Fees for one of the next blocks. A full block raises the base fee by an eighth, so the base fee exceeds the offered maximum
 * only after seven full blocks. Two endpoints are asked, and the lower tip counts.
 */
export async function suggestFees({ rpc, network, feeMemory }: EvmContext): Promise<Fees> {
  const asked = feeHistoryCall(rpc.sharedHead());
  const [first, second, ...others] = rpc.inOrder();
  const askEach = async (endpoints: readonly (Endpoint | undefined)[]) => {
    const present = endpoints.filter((endpoint) => endpoint !== undefined);
    const answers = await Promise.all(present.map((endpoint) => unlessUnavailable(rpc.callOne(endpoint, asked))));
    return answers.filter((answer) => answer !== undefined);
  };
  let reported = second === undefined ? [] : await askEach([first, second]);
  // With one endpoint, or without an immediate answer, `rpc.call` tries all endpoints in several rounds.
  if (reported.length === 0) reported = [await rpc.call(asked)];
  else if (others.length > 0 && !isSimilar(reported)) reported = [...reported, ...(await askEach(others))];
  const baseFee = believable(reported, feeMemory.baseFee);
  if (isSimilar(reported)) feeMemory.baseFee = baseFee;
  const tip = boundedTip(reported.map(usualTip).reduce(min), network);
  return { max: (min(baseFee, MAX_BASE_FEE) * 9n) / 4n + tip, tip };
}

/**
 * The base fee that two endpoints report. If only two endpoints answer and they contradict each other, it is the answer nearer to
 * the last undisputed base fee: a fee that is too high would exceed the operator's cap, and a fee that is too low would not be
 * mined.
 */
export function believable(reported: readonly Pick<FeeHistory, 'baseFee'>[], known: bigint | undefined): bigint {
  const fees = reported.map(({ baseFee }) => baseFee).sort((left, right) => (left < right ? -1 : 1));
  const [lowest = 0n] = fees;
  if (fees.length !== 2) return fees[Math.floor(fees.length / 2)] ?? lowest;
  const highest = fees[1] ?? lowest;
  if (isSimilar(reported) || known === undefined) return highest;
  return highest * lowest > known * known ? lowest : highest;
}

function isSimilar(reported: readonly Pick<FeeHistory, 'baseFee'>[]): boolean {
  const fees = reported.map(({ baseFee }) => baseFee);
  return fees.length > 0 && fees.reduce(max) <= fees.reduce(min) * MAX_DIFFERENCE;
}

export function boundedTip(usual: bigint, { minTip = DEFAULT_MIN_TIP, maxTip = DEFAULT_MAX_TIP }: TipBounds): bigint {
  return min(max(usual, minTip), maxTip);
}

interface TipBounds {
  readonly minTip?: bigint | undefined;
  readonly maxTip?: bigint | undefined;
}

function usualTip({ tips }: FeeHistory): bigint {
  const paid = tips.filter((tip) => tip > 0n).sort((left, right) => (left < right ? -1 : 1));
  return paid[Math.floor(paid.length / 2)] ?? 0n;
}

/**
 * The call that reads the fees of recent blocks. Nodes also return the base fee of the block after the requested ones. The
 * request ends one block before the head, so that this block exists: for a block that does not exist yet, some nodes execute the
 * whole mempool to compute the fee.
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
        // For empty blocks, nodes omit the field or send empty rows.
        tips: Array.isArray(reward) ? reward.flatMap((row: unknown[]) => row.map(readQuantity)) : [],
      };
    },
  };
}

const max = (left: bigint, right: bigint) => (left > right ? left : right);
const min = (left: bigint, right: bigint) => (left < right ? left : right);
