import type { Item } from '../../domain/item.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import { findTransaction } from './blocks.ts';
import type { EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readData, readFields, readHash, readQuantity } from './rpc-values.ts';
import { coinTransaction } from './wallet-actions.ts';

/**
 * True if an endpoint shows the transaction as the payment of the item. Every endpoint is asked, because wallets use providers of
 * their own, and the transaction reaches our endpoints at different times. The receipt is read once an endpoint shows the
 * transaction.
 */
export async function isPaymentShown(context: EvmContext, item: Item, hash: string): Promise<boolean> {
  const answers = await context.rpc.callEach(isPaymentCall(item, hash.toLowerCase()));
  if (answers.every((answer) => answer === undefined)) {
    throw new ChainUnavailableError(context.network.chainId, 'no endpoint can be asked for a transaction');
  }
  if (!answers.includes(true)) return false;
  const state = await findTransaction(context, hash);
  return state.is !== 'mined' || !state.isReverted;
}

function isPaymentCall(item: Item, hash: string): RpcCall<boolean> {
  const expected = coinTransaction(item);
  return {
    method: 'eth_getTransactionByHash',
    params: [hash],
    read: (result) => {
      if (result === null) return false;
      const { from, to, value, input, data = input, ...rest } = readFields(result);
      if (readHash(rest.hash) !== hash) throw new RangeError('another transaction');
      // A transaction without a recipient creates a contract, so it is no payment.
      if (to === null || to === undefined) return false;
      return (
        readData(from) === expected.from &&
        readData(to) === expected.to &&
        readQuantity(value) === item.amount &&
        readData(data) === expected.data
      );
    },
  };
}
