import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  OSAKA,
  type Provider,
  type ProviderConfig,
} from '@nomicfoundation/edr';
import { systemWorld } from '../runtime/system-world.ts';
import type { World } from '../runtime/world.ts';
import type { BranchTimes } from './chain-journal.ts';

type Hex = `0x${string}`;

export interface Predeploy {
  readonly address: Hex;
  readonly code?: Hex;
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly storage?: readonly { readonly slot: Hex; readonly value: Hex }[];
}

export interface LocalEvmOptions {
  readonly chainId?: number;
  readonly genesis: readonly Predeploy[];
  /** Raw transactions that are mined in one block before the first call. */
  readonly firstBlock?: readonly Hex[];
  /**
   * `auto`: a block for each transaction. `manual`: a block on request. With an interval: a block if transactions are waiting, and
   * one every `idleMs` without transactions, so that deadlines pass. Every block takes 7 KB forever.
   */
  readonly mining: 'auto' | 'manual' | { readonly intervalMs: number; readonly idleMs?: number };
  /** True if blocks may have the same time as their parent. Then many blocks in a second do not move the chain's time ahead. */
  readonly sharesSeconds?: boolean;
  /** The time of the genesis block, in seconds since the epoch. */
  readonly initialTimestamp?: number;
  readonly world?: Pick<World, 'clock' | 'timers'>;
}

export interface LocalEvm {
  /** Sends a request as in EIP-1193. Rejects with an `RpcError`. */
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  rpc(body: string): Promise<string>;
  mine(count?: number): Promise<void>;
  rollback(depth: number): Promise<void>;
  /**
   * Replaces the last blocks by the same number of others, at the engine's time or at the given times. The transactions of the old
   * blocks are dropped, or mined again in the first new block, together with pending ones.
   */
  reorg(depth: number, transactions?: 'forgotten' | 'kept', times?: BranchTimes): Promise<void>;
  close(): Promise<void>;
}

export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message);
    this.name = 'RpcError';
    this.code = error.code;
    // The engine wraps the revert data of a contract. Clients expect the plain bytes.
    this.data = hasRevertData(error.data) ? error.data.data : error.data;
  }
}

/** The greatest depth of a reorg. */
const KEPT_BLOCKS = 128;
const MAX_BATCH = 1000;
const BLOCK_GAS_LIMIT = 60_000_000n;
/** The maximum gas of a transaction (EIP-7825), as on mainnet. */
const TRANSACTION_GAS_CAP = 2n ** 24n;

/** A snapshot at a block, and the raw transactions sent since the previous snapshot. */
interface Checkpoint {
  readonly snapshot: Hex;
  readonly block: number;
  readonly sent: readonly Hex[];
}

