import { OutGlyph } from './glyphs.tsx';
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
