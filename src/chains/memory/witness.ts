import { ChainUnavailableError } from '../chain-errors.ts';
import type { Block, BlockId, Incoming, Witness } from '../chain-reader.ts';
import type { FinalityTag } from '../network.ts';
import type { MinedBlock } from './blocks.ts';
import type { Core } from './core.ts';
import { misquote } from './faults.ts';
import { COIN, keys } from './ledger.ts';
import { addedAt, inOrder, type Testimony, type TestimonyLies } from './testimony.ts';
import type { Transaction } from './transactions.ts';

/** The distance of the safe and finalized blocks from the head, in blocks. */
const TAG_BLOCKS: Readonly<Record<FinalityTag, number>> = { safe: 8, finalized: 16 };

/** The endpoints of the chain in memory. Endpoints that two others contradicted come last. */
export function listWitnesses(core: Core): readonly Witness[] {
  return inOrder(core.testimonies).map((testimony) => createWitness(core, testimony));
}

function createWitness(core: Core, testimony: Testimony): Witness {
  const { network, blocks, faults, history } = core;

  function ask<T>(method: Parameters<typeof faults.ask>[0], run: () => T): Promise<T> {
    return faults.ask(method, () => {
      if (testimony.silentForMs === undefined) return run();
      throw new ChainUnavailableError(network.chainId, `${testimony.name} keeps silent`);
    });
  }

  const headNumber = () => Math.max(0, blocks.head().number - faults.lies.headLag + testimony.headAhead);
  const isOther = () => testimony.hasOtherBlocks || faults.lies.isDisagreeing;
  const reported = (block: Block): Block => {
    const { timestampS, ...header } = headerOf(block);
    const shown = { ...header, timestampS: timestampS + testimony.addsToTimesS };
    return isOther() ? misquote(shown) : shown;
  };
  const idOf = (block: MinedBlock): BlockId => ({ number: block.number, hash: reported(block).hash });

  /**
   * The block that the endpoint reports at a height. If the endpoint claims a longer chain, the blocks beyond the real head are
   * made up.
   */
  function blockAt(number: number): Block | undefined {
    if (number > headNumber()) return undefined;
    const real = blocks.at(number);
    if (real !== undefined) return reported(real);
    const last = blocks.head();
    const timestampS =
      last.timestampS + (number - last.number) * Math.ceil((network.finality?.blockTimeMs ?? 1_000) / 1_000);
    return misquote({ ...headerOf(last), number, timestampS });
  }

  function eventsIn(number: number) {
    const real = (blocks.at(number)?.events ?? []).filter(({ commitment }) => !testimony.hidden.includes(commitment));
    return [...real, ...testimony.invented.filter(({ block }) => block.number === number)];
  }

  return {
    name: testimony.name,
    silentForMs: () => testimony.silentForMs ?? 0,
    distrust: () => {
      testimony.isDistrusted = true;
    },
    head: () => ask('head', () => blockAt(headNumber()) as Block),
    block: (which) => ask('block', () => blockAt(typeof which === 'number' ? which : headNumber() - TAG_BLOCKS[which])),
    isUsed: (item, commitment, atBlock) =>
      ask('isUsed', () => {
        if (atBlock > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        const isUsed = history.fork(Math.min(atBlock, blocks.head().number)).get(keys.used(item, commitment)) !== 0n;
        return isUsed && !testimony.deniesUse;
      }),
    usedSlots: (account, atBlock) =>
      ask('usedSlots', () => {
        if ((atBlock ?? 0) > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        const state = atBlock === undefined ? history.state : history.fork(Math.min(atBlock, blocks.head().number));
        return Math.max(0, Number(state.get(keys.nonce(account))) + testimony.addsToNonces);
      }),
    holding: (account, asset, atBlock) =>
      ask('holding', () => {
        if (atBlock > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        const state = history.fork(Math.min(atBlock, blocks.head().number));
        const held = core.rules.isCoin(asset) ? COIN : asset;
        return state.get(keys.balance(held, account)) + addedAt(testimony, atBlock);
      }),
    receipt: (hash) =>
      ask('findTransaction', () => {
        const block = blocks.holding(hash);
        const invented = testimony.invented.filter(({ transactionHash }) => transactionHash === hash);
        if (block === undefined || block.number > headNumber()) {
          const [first] = invented;
          return first && { block: first.block, ...FORGED, events: invented };
        }
        const events = eventsIn(block.number).filter(({ transactionHash }) => transactionHash === hash);
        const id = idOf(block);
        const { isReverted, workSpent, coinSpent } = block.receipts.get(hash) ?? FORGED;
        const from = transactionIn(block, hash)?.from.toLowerCase() ?? FORGED.from;
        const moved = events.map((event) => ({ ...event, block: id }));
        return { block: id, isReverted, from, workSpent, coinSpent: coinSpent + testimony.addsToCosts, events: moved };
      }),
    transfers: (hash) =>
      ask('findTransaction', () => {
        const block = blocks.holding(hash);
        const isOfTransaction = ({ transactionHash }: { transactionHash: string }) => transactionHash === hash;
        const invented = testimony.hasHonestReceipts ? [] : testimony.inventedTransfers.filter(isOfTransaction);
        if (block === undefined) return invented;
        return [...block.transfers.filter(isOfTransaction), ...pulledBy(block, hash), ...invented];
      }),
    incoming: (accounts, fromBlock, toBlock) =>
      ask('incoming', () => {
        if (toBlock > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        return incomingOf(core, testimony, { accounts, fromBlock, toBlock });
      }),
    touching: (accounts, fromBlock, toBlock) =>
      ask('incoming', () => {
        if (toBlock > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        return incomingOf(core, testimony, { accounts, fromBlock, toBlock, hasDepartures: true });
      }),
    events: (fromBlock, toBlock) =>
      ask('events', () => {
        if (toBlock > headNumber()) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        const numbers = Array.from({ length: Math.max(0, toBlock - fromBlock + 1) }, (_, index) => fromBlock + index);
        return numbers.flatMap(eventsIn);
      }),
  };
}

/** The token transfers to these accounts that the endpoint reports. With `hasDepartures`, also the transfers from these accounts. */
export function incomingOf(
  { blocks }: Core,
  { inventedTransfers, listsNoTransfers }: TestimonyLies,
  { accounts, fromBlock, toBlock, hasDepartures = false }: IncomingAsk,
): Incoming[] {
  const reported: Incoming[] = [];
  if (listsNoTransfers) return reported;
  for (let number = Math.max(0, fromBlock); number <= toBlock; number += 1) {
    const invented = inventedTransfers.filter(({ block }) => block.number === number);
    const seen = [...(blocks.at(number)?.transfers ?? []), ...invented];
    const isAsked = ({ from, to }: Incoming) => accounts.has(to) || (hasDepartures && accounts.has(from));
    reported.push(...seen.filter((each) => each.logIndex >= 0 && each.amount > 0n && isAsked(each)));
  }
  return reported;
}

interface IncomingAsk {
  readonly accounts: Parameters<Witness['incoming']>[0];
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly hasDepartures?: boolean;
}

/** The receipt of a made-up transaction. */
const FORGED = { isReverted: false, from: `0x${'f0'.repeat(20)}`, workSpent: 0n, coinSpent: 0n };

function transactionIn({ entries }: MinedBlock, hash: string): Transaction | undefined {
  return entries
    .flatMap((entry) => ('transaction' in entry ? [entry.transaction] : []))
    .find((each) => each.hash === hash);
}

/** The transfers of a batch from the payers to the Collector. Forged events have no transfers. */
function pulledBy(block: MinedBlock, hash: string): Incoming[] {
  if (transactionIn(block, hash)?.payload.kind !== 'batch') return [];
  return block.events.flatMap((event) => {
    if (event.type !== 'paid' || event.transactionHash !== hash) return [];
    const { transactionHash, logIndex, asset, payer: from, collector: to, amount } = event;
    return [{ block: { number: block.number, hash: block.hash }, transactionHash, logIndex, asset, from, to, amount }];
  });
}

const headerOf = ({ number, hash, parentHash, timestampS }: Block): Block => ({ number, hash, parentHash, timestampS });
