import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../runtime/world.ts';
import { keptGenesis, newGenesis } from './chain-genesis.ts';
import { type ChainJournal, type ChainRecord, openChainJournal } from './chain-journal.ts';
import { missingReleases, SANDBOX_FIRST_BLOCK, sandboxFirstBlock } from './genesis.ts';
import { createLocalEvm, createQueue, type LocalEvm } from './local-evm.ts';

/** A durable local chain: everything that it has answered stays true even if its process is killed. */
export interface KeptChain {
  readonly genesisHash: string;
  pass(call: RpcCall): Promise<string>;
  /** Forwards a transaction. If the chain accepts it, the transaction is on disk when this resolves. */
  send(call: RpcCall): Promise<string>;
  /** Mines a block if the head is too old: contracts compare deadlines with the head's time. */
  freshen(): Promise<void>;
  /** Moves the chain's time ahead of the machine's by `aheadMs`, and mines a block. The time never goes back. */
  moveAhead(aheadMs: number): Promise<void>;
  /** Replaces this block and all later ones by others with the same transactions. False if the block is gone or too deep. */
  replaceBlocks(from: { readonly number: number; readonly hash: string }): Promise<boolean>;
  close(): Promise<void>;
}

export interface RpcCall {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: unknown;
}

export interface KeptChainInput {
  readonly dir: string;
  /**
   * The block time. If transactions are waiting, a block is mined at the next multiple of the block time. With 0, it is mined at
   * once.
   */
  readonly blockMs: number;
  /** True if callers may change state, time and history at will. Such changes cannot be replayed, so the chain is not stored. */
  readonly isScriptable: boolean;
  /** Called when disk and memory may differ. Only a new process, which reads the disk, can continue. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * How old the head may be. If it is older, the next call first gets a new, empty block, because contracts compare deadlines with
 * the head's time. Every block takes memory forever, so an idle chain gets fewer blocks: its head may also be as old as a
 * twentieth (`LATE_SHARE`) of the time since the last contract call or transaction. An idle month adds about two hundred blocks.
 */
const FRESH_MS = 15_000;
const LATE_SHARE = 20;
/** The most blocks that can be replaced: less than the depth of the engine's snapshots. */
const MAX_REPLACED = 100;

const USES = /^eth_(call|estimateGas|sendRawTransaction)$/;

/** Rebuilds the folder's chain block by block, or creates a new one. */
export async function openKeptChain(world: World, input: KeptChainInput): Promise<KeptChain> {
  await mkdir(input.dir, { recursive: true, mode: 0o700 });
  const { chainId, timestampS, predeploys } = input.isScriptable
    ? newGenesis(world)
    : await keptGenesis(world, input.dir);
  const evm = await createLocalEvm({
    chainId,
    genesis: predeploys,
    initialTimestamp: timestampS,
    mining: 'manual',
    sharesSeconds: true,
    world,
  });
  let replayed = 0;
  let hasBegun = false;
  let aheadMs = 0;
  const journal = input.isScriptable
    ? undefined
    : await openChainJournal(world.timers, join(input.dir, 'journal'), async (record) => {
        await apply(evm, record);
        replayed += 1;
        hasBegun ||= 'block' in record;
        if ('aheadMs' in record) ({ aheadMs } = record);
      });
  // If the process was killed while it created the chain, the journal may be incomplete. Only the missing records are written.
  const beginning = hasBegun ? [] : await firstRecords(chainId, timestampS);
  const write = async (record: ChainRecord) => {
    await journal?.append(record);
    await apply(evm, record);
  };
  for (const record of beginning.slice(replayed)) await write(record);
  for (const record of await releaseRecords(world, evm, { chainId, aheadMs })) await write(record);
  return keepChain(world, { ...input, evm, journal, aheadMs });
}

/** Deploys the newest releases of our contracts on a chain of an older version, in a block of their own. */
async function releaseRecords(
  world: World,
  evm: LocalEvm,
  { chainId, aheadMs }: { readonly chainId: number; readonly aheadMs: number },
): Promise<ChainRecord[]> {
  const transactions = await missingReleases(evm, chainId);
  if (transactions.length === 0) return [];
  const { timestamp } = (await evm.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
    readonly timestamp: string;
  };
  const atMs = world.clock.nowMs();
  const timestampS = Math.max(Number(timestamp), Math.floor((atMs + aheadMs) / 1000));
  return [...transactions.map((transaction) => ({ atMs, transaction })), { atMs, block: { timestampS } }];
}

async function firstRecords(chainId: number, timestampS: number): Promise<ChainRecord[]> {
  const atMs = timestampS * 1000;
  const transactions = await sandboxFirstBlock(chainId);
  return [...transactions.map((transaction) => ({ atMs, transaction })), { atMs, block: { timestampS } }];
}

async function keepChain(
  world: World,
  input: KeptChainInput & {
    readonly evm: LocalEvm;
    readonly journal: ChainJournal | undefined;
    readonly aheadMs: number;
  },
): Promise<KeptChain> {
  const { evm, journal } = input;
  const inTurn = createQueue();
  let usedAtMs = world.clock.nowMs();
  let { aheadMs } = input;
  let cancelTick: (() => void) | undefined;
  let isClosed = false;

  async function block(tag: string) {
    const found = await evm.request({ method: 'eth_getBlockByNumber', params: [tag, false] });
    const { number, hash, timestamp, transactions } = found as Readonly<
      Record<'number' | 'hash' | 'timestamp', string>
    > & {
      readonly transactions: readonly unknown[];
    };
    return { number: Number(number), hash, timestampS: Number(timestamp), transactions };
  }

  /** Mines a block. Its record is on disk before it is mined, so a kill loses no block that a caller has seen. */
  async function mine(headTimestampS: number): Promise<void> {
    const atMs = world.clock.nowMs();
    const timestampS = Math.max(headTimestampS, Math.floor((atMs + aheadMs) / 1000));
    if (journal === undefined) return evm.mine();
    await write({ atMs, block: { timestampS } });
  }

  async function write(record: ChainRecord): Promise<void> {
    await journal?.append(record);
    await apply(evm, record);
  }

  /**
   * Schedules the next block. Blocks are mined at multiples of the block time, as on a public chain. So a transaction waits half
   * the block time on average.
   */
  function schedule(): void {
    if (cancelTick !== undefined || isClosed) return;
    const { blockMs } = input;
    const delayMs = blockMs === 0 ? 0 : blockMs - (world.clock.nowMs() % blockMs);
    cancelTick = world.timers.after(delayMs, () => {
      cancelTick = undefined;
      inTurn(tick).catch(input.onBroken);
    });
  }

  async function tick(): Promise<void> {
    if (isClosed) return;
    await mine((await block('latest')).timestampS);
    // Transactions that did not fit into this block go into the next one.
    if ((await block('latest')).transactions.length > 0) schedule();
  }

  return {
    genesisHash: (await block('0x0')).hash,
    pass(call) {
      if (USES.test(call.method)) usedAtMs = world.clock.nowMs();
      return evm.rpc(JSON.stringify(call));
    },
    async send(call) {
      usedAtMs = world.clock.nowMs();
      const { answer, kept } = await inTurn(async () => {
        const text = await evm.rpc(JSON.stringify(call));
        const wasTaken = 'result' in JSON.parse(text);
        const [transaction] = wasTaken ? (call.params as string[]) : [];
        const record = transaction === undefined ? undefined : { atMs: world.clock.nowMs(), transaction };
        // The order of the records in the journal is fixed here. The flush is awaited outside the queue, so that several
        // transactions share one flush.
        return { answer: text, kept: record && (journal?.append(record) ?? Promise.resolve()) };
      });
      if (kept === undefined) return answer;
      schedule();
      await kept.catch((error) => {
        input.onBroken(error);
        throw error;
      });
      return answer;
    },
    freshen: () =>
      inTurn(async () => {
        const nowMs = world.clock.nowMs();
        const { timestampS } = await block('latest');
        const allowedMs = Math.max(FRESH_MS, (nowMs - usedAtMs) / LATE_SHARE);
        if (nowMs + aheadMs - timestampS * 1000 >= allowedMs) await mine(timestampS).catch(input.onBroken);
      }),
    moveAhead: (ms) =>
      inTurn(async () => {
        if (ms <= aheadMs) return;
        await write({ atMs: world.clock.nowMs(), aheadMs: ms }).catch(input.onBroken);
        aheadMs = ms;
        await mine((await block('latest')).timestampS).catch(input.onBroken);
      }),
    replaceBlocks: ({ number, hash }) =>
      inTurn(async () => {
        const head = await block('latest');
        const depth = head.number - number + 1;
        if (number <= SANDBOX_FIRST_BLOCK || depth < 1 || depth > MAX_REPLACED) return false;
        const first = await block(`0x${number.toString(16)}`);
        if (first.hash !== hash) return false;
        // The first new block has all transactions and the time of the first old block, so that no transaction misses its deadline.
        // The time of the head does not change.
        const replaced = { depth, firstS: first.timestampS, restS: head.timestampS };
        await write({ atMs: world.clock.nowMs(), replaced }).catch(input.onBroken);
        return true;
      }),
    async close() {
      isClosed = true;
      cancelTick?.();
      await inTurn(async () => {});
      await journal?.close();
      await evm.close();
    },
  };
}

async function apply(evm: LocalEvm, record: ChainRecord): Promise<void> {
  if ('transaction' in record) await evm.request({ method: 'eth_sendRawTransaction', params: [record.transaction] });
  else if ('block' in record) await evm.request({ method: 'evm_mine', params: [record.block.timestampS] });
  else if ('replaced' in record) await evm.reorg(record.replaced.depth, 'kept', record.replaced);
}
