import { checksumAddress } from '../../domain/caip.ts';
import type { BlockId, Incoming } from '../chain.ts';
import { coinOf } from '../coin.ts';
import { findTransaction } from './blocks.ts';
import { NATIVE_TOKEN } from './collector.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { createLogReader, readPlace } from './logs.ts';
import { readBlock, readData, readFields, readHash, readQuantity, readWord, toQuantity } from './rpc-values.ts';
import { address, keccakText } from './words.ts';

const TRANSFER_TOPIC = `0x${keccakText('Transfer(address,address,uint256)').toString('hex')}`;

type IncomingReader = (accounts: readonly string[], from: number, to: number) => Promise<readonly Incoming[]>;

/** Reads what tokens tell of transfers. What the Collector pays out is told by its own events. */
export function createIncomingReader(context: EvmContext): IncomingReader {
  const byToken = new Map(
    context.assets.flatMap(({ token, known }) =>
      token === NATIVE_TOKEN ? [] : [[token as string, known.id] as const],
    ),
  );
  const collectors = new Set(context.collectors.map(({ address: collector }) => collector));
  const readLogs = createLogReader(context, readTransfer);

  return async (accounts, fromBlock, toBlock) => {
    if (accounts.length === 0 || byToken.size === 0) return [];
    const topics = [TRANSFER_TOPIC, null, accounts.map((account) => `0x${address(account)}`)];
    const transfers = await readLogs({ address: [...byToken.keys()], topics }, fromBlock, toBlock);
    return transfers.filter(({ from, amount }) => !collectors.has(from) && amount > 0n);
  };

  function readTransfer(log: Record<string, unknown>): Incoming {
    const asset = byToken.get(readData(log.address));
    if (asset === undefined) throw new RangeError('a log of somebody else');
    if (!Array.isArray(log.topics) || log.topics[0] !== TRANSFER_TOPIC) throw new RangeError('a log of another kind');
    const [, from, to] = log.topics;
    return { ...readPlace(log), asset, from: readAccount(from), to: readAccount(to), amount: readWord(log.data) };
  }
}

function readAccount(topic: unknown): string {
  return checksumAddress(`0x${readHash(topic).slice(-40)}`);
}

/** Coin that somebody sends by a plain transaction. What contracts do with coin inside of one leaves no trace to read. */
export async function findCoinTransfer(context: EvmContext, hash: string): Promise<Incoming | undefined> {
  const coin = context.assets.find(({ token }) => token === NATIVE_TOKEN);
  const [state, sent] = await Promise.all([findTransaction(context, hash), context.rpc.call(coinCall(hash))]);
  if (coin === undefined || state.is !== 'mined' || state.isReverted || sent === null) return undefined;
  return { block: state.block, logIndex: -1, asset: coin.known.id, ...sent };
}

/** The same for all transactions of a block. It is asked for whole, so this is for when something is known to be in it. */
export async function listCoinTransfers(
  context: EvmContext,
  accounts: readonly string[],
  number: number,
): Promise<readonly Incoming[]> {
  const asset = coinOf(context.network.chainId);
  const { block, sent } = await context.rpc.call(fullBlockCall(accounts, number));
  const states = await Promise.all(sent.map(({ transactionHash }) => findTransaction(context, transactionHash)));
  return sent.flatMap((transfer, index) => {
    const state = states[index];
    const isCarriedOut = state?.is === 'mined' && !state.isReverted && state.block.hash === block.hash;
    return isCarriedOut ? [{ block, logIndex: -1, asset, ...transfer }] : [];
  });
}

type SentCoin = Pick<Incoming, 'transactionHash' | 'from' | 'to' | 'amount'>;

function fullBlockCall(
  accounts: readonly string[],
  number: number,
): RpcCall<{ readonly block: BlockId; readonly sent: readonly SentCoin[] }> {
  const asked = new Set(accounts.map((account) => account.toLowerCase()));
  return {
    method: 'eth_getBlockByNumber',
    params: [toQuantity(number), true],
    minBlock: number,
    read: (result) => {
      const { transactions } = readFields(result);
      const block = readBlock(result);
      if (block.number !== number || !Array.isArray(transactions)) throw new RangeError('another block');
      // Chains have transactions of kinds of their own: only those to our accounts must be of a form we know.
      const ours = transactions
        .map(readFields)
        .filter(({ to }) => typeof to === 'string' && asked.has(to.toLowerCase()));
      const sent = ours.flatMap((transaction) => readSentCoin(transaction) ?? []);
      return { block: { number, hash: block.hash }, sent };
    },
  };
}

function coinCall(hash: string): RpcCall<SentCoin | null> {
  return {
    method: 'eth_getTransactionByHash',
    params: [hash],
    read: (result) => {
      if (result === null) return null;
      const transaction = readFields(result);
      if (readHash(transaction.hash) !== hash.toLowerCase()) throw new RangeError('another transaction');
      return readSentCoin(transaction) ?? null;
    },
  };
}

/** Undefined when the transaction brings nobody coin. */
function readSentCoin({ hash, from, to, value }: Record<string, unknown>): SentCoin | undefined {
  const amount = readQuantity(value);
  // One without a recipient makes a contract.
  if (to === null || to === undefined || amount === 0n) return undefined;
  const [sender, recipient] = [readData(from), readData(to)].map(checksumAddress) as [string, string];
  return { transactionHash: readHash(hash), from: sender, to: recipient, amount };
}
