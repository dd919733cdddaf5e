import { CheckGlyph, CopyGlyph } from '../../shared/glyphs.tsx';
import type { Actions } from './actions.ts';
import { useWords } from './words.ts';

/** The part of the page that can put texts on the payer's clipboard. */
export interface Copying {
  /** The text that was copied a moment ago. */
  readonly copied: string | null;
  readonly actions: Pick<Actions, 'copy'>;
}

interface CopyButtonProps extends Copying {
  readonly text: string;
  /** What is copied, for those who do not see where the button stands. */
  readonly label: string;
}

/** A small sign beside a text that is shown shortened. */
export function CopyButton({ text, label, copied, actions }: CopyButtonProps) {
  const { strings } = useWords();
  const isCopied = copied === text;
  const name = isCopied ? strings.copied : label;
  return (
    <button
      type="button"
      className={isCopied ? 'copy copy-done needs-script' : 'copy needs-script'}
      aria-label={name}
      title={name}
      onClick={() => actions.copy(text)}
    >
      {isCopied ? <CheckGlyph /> : <CopyGlyph />}
    </button>
  );
}
