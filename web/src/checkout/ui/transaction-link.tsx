import { OutGlyph } from '../../shared/glyphs.tsx';
import { shortAccount } from '../../shared/text.ts';
import type { TransactionView } from '../page-state.ts';
import { useWords } from './words.ts';

export function TransactionLink({ href }: { readonly href: string | null }) {
  const { strings } = useWords();
  if (href === null) return null;
  return (
    <a className="out" href={href} target="_blank" rel="noreferrer">
      {strings.viewTransaction}
      <span className="unseen"> ({strings.opensNewTab})</span>
      <OutGlyph />
    </a>
  );
}

/** A transaction on its way: to be looked at where that is possible, else by its id. */
export function TransactionOnItsWay({ transaction }: { readonly transaction: TransactionView }) {
  const { strings } = useWords();
  if (transaction.explorerUrl !== null) return <TransactionLink href={transaction.explorerUrl} />;
  return (
    <p className="small">
      {strings.transaction} <span dir="ltr">{shortAccount(transaction.txId)}</span>
    </p>
  );
}