/** An Ethereum chain in this process with a real EVM, real blocks and logs, and reorgs on request. */
export async function createLocalEvm(options: LocalEvmOptions): Promise<LocalEvm> {
  const world = options.world ?? systemWorld;
  const provider = await createProvider(options);
  const inTurn = createQueue();
  const ring: Checkpoint[] = [];
  let sent: Hex[] = [];
  let reorgs = 0;
  let cancelTick = () => {};
  let isClosed = false;

  async function direct(method: string, params: unknown = []): Promise<unknown> {
    return resultOf(await answerOf(provider, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })));
  }

  const height = async () => Number(await direct('eth_blockNumber'));

  /** Takes a snapshot at a block. The engine has no reorgs: they are made by reverting to a snapshot of an earlier block. */
  async function checkpoint(block: number): Promise<void> {
    ring.push({ snapshot: (await direct('evm_snapshot')) as Hex, block, sent });
    sent = [];
    if (ring.length > KEPT_BLOCKS + 1) ring.shift();
  }

  async function mineBlocks(count: number, timestampS?: number): Promise<void> {
    for (let mined = 0; mined < count; mined += 1) {
      await direct('evm_mine', timestampS === undefined ? [] : [timestampS]);
      await checkpoint(await height());
    }
  }

  /**
   * Mines the transactions in one block, and then empty blocks. Automatic mining is off meanwhile, because it would mine each
   * transaction in its own block.
   */
  async function inOneBlock(transactions: readonly Hex[], blocks: number, times?: BranchTimes): Promise<void> {
    await direct('evm_setAutomine', [false]);
    for (const raw of transactions) await direct('eth_sendRawTransaction', [raw]);
    sent = [...sent, ...transactions];
    await mineBlocks(Math.min(1, blocks), times?.firstS);
    await mineBlocks(blocks - 1, times?.restS);
    if (options.mining === 'auto') await direct('evm_setAutomine', [true]);
  }

  /** Sends the transactions of removed blocks again. A transaction that is refused now is dropped, as in a real reorg. */
  async function sendAgain(transactions: readonly Hex[]): Promise<void> {
    await direct('evm_setAutomine', [false]);
    for (const raw of transactions) {
      try {
        await direct('eth_sendRawTransaction', [raw]);
        sent.push(raw);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
      }
    }
  }

  /** Removes the last blocks. Returns their transactions and the pending ones. */
  async function goBack(depth: number): Promise<{ blocks: number; transactions: Hex[] }> {
    const head = await height();
    const index = ring.findIndex(({ block }) => block === head - depth);
    const target = ring[index];
    if (target === undefined) throw new RangeError(`Block ${head - depth} was not kept: cannot go back to it`);
    const undone = ring.splice(index).slice(1);
    const waiting = sent;
    await direct('evm_revert', [target.snapshot]);
    // A revert deletes the snapshot and the pending transactions. So a new snapshot is taken.
    ring.push({ ...target, snapshot: (await direct('evm_snapshot')) as Hex });
    sent = [];
    return { blocks: depth, transactions: [...undone.flatMap((block) => block.sent), ...waiting] };
  }

  /** Forwards a call unchanged, and takes a snapshot if the number of blocks has changed. */
  async function handle(text: string, method: string, params: unknown): Promise<string> {
    const before = ring.at(-1)?.block ?? 0;
    const answer = await answerOf(provider, text);
    if (!CHANGES_CHAIN.test(method)) return answer;
    if (method === 'eth_sendRawTransaction' && !isFailure(answer)) sent.push((params as Hex[])[0] as Hex);
    if (method === 'evm_revert') forgetAfter(Number((params as Hex[])[0]));
    const now = await height();
    // Several blocks mined by one call share a snapshot: no reorg can begin between them.
    if (now !== before && ring.at(-1)?.block !== now) await checkpoint(now);
    return answer;
  }

  /** Drops the checkpoints that a caller's `evm_revert` has deleted: it deletes all later snapshots, including ours. */
  function forgetAfter(snapshot: number): void {
    while (ring.length > 0 && Number(ring.at(-1)?.snapshot) >= snapshot) ring.pop();
    sent = [];
  }

  function tick(intervalMs: number, idleMs: number, lastBlockMs: number): void {
    cancelTick = world.timers.after(intervalMs, () => {
      void inTurn(async () => {
        if (isClosed) return;
        const isDue = sent.length > 0 || world.clock.nowMs() - lastBlockMs >= idleMs;
        if (isDue) await mineBlocks(1);
        tick(intervalMs, idleMs, isDue ? world.clock.nowMs() : lastBlockMs);
      });
    });
  }

  async function one(call: unknown): Promise<string> {
    const { id = null, method, params = [] } = (isObject(call) ? call : {}) as Record<string, unknown>;
    if (typeof method !== 'string') return withEnvelope(INVALID_REQUEST, null);
    // The engine refuses calls without `params`, and omits `jsonrpc` and `id` from its answers.
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return withEnvelope(await inTurn(() => handle(text, method, params)), id);
  }

  for (const { address, storage = [] } of options.genesis) {
    for (const { slot, value } of storage) await direct('hardhat_setStorageAt', [address, quantity(slot), word(value)]);
  }
  await checkpoint(0);
  if (options.firstBlock !== undefined) await inOneBlock(options.firstBlock, 1);
  if (typeof options.mining === 'object') {
    const { intervalMs, idleMs = Number.POSITIVE_INFINITY } = options.mining;
    tick(intervalMs, idleMs, world.clock.nowMs());
  }

  return {
    request: async ({ method, params = [] }) =>
      resultOf(await inTurn(() => handle(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), method, params))),
    rpc: async (body) => {
      const parsed = parse(body);
      if (parsed === undefined) return withEnvelope(PARSE_ERROR, null);
      if (!Array.isArray(parsed)) return one(parsed);
      if (parsed.length === 0 || parsed.length > MAX_BATCH) return withEnvelope(INVALID_REQUEST, null);
      return `[${(await Promise.all(parsed.map(one))).join(',')}]`;
    },
    mine: (count = 1) => inTurn(() => mineBlocks(count)),
    rollback: (depth) =>
      inTurn(async () => {
        await goBack(depth);
      }),
    reorg: (depth, transactions = 'forgotten', times) =>
      inTurn(async () => {
        const undone = await goBack(depth);
        reorgs += 1;
        await direct('hardhat_setPrevRandao', [word(`0x${reorgs.toString(16)}`)]);
        if (transactions === 'kept') await sendAgain(undone.transactions);
        await inOneBlock([], undone.blocks, times);
      }),
    close: async () => {
      isClosed = true;
      cancelTick();
      await inTurn(async () => {});
    },
  };
}

