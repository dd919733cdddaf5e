import type { Amount } from '../../shared/money.ts';
import { decimalText, formatAmount, shortened } from '../../shared/money.ts';
import { useWords } from './words.ts';

/** An amount in the payer's language. Where it had to be shortened, the exact one is a hover away. */
export function Money({ amount, className }: { readonly amount: Amount; readonly className?: string }) {
  const { locale } = useWords();
  const { isExact } = shortened(amount);
  const exact = `${decimalText(amount.value, amount.display.decimals)} ${amount.display.assetSymbol}`;
  return (
    // The server's tables of formats may be newer than the browser's: either form is right, and both say the same.
    <bdi className={className ?? 'money'} title={isExact ? undefined : exact} suppressHydrationWarning>
      {formatAmount(amount, locale)}
    </bdi>
  );
}
