import type { World } from '../../runtime/world.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { BlockTime, ExaminedNetwork, Found } from '../examined.ts';
import type { FinalityTag } from '../network.ts';
import { PERMIT2_ADDRESS } from './collector.ts';
import { COLLECTORS, type ContractRelease, DEPOSIT_CONTRACTS } from './collectors.ts';
import { isThrottling, type RpcCall, readResponse, writeRequest } from './json-rpc.ts';
import { createRpc, type Rpc } from './rpc.ts';
import { readBlock, readNumber, toQuantity } from './rpc-values.ts';
import { codeHashCall, hasCodeCall } from './token-calls.ts';
import { httpTransport } from './transport.ts';

/** An endpoint of a chain that Till does not know yet. */
export interface Examination {
  readonly rpc: Rpc;
  readonly chainNumber: number;
  close(): void;
}

const TIMEOUT_MS = 10_000;
/**
 * The number of blocks over which the block time is measured. It is high, because times of blocks are whole seconds, even on fast
 * chains.
 */
const MEASURED_BLOCKS = 200;
/** The least number of blocks for a measurement, because the first blocks of a chain are often made by hand. */
const MIN_MEASURED_BLOCKS = 5;
const MAX_BLOCK_TIME_MS = 3_600_000;
/** Answers of nodes that do not know a tag. Other errors, such as "block not found", may disappear in a minute. */
const UNKNOWN_TAG =
  /invalid|unsupported|not supported|unknown (block )?tag|cannot unmarshal|does not exist\/is not avail/;
const BAD_PARAMS = -32602;

const CHAIN_ID: RpcCall<number> = { method: 'eth_chainId', params: [], read: readNumber };

/**
 * Opens a connection to an unknown chain. Rejects with `ChainUnavailableError`, whose message does not contain the URL, because
 * it may contain a key.
 */
export async function openExamination(world: World, url: string): Promise<Examination> {
  const chainNumber = await askChainNumber(world, url);
  const network = `eip155:${chainNumber}`;
  const rpc = createRpc({ world, network, chainId: chainNumber, blockTimeMs: 1_000, endpoints: [url] });
  return { rpc, chainNumber, close: () => rpc.close() };
}

/** The chain id of the endpoint. `Rpc` cannot ask for it, because it accepts answers of a known chain only. */
async function askChainNumber(world: World, url: string): Promise<number> {
  const refuse = (text: string) => new ChainUnavailableError('the endpoint of --rpc', text);
  const transport = httpTransport(url);
  const abortion = new AbortController();
  const cancel = world.timers.after(TIMEOUT_MS, () => abortion.abort());
  try {
    const { status, text } = await transport.post(writeRequest([CHAIN_ID], 1), abortion.signal).catch((error) => {
      const { code } = error as NodeJS.ErrnoException;
      throw refuse(
        abortion.signal.aborted ? `no answer within ${TIMEOUT_MS / 1_000} s` : `cannot be reached (${code})`,
      );
    });
    if (status !== 200) throw refuse(`answers with HTTP status ${status}. Is the key in its URL right?`);
    return (
      readChainNumber(text) ?? Promise.reject(refuse('does not answer eth_chainId, so it is no node of an EVM chain'))
    );
  } finally {
    cancel();
    transport.close();
  }
}

function readChainNumber(text: string): number | undefined {
  try {
    const [answer] = readResponse(text, 1, 1);
    return answer !== undefined && 'result' in answer ? CHAIN_ID.read(answer.result) : undefined;
  } catch {
    return undefined;
  }
}

export async function examineNetwork({ rpc, chainNumber }: Examination): Promise<ExaminedNetwork> {
  const head = await rpc.call(blockCall('latest'));
  const [blockTime, safe, finalized, permit2, collector, depositContract] = await Promise.all([
    findOut(measure(rpc, head)),
    findTag(rpc, 'safe'),
    findTag(rpc, 'finalized'),
    findOut(rpc.call(hasCodeCall(PERMIT2_ADDRESS)).then((has) => has || undefined)),
    findOut(newestOf(rpc, COLLECTORS)),
    findOut(newestOf(rpc, DEPOSIT_CONTRACTS)),
  ]);
  return {
    chainId: `eip155:${chainNumber}`,
    head: head.number,
    blockTime: blockTime.is === 'missing' ? { is: 'unknown', reason: NOT_MEASURED } : blockTime,
    tags: { safe, finalized },
    permit2,
    collector,
    depositContract,
  };
}

const NOT_MEASURED = `the chain has fewer than ${MIN_MEASURED_BLOCKS} blocks, or its blocks have the same time`;

/** The answer, `missing` if it is undefined, and `unknown` if no endpoint has a usable answer. */
export async function findOut<T>(asked: Promise<T | undefined>): Promise<Found<T>> {
  try {
    const value = await asked;
    return value === undefined ? { is: 'missing' } : { is: 'found', value };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { is: 'unknown', reason: error.message };
    throw error;
  }
}

function blockCall(block: string): RpcCall<ReturnType<typeof readBlock>> {
  return { method: 'eth_getBlockByNumber', params: [block, false], read: readBlock };
}

/** The measured block time. Block 0 does not count, because its time is often 0. */
async function measure(rpc: Rpc, head: ReturnType<typeof readBlock>): Promise<BlockTime | undefined> {
  const from = Math.max(1, head.number - MEASURED_BLOCKS);
  const blocks = head.number - from;
  if (blocks < MIN_MEASURED_BLOCKS) return undefined;
  const first = await rpc.call(blockCall(toQuantity(from)));
  const measuredMs = Math.round(((head.timestampS - first.timestampS) * 1_000) / blocks);
  return measuredMs < 1 ? undefined : { blockTimeMs: Math.min(measuredMs, MAX_BLOCK_TIME_MS), blocks };
}

async function findTag(rpc: Rpc, tag: FinalityTag): Promise<Found<true>> {
  const call: RpcCall<'block' | 'none' | undefined> = {
    method: 'eth_getBlockByNumber',
    params: [tag, false],
    read: (result) => (result === null ? 'none' : readBlock(result) && 'block'),
    readError: (error) => {
      const isRefusal = error.code === BAD_PARAMS || UNKNOWN_TAG.test(error.message);
      return isRefusal && !isThrottling(error) ? { value: undefined } : undefined;
    },
  };
  const found = await findOut(rpc.call(call));
  if (found.is !== 'found') return found;
  if (found.value === 'block') return { is: 'found', value: true };
  return { is: 'unknown', reason: 'the node has no such block at present' };
}

/** The address of the newest release that is deployed. A contract with other code at such an address is no release of ours. */
async function newestOf(rpc: Rpc, releases: readonly ContractRelease[]): Promise<string | undefined> {
  const hashes = await Promise.all(releases.map(({ address }) => rpc.call(codeHashCall(address))));
  return releases.findLast(({ codeHash }, index) => hashes[index] === codeHash)?.address;
}
