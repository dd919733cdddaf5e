import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256 } from 'viem';
import { COLLECTOR_ABI, COLLECTOR_ADDRESS, NONCE_SPACES } from '../../src/chains/evm/collector.ts';
import type { FaultChain } from '../faults/fault-chain.ts';
import { RpcFault, type RpcProxy } from '../rpc-proxy.ts';
import type { RpcCall } from '../stale-view.ts';

/** The answer of a compromised endpoint to a call, given the chain's answer. */
export type Answer = (call: RpcCall, truth: unknown) => unknown;

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly transactionHash: string;
  readonly blockNumber: Hex;
}

/** Sets the answers of the endpoint, for every call that it does not refuse. */
export function lieWith(proxy: RpcProxy, ...answers: readonly Answer[]): void {
  proxy.lie({
    as: 'result',
    of: async (call, truth) => {
      let changed = truth;
      for (const answer of answers) changed = await answer(call, changed);
      return changed;
    },
  });
}

/** Accepts every transaction, and passes none of them on. */
export function swallowing(proxy: RpcProxy): void {
  proxy.lie({
    as: 'result',
    of: ({ method, params }) =>
      method === 'eth_sendRawTransaction' ? keccak256(String(params?.[0]) as Hex) : undefined,
    withheld: ['eth_sendRawTransaction'],
  });
}

/** The outcome of a batch whose first item is refused without a reason. */
const FIRST_REFUSED = encodeAbiParameters([{ type: 'bytes' }], ['0x00000000']);

/** Refuses the first item of every batch that is tried out. */
export const refusingBatches: Answer = (call, truth) => (isTrial(call) ? FIRST_REFUSED : truth);

/** Reports that the sender of every batch that is tried out has no coin. */
export const denyingCoin: Answer = (call, truth) =>
  isTrial(call) ? new RpcFault(-32_000, 'insufficient funds for gas * price + value') : truth;

/** An answer of the Lens: a flag of one byte and a word, in hex. */
const LENS_ANSWER = /(..)[0-9a-f]{64}/g;

/** Reports zero for every balance, allowance and use that the Lens reads. */
export const denyingFunds: Answer = ({ method, params }, truth) => {
  const { to } = (params?.[0] ?? {}) as { to?: string };
  if (method !== 'eth_call' || to !== undefined || typeof truth !== 'string') return truth;
  return `0x${truth.slice(2).replace(LENS_ANSWER, `$1${'0'.repeat(64)}`)}`;
};

function isTrial({ method, params }: RpcCall): boolean {
  const { to, from } = (params?.[0] ?? {}) as { to?: string; from?: string };
  return method === 'eth_call' && from !== undefined && to?.toLowerCase() === COLLECTOR_ADDRESS.toLowerCase();
}

const DECIMALS = '0x313ce567';

/** Reports no code at any address, and twelve decimals of every token. */
export const denyingContracts: Answer = ({ method, params }, truth) => {
  const { data } = (params?.[0] ?? {}) as { data?: string };
  if (method === 'eth_getCode') return '0x';
  return method === 'eth_call' && data === DECIMALS ? `0x${'c'.padStart(64, '0')}` : truth;
};

/** Hides events of these commitments, in lists of logs and in receipts. */
export function hiding(...commitments: readonly string[]): Answer {
  const isHidden = ({ topics }: Log) => commitments.includes(topics[1] ?? '');
  return ({ method }, truth) => {
    if (method === 'eth_getLogs') return (truth as Log[] | undefined)?.filter((log) => !isHidden(log));
    if (method !== 'eth_getTransactionReceipt' || !truth) return truth;
    const receipt = truth as { logs: Log[] };
    return { ...receipt, logs: receipt.logs.filter((log) => !isHidden(log)) };
  };
}

const AUTHORIZATION_STATE = '0xe94a0102';

/** Reports every authorization as unused. */
export const denyingUse: Answer = ({ method, params }, truth) => {
  const { data } = (params?.[0] ?? {}) as { data?: string };
  return method === 'eth_call' && data?.startsWith(AUTHORIZATION_STATE) ? `0x${'0'.repeat(64)}` : truth;
};

export interface ForgedPayment {
  readonly commitment: string;
  /** In hex, without 0x. */
  readonly seal: string | null;
  readonly feeAccount: string;
  readonly deadline: Date;
  readonly payer: string;
  readonly token: string;
  readonly amount: string;
  readonly fee: string;
  readonly recipient: string;
}

/** Reports a payment in the chain's newest block, with a receipt to match. */
export async function forging(chain: FaultChain, payment: ForgedPayment): Promise<Answer> {
  const { number, hash } = await chain.request<{ number: Hex; hash: Hex }>('eth_getBlockByNumber', 'latest', false);
  const transactionHash = `0x${'f0'.repeat(32)}`;
  const log = {
    address: COLLECTOR_ADDRESS.toLowerCase(),
    topics: encodeEventTopics({
      abi: COLLECTOR_ABI,
      eventName: 'Collected',
      args: { commitment: payment.commitment as Hex },
    }),
    data: encodeAbiParameters(
      'uint256,address,address,bytes32,address,uint256,uint256,address,uint256'.split(',').map((type) => ({ type })),
      [
        BigInt(NONCE_SPACES.token),
        payment.token,
        payment.feeAccount,
        `0x${payment.seal}`,
        payment.payer,
        BigInt(payment.amount),
        BigInt(payment.fee),
        payment.recipient,
        BigInt(payment.deadline.getTime() / 1000),
      ],
    ),
    blockNumber: number,
    blockHash: hash,
    transactionHash,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  };
  const receipt = {
    transactionHash,
    blockNumber: number,
    blockHash: hash,
    status: '0x1',
    from: payment.payer,
    gasUsed: '0x5208',
    effectiveGasPrice: '0x1',
    logs: [log],
  };
  return ({ method, params = [] }, truth) => {
    if (method === 'eth_getTransactionReceipt') return params[0] === transactionHash ? receipt : truth;
    if (method !== 'eth_getLogs' || truth === undefined) return truth;
    const { fromBlock, toBlock, address } = params[0] as { fromBlock: Hex; toBlock: Hex; address: unknown };
    const isInRange = Number(fromBlock) <= Number(number) && Number(number) <= Number(toBlock);
    const isAsked = isInRange && [address].flat().includes(log.address);
    return isAsked ? [...(truth as unknown[]), log] : truth;
  };
}

interface Header {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
}

/** Claims a chain that is longer by this many made-up blocks. */
export async function aheadBy(chain: FaultChain, blocks: number): Promise<Answer> {
  const last = await chain.request<Header>('eth_getBlockByNumber', 'latest', false);
  const real = Number(last.number);
  const claimed = real + blocks;
  const hashOf = (number: number) => (number === real ? last.hash : `0x${number.toString(16).padStart(64, 'a')}`);
  return ({ method, params = [] }, truth) => {
    if (method === 'eth_blockNumber') return `0x${claimed.toString(16)}`;
    if (method === 'eth_getLogs') return chain.request('eth_getLogs', { ...(params[0] as object), toBlock: 'latest' });
    if (method !== 'eth_getBlockByNumber') return truth;
    const number = params[0] === 'latest' ? claimed : Number(params[0]);
    // Once the chain has a block of that height itself, the real one is reported.
    if (!(number > real) || number > claimed || (truth !== null && params[0] !== 'latest')) return truth;
    return {
      ...last,
      number: `0x${number.toString(16)}`,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: `0x${(Number(last.timestamp) + 100_000).toString(16)}`,
    };
  };
}
