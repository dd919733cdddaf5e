import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { SentTransaction } from '../chain-reader.ts';
import { findTransaction, ownTransactionsCall } from './blocks.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readData, readFields, readHash, readNumber } from './rpc-values.ts';

/** A transaction with its sender and cost. Undefined while it is not mined. */
export async function findSent(context: EvmContext, hash: string): Promise<SentTransaction | undefined> {
  const [state, origin] = await Promise.all([findTransaction(context, hash), context.rpc.call(originCall(hash))]);
  return state.is === 'mined' && origin !== null
    ? { ...origin, block: state.block, coinSpent: state.coinSpent }
    : undefined;
}

/** The transactions of a block that these accounts sent. This reads the whole block. */
export async function listSent(
  context: EvmContext,
  accounts: readonly string[],
  number: number,
): Promise<readonly SentTransaction[]> {
  const call = ownTransactionsCall({ accounts, number, side: 'from' }, readOrigin);
  const { block, found } = await context.rpc.call(call);
  const states = await Promise.all(found.map(({ hash }) => findTransaction(context, hash)));
  return found.flatMap((origin, index) => {
    const state = states[index];
    const isThere = state?.is === 'mined' && state.block.hash === block.hash;
    return isThere ? [{ ...origin, block: state.block, coinSpent: state.coinSpent }] : [];
  });
}

type Origin = Pick<SentTransaction, 'hash' | 'from' | 'slot'>;

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

function readOrigin({ hash, from, nonce }: Record<string, unknown>): Origin {
  return { hash: readHash(hash), from: checksumAddress(readData(from)), slot: readNumber(nonce) };
}
