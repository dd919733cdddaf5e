import { ChainUnavailableError } from '../chain-errors.ts';
import type { Block, BlockId, Receipt } from '../chain-reader.ts';
import type { FinalityTag } from '../network.ts';
import type { TransactionState } from '../sender.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readBlock, readBlockId, readFields, readHash, readQuantity, toQuantity } from './rpc-values.ts';

const FINDS_NOTHING = { found: undefined };

export function headCall(): RpcCall<Block> {
  return { method: 'eth_getBlockByNumber', params: ['latest', false], read: readBlock };
}

/** The block of this height. Undefined when the chain is shorter according to every endpoint. */
export async function findBlock({ rpc, network }: EvmContext, number: number): Promise<Block | undefined> {
  const known = rpc.head();
  // If any endpoint has reached this height, the chain is not shorter: an endpoint without the block only lags.
  const isSeen = known !== undefined && known >= number;
  const { found } = await rpc.call({ ...blockCall(number), ...(isSeen ? { minBlock: number } : {}) });
  if (found === undefined && (rpc.head() ?? 0) >= number) {
    throw new ChainUnavailableError(network.chainId, `no endpoint shows block ${number}, which is below the head`);
  }
  return found;
}

/** The state of a transaction. An endpoint may not have received the transaction yet, so the other endpoints are asked, too. */
export async function findTransaction({ rpc }: EvmContext, hash: string): Promise<TransactionState> {
  const [receipt, isKnown] = await Promise.all([rpc.call(receiptCall(hash)), rpc.call(isKnownCall(hash))]);
  if (receipt.found !== undefined) return receipt.found;
  if (isKnown) return { is: 'pending' };
  if (rpc.endpoints.length === 1) return { is: 'unknown' };
  const [receipts, known] = await Promise.all([rpc.callEach(receiptCall(hash)), rpc.callEach(isKnownCall(hash))]);
  const mined = receipts.find((answer) => answer?.found !== undefined)?.found;
  return mined ?? (known.includes(true) ? { is: 'pending' } : { is: 'unknown' });
}

export function blockCall(which: number | FinalityTag): RpcCall<{ readonly found: Block | undefined }> {
  return {
    method: 'eth_getBlockByNumber',
    params: [typeof which === 'number' ? toQuantity(which) : which, false],
    read: (result) => {
      if (result === null) return FINDS_NOTHING;
      const found = readBlock(result);
      if (typeof which === 'number' && found.number !== which) throw new RangeError('another block');
      return { found };
    },
  };
}

/**
 * Reads a block, and those of its transactions whose sender (`from`) or receiver (`to`) is one of these accounts. The form of all
 * other transactions is not checked, because some chains have transaction types of their own.
 */
export function ownTransactionsCall<T>(
  { accounts, number, side }: { accounts: readonly string[]; number: number; side: 'from' | 'to' },
  read: (transaction: Record<string, unknown>) => T,
): RpcCall<{ readonly block: BlockId; readonly found: readonly T[] }> {
  const asked = new Set(accounts.map((account) => account.toLowerCase()));
  return {
    method: 'eth_getBlockByNumber',
    params: [toQuantity(number), true],
    minBlock: number,
    read: (result) => {
      const { transactions } = readFields(result);
      const { hash, ...block } = readBlock(result);
      if (block.number !== number || !Array.isArray(transactions)) throw new RangeError('another block');
      const own = transactions.map(readFields).filter(({ [side]: account }) => {
        return typeof account === 'string' && asked.has(account.toLowerCase());
      });
      return { block: { number, hash }, found: own.map(read) };
    },
  };
}

/** The block, the success and the gas cost of a transaction. */
export function readReceipt(receipt: Record<string, unknown>): Omit<Receipt, 'events' | 'from'> {
  const workSpent = readQuantity(receipt.gasUsed);
  // Rollups also charge for the transaction's data on the parent chain. Receipts have this cost in a separate field.
  const dataFee = receipt.l1Fee == null ? 0n : readQuantity(receipt.l1Fee);
  const coinSpent = workSpent * readQuantity(receipt.effectiveGasPrice) + dataFee;
  return { block: readBlockId(receipt), isReverted: readQuantity(receipt.status) === 0n, workSpent, coinSpent };
}

function receiptCall(hash: string): RpcCall<{ readonly found: TransactionState | undefined }> {
  return {
    method: 'eth_getTransactionReceipt',
    params: [hash],
    read: (result) => {
      if (result === null) return FINDS_NOTHING;
      const receipt = readFields(result);
      if (readHash(receipt.transactionHash) !== hash.toLowerCase()) throw new RangeError('another transaction');
      return { found: { is: 'mined', ...readReceipt(receipt) } };
    },
  };
}

function isKnownCall(hash: string): RpcCall<boolean> {
  return {
    method: 'eth_getTransactionByHash',
    params: [hash],
    read: (result) => result !== null && readHash(readFields(result).hash) === hash.toLowerCase(),
  };
}