/** The engine allows one context for each process. */
let context: Promise<EdrContext> | undefined;

async function edrContext(): Promise<EdrContext> {
  context ??= (async () => {
    const created = new EdrContext();
    await created.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
    return created;
  })();
  return context;
}

async function createProvider(options: LocalEvmOptions): Promise<Provider> {
  const chainId = BigInt(options.chainId ?? 31337);
  const config: ProviderConfig = {
    allowBlocksWithSameTimestamp: options.sharesSeconds ?? false,
    allowUnlimitedContractSize: false,
    // A reverted eth_call is an error with data; a reverted transaction is mined and has a receipt.
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    chainId,
    networkId: chainId,
    coinbase: bytes('0x00000000000000000000000000000000000c01b0'),
    defaultTransactionGasLimit: TRANSACTION_GAS_CAP,
    transactionGasCap: TRANSACTION_GAS_CAP,
    genesisState: [
      ...l1GenesisState(l1HardforkFromString(OSAKA)),
      ...options.genesis.map(({ address, code, balance, nonce }) => ({
        address: bytes(address),
        ...(balance === undefined ? {} : { balance }),
        ...(nonce === undefined ? {} : { nonce }),
        ...(code === undefined ? {} : { code: bytes(code) }),
      })),
    ],
    hardfork: OSAKA,
    initialBaseFeePerGas: 1_000_000_000n,
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    mining: {
      autoMine: options.mining === 'auto',
      blockGasLimit: BLOCK_GAS_LIMIT,
      memPool: { order: MineOrdering.Priority },
    },
    network: {
      genesisBlockGasLimit: BLOCK_GAS_LIMIT,
      ...(options.initialTimestamp === undefined ? {} : { genesisBlockTime: BigInt(options.initialTimestamp) }),
    },
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  };
  const logger = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} };
  const subscriptions = { subscriptionCallback: () => {} };
  return (await edrContext()).createProvider(L1_CHAIN_TYPE, config, logger, subscriptions, new ContractDecoder());
}

/** Methods that may add or remove blocks, or leave pending transactions. */
const CHANGES_CHAIN = /^(eth_send(Raw)?Transaction|evm_mine|hardhat_mine|evm_revert)$/;

const PARSE_ERROR = '{"error":{"code":-32700,"message":"Parse error"}}';
const INVALID_REQUEST = '{"error":{"code":-32600,"message":"Invalid request"}}';

async function answerOf(provider: Provider, text: string): Promise<string> {
  const { data } = await provider.handleRequest(text);
  return typeof data === 'string' ? data : JSON.stringify(data);
}

function resultOf(answer: string): unknown {
  const parsed = JSON.parse(answer) as { result?: unknown; error?: { code: number; message: string; data?: unknown } };
  if (parsed.error !== undefined) throw new RpcError(parsed.error);
  return parsed.result;
}

const isFailure = (answer: string) => answer.startsWith('{"error"');

/** Adds `jsonrpc` and `id` without parsing the answer, which may be large. */
function withEnvelope(answer: string, id: unknown): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (!isFailure(answer)) return head + answer.slice(1);
  const { error } = JSON.parse(answer) as { error: { code: number; message: string; data?: unknown } };
  const data = hasRevertData(error.data) ? error.data.data : error.data;
  return `${head}"error":${JSON.stringify({ ...error, data })}}`;
}

/** A queue that runs one task at a time, in the order of arrival. */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function hasRevertData(data: unknown): data is { data: Hex } {
  return isObject(data) && 'data' in data && typeof data.data === 'string';
}

const bytes = (hex: Hex) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
const quantity = (hex: Hex): Hex => `0x${BigInt(hex).toString(16)}`;
const word = (hex: Hex): Hex => `0x${BigInt(hex).toString(16).padStart(64, '0')}`;
