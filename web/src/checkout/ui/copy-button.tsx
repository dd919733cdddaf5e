import { CheckGlyph, CopyGlyph } from '../../shared/glyphs.tsx';
import type { Actions } from './actions.ts';
import { useWords } from './words.ts';

export interface Copying {
  /** The text that was copied in the last two seconds. */
  readonly copied: string | null;
  readonly actions: Pick<Actions, 'copy'>;
}

interface CopyButtonProps extends Copying {
  readonly text: string;
  /** The accessible name of the button. */
  readonly label: string;
}

/** A button that copies the full text of a value which the page shows shortened. */
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
