import type { ReactNode } from 'react';
import { useWords } from '../words.ts';
import { Code, Dialog } from './parts.tsx';

interface SecretProps {
  readonly title: string;
  readonly text: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Shows a secret that cannot be shown again. */
export function SecretDialog({ title, text, secret, onClose, children }: SecretProps) {
  const words = useWords();
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Code text={secret} label={title} />
      <div className="dialog-actions">
        {children}
        <button type="button" className="main" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}
