import { decimalText } from '../../../../src/domain/money.ts';
import type { Amount } from '../../shared/money.ts';
import { formatAmount, shortened, withSymbol } from '../../shared/money.ts';
import { useWords } from './words.ts';

/** An amount in the payer's language. If it is shortened, the tooltip has the exact amount. */
export function Money({ amount, className }: { readonly amount: Amount; readonly className?: string }) {
  const words = useWords();
  const { isExact } = shortened(amount);
  const { decimals, assetSymbol } = amount.display;
  const exact = isExact ? undefined : withSymbol(decimalText(amount.value, decimals), assetSymbol, words);
  return (
    // The locale data of server and browser may be of different versions. Both formats are right, so the mismatch is ignored.
    <bdi className={className ?? 'money'} title={exact} suppressHydrationWarning>
      {formatAmount(amount, words)}
    </bdi>
  );
}
