import { Fill } from '../../shared/fill.tsx';
import { FlaskGlyph } from '../../shared/glyphs.tsx';
import { useWords } from './words.ts';

export function SandboxBar() {
  const { strings } = useWords();
  return (
    <p className="sandbox">
      <FlaskGlyph />
      <span>
        <strong>{strings.sandboxTag}</strong> <span className="sandbox-note">{strings.sandboxNote}</span>
      </span>
    </p>
  );
}

/** The footer. It is equal in every step, so it never moves. */
export function Footer() {
  const { strings } = useWords();
  return (
    <footer className="foot">
      <Fill text={strings.poweredBy} name={<strong>Till</strong>} />
    </footer>
  );
}
