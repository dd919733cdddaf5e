import type { Amount } from '../../shared/money.ts';
import { decimalText, formatAmount, shortened, withSymbol } from '../../shared/money.ts';
import { useWords } from './words.ts';

/** An amount in the payer's language. Where it had to be shortened, the exact one is a hover away. */
export function Money({ amount, className }: { readonly amount: Amount; readonly className?: string }) {
  const words = useWords();
  const { isExact } = shortened(amount);
  const { decimals, assetSymbol } = amount.display;
  const exact = isExact ? undefined : withSymbol(decimalText(amount.value, decimals), assetSymbol, words);
  return (
    // The server's tables of formats may be newer than the browser's: either form is right, and both say the same.
    <bdi className={className ?? 'money'} title={exact} suppressHydrationWarning>
      {formatAmount(amount, words)}
    </bdi>
  );
}
