import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { ChainReader, Incoming } from '../chain-reader.ts';
import { findTransaction, ownTransactionsCall } from './blocks.ts';
import { NATIVE_TOKEN } from './collector.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { createLogReader, readAll, readPlace } from './logs.ts';
import type { Rpc } from './rpc.ts';
import { readData, readFields, readHash, readQuantity, readWord } from './rpc-values.ts';
import { address, keccakText } from './words.ts';

const TRANSFER_TOPIC = `0x${keccakText('Transfer(address,address,uint256)').toString('hex')}`;

/** The most accounts in a filter, because endpoints limit them. With more accounts, all transfers are read and filtered here. */
const MAX_NAMED = 500;

/**
 * The readers `incoming` (transfers of known tokens to accounts) and `touching` (to or from accounts). They ask the endpoints
 * behind `call`.
 */
export function createTransferReaders(
  context: EvmContext,
  call: Rpc['call'],
): { readonly incoming: ChainReader['incoming']; readonly touching: ChainReader['touching'] } {
  const byToken = tokensOf(context);
  const readLogs = createLogReader({ ...context, call }, transferDecoder(byToken));
  const read = async (
    sides: readonly ('from' | 'to')[],
    ...[accounts, fromBlock, toBlock, onUnreadable]: Parameters<ChainReader['incoming']>
  ): Promise<readonly Incoming[]> => {
    if (accounts.size === 0 || byToken.size === 0) return [];
    const named =
      accounts.size <= MAX_NAMED ? [...accounts.keys()].map((account) => `0x${address(account)}`) : undefined;
    const filters = named === undefined ? [[]] : sides.map((side) => (side === 'from' ? [named] : [null, named]));
    const found = await Promise.all(
      filters.map((ends) => {
        const filter = { address: [...byToken.keys()], topics: [TRANSFER_TOPIC, ...ends] };
        return readLogs(filter, fromBlock, toBlock, onUnreadable);
      }),
    );
    const transfers = found
      .flat()
      .filter((transfer) => transfer.amount > 0n && sides.some((side) => accounts.has(transfer[side])));
    return found.length === 1 ? transfers : inOrderOnce(transfers);
  };
  return {
    incoming: (...ask) => read(['to'], ...ask),
    // A log filter cannot match `from` or `to`, so each of the two is a separate request.
    touching: (...ask) => read(['to', 'from'], ...ask),
  };
}

/**
 * The transfers in order, without repetitions. A transfer between two of the accounts was found twice: by its sender and by its
 * receiver.
 */
function inOrderOnce(transfers: readonly Incoming[]): Incoming[] {
  const byPlace = new Map(transfers.map((each) => [`${each.block.hash} ${each.logIndex}`, each]));
  return [...byPlace.values()].sort((a, b) => a.block.number - b.block.number || a.logIndex - b.logIndex);
}

/** Reads the transfers of known tokens among the logs of a receipt. */
export function createTransferReader(
  context: EvmContext,
): (logs: readonly Record<string, unknown>[]) => readonly Incoming[] {
  const byToken = tokensOf(context);
  const decode = transferDecoder(byToken);
  const isTransfer = ({ address: token, topics }: Record<string, unknown>) =>
    byToken.has(String(token).toLowerCase()) && Array.isArray(topics) && topics[0] === TRANSFER_TOPIC;
  return (logs) => readAll(logs.filter(isTransfer), decode).logs.filter(({ amount }) => amount > 0n);
}

/** The CAIP-19 ids of the known tokens, by the address of their contract. */
function tokensOf({ assets }: EvmContext): ReadonlyMap<string, string> {
  const tokens = assets.filter(({ token }) => token !== NATIVE_TOKEN);
  return new Map(tokens.map(({ token, known }) => [token as string, known.id]));
}

function transferDecoder(byToken: ReadonlyMap<string, string>): (log: Record<string, unknown>) => Incoming {
  return (log) => {
    const asset = byToken.get(readData(log.address));
    if (asset === undefined) throw new RangeError('a log of another contract');
    if (!Array.isArray(log.topics) || log.topics[0] !== TRANSFER_TOPIC) throw new RangeError('a log of another kind');
    const [, from, to] = log.topics;
    return { ...readPlace(log), asset, from: readAccount(from), to: readAccount(to), amount: readWord(log.data) };
  };
}

function readAccount(topic: unknown): string {
  return checksumAddress(`0x${readHash(topic).slice(-40)}`);
}

/** The coin transfer of a plain transaction. Coin transfers by contracts inside a transaction leave no log and are not found. */
export async function findCoinTransfer(context: EvmContext, hash: string): Promise<Incoming | undefined> {
  const coin = context.assets.find(({ token }) => token === NATIVE_TOKEN);
  const [state, sent] = await Promise.all([findTransaction(context, hash), context.rpc.call(coinCall(hash))]);
  if (coin === undefined || state.is !== 'mined' || state.isReverted || sent === null) return undefined;
  return { block: state.block, logIndex: -1, asset: coin.known.id, ...sent };
}

/** Transfers of coin to these accounts in one block. The whole block is read, so use it only where a balance is known to have risen. */
export async function listCoinTransfers(
  context: EvmContext,
  accounts: readonly string[],
  number: number,
): Promise<readonly Incoming[]> {
  const asset = context.network.coin.id;
  const call = ownTransactionsCall({ accounts, number, side: 'to' }, readSentCoin);
  const { block, found } = await context.rpc.call(call);
  const sent = found.flatMap((transfer) => transfer ?? []);
  const states = await Promise.all(sent.map(({ transactionHash }) => findTransaction(context, transactionHash)));
  return sent.flatMap((transfer, index) => {
    const state = states[index];
    const isCarriedOut = state?.is === 'mined' && !state.isReverted && state.block.hash === block.hash;
    return isCarriedOut ? [{ block, logIndex: -1, asset, ...transfer }] : [];
  });
}

type SentCoin = Pick<Incoming, 'transactionHash' | 'from' | 'to' | 'amount'>;

/** The coin transfer of a transaction, mined or pending. Null when the transaction is unknown or transfers no coin. */
export function coinCall(hash: string): RpcCall<SentCoin | null> {
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

function readSentCoin({ hash, from, to, value }: Record<string, unknown>): SentCoin | undefined {
  const amount = readQuantity(value);
  // A transaction without a recipient creates a contract, so it is no transfer.
  if (to === null || to === undefined || amount === 0n) return undefined;
  const [sender, recipient] = [readData(from), readData(to)].map(checksumAddress) as [string, string];
  return { transactionHash: readHash(hash), from: sender, to: recipient, amount };
}
