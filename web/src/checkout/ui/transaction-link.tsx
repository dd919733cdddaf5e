import { OutGlyph } from '../../shared/glyphs.tsx';
import { shortAccount } from '../../shared/text.ts';
import type { TransactionView } from '../page-state.ts';
import { CopyButton, type Copying } from './copy-button.tsx';
import { useWords } from './words.ts';

export function TransactionLink({ href, text }: { readonly href: string | null; readonly text?: string }) {
  const { strings } = useWords();
  if (href === null) return null;
  return (
    <a className="out" href={href} target="_blank" rel="noreferrer">
      {text ?? strings.viewTransaction}
      <span className="unseen"> ({strings.opensNewTab})</span>
      <OutGlyph />
    </a>
  );
}

export function TransactionId({ txId, ...copying }: { readonly txId: string } & Copying) {
  const { strings } = useWords();
  return (
    <span className="txid">
      <span dir="ltr" title={txId}>
        {shortAccount(txId)}
      </span>
      <CopyButton text={txId} label={strings.copyTransaction} {...copying} />
    </span>
  );
}

export function TransactionOnItsWay({ transaction, ...copying }: { readonly transaction: TransactionView } & Copying) {
  const { strings } = useWords();
  return (
    <div className="on-its-way">
      <p className="small">
        {strings.transaction} <TransactionId txId={transaction.txId} {...copying} />
      </p>
      <TransactionLink href={transaction.explorerUrl} />
    </div>
  );
}
