import { ACCOUNTS } from '../../../domain/books.ts';
import { ApiError } from '../../../errors.ts';
import { lockBalance } from '../../../store/money/books.ts';
import type { NewUnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

/**
 * Refuses to return unexpected native coin, or to add it to a float, if the account holds less coin than that. Such coin is mixed with
 * the account's gas money, so it may have been spent on gas. Money of merchants or payers must not replace it.
 */
export async function refuseSpentCoin(
  tx: Tx,
  { account, asset, amount }: Pick<NewUnexpectedMoney, 'account' | 'asset' | 'amount'>,
): Promise<void> {
  const left = await lockBalance(tx, ACCOUNTS.relayer(account), asset);
  if (left >= BigInt(amount)) return;
  const message = `It was used for transactions: ${left > 0n ? left : 0n} of the coin of ${account} is left.`;
  throw new ApiError('invalid_state', message);
}
