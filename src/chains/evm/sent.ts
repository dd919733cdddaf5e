import { checksumAddress } from '../../domain/caip.ts';
import type { SentTransaction } from '../chain.ts';
import { findTransaction } from './blocks.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readBlock, readData, readFields, readHash, readNumber, toQuantity } from './rpc-values.ts';

/** The sender, nonce and gas cost of a transaction. Undefined while it is not mined. */
export async function findSent(context: EvmContext, hash: string): Promise<SentTransaction | undefined> {
  const [state, origin] = await Promise.all([findTransaction(context, hash), context.rpc.call(originCall(hash))]);
  return state.is === 'mined' && origin !== null
    ? { ...origin, block: state.block, coinSpent: state.coinSpent }
    : undefined;
}

/** The same for the transactions of a block that these accounts sent. The whole block is read. */
export async function listSent(
  context: EvmContext,
  accounts: readonly string[],
  number: number,
): Promise<readonly SentTransaction[]> {
  const { hash: blockHash, origins } = await context.rpc.call(originsCall(accounts, number));
  const states = await Promise.all(origins.map(({ hash }) => findTransaction(context, hash)));
  return origins.flatMap((origin, index) => {
    const state = states[index];
    const isThere = state?.is === 'mined' && state.block.hash === blockHash;
    return isThere ? [{ ...origin, block: state.block, coinSpent: state.coinSpent }] : [];
  });
}

type Origin = Pick<SentTransaction, 'hash' | 'from' | 'nonce'>;

function originCall(hash: string): RpcCall<Origin | null> {
  return {
    method: 'eth_getTransactionByHash',
    params: [hash],
    read: (result) => {
      if (result === null) return null;
      const origin = readOrigin(readFields(result));
      if (origin.hash !== hash.toLowerCase()) throw new RangeError('another transaction');
      return origin;
    },
  };
}

function originsCall(
  accounts: readonly string[],
  number: number,
): RpcCall<{ readonly hash: string; readonly origins: readonly Origin[] }> {
  const asked = new Set(accounts.map((account) => account.toLowerCase()));
  return {
    method: 'eth_getBlockByNumber',
    params: [toQuantity(number), true],
    minBlock: number,
    read: (result) => {
      const { transactions } = readFields(result);
      const block = readBlock(result);
      if (block.number !== number || !Array.isArray(transactions)) throw new RangeError('another block');
      // Chains have transaction types of their own. Only transactions of our accounts must have a known form.
      const ours = transactions
        .map(readFields)
        .filter(({ from }) => typeof from === 'string' && asked.has(from.toLowerCase()));
      return { hash: block.hash, origins: ours.map(readOrigin) };
    },
  };
}

function readOrigin({ hash, from, nonce }: Record<string, unknown>): Origin {
  return { hash: readHash(hash), from: checksumAddress(readData(from)), nonce: readNumber(nonce) };
}
