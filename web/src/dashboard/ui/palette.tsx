import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { fill } from '../../shared/text.ts';
import { useSession } from '../queries.ts';
import { useWords } from '../words.ts';
import { usePagesSeen } from './pages.ts';
import { TABS } from './tabs.tsx';

interface Choice {
  readonly text: string;
  /** The page opens when this letter is pressed after G. */
  readonly key?: string;
  readonly go: () => void;
}

/** A dialog that opens any page, or searches for a payment, by keyboard. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const words = useWords();
  const { rights } = useSession();
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);

  const wanted = text.trim();
  const shown = usePagesSeen();
  const pages: Choice[] = shown.map(({ to, word, key }) => ({
    text: words[word],
    key,
    go: () => void navigate({ to }),
  }));
  // The first tab of a section is the section's own page, which is already listed.
  const tabs: Choice[] = [...TABS.developers, ...TABS.team]
    .filter(({ to, right }) => rights.includes(right) && !shown.some((page) => page.to === to))
    .map(({ to, word }) => ({ text: words[word], go: () => void navigate({ to }) }));
  const matches = [...pages, ...tabs].filter((choice) =>
    choice.text.toLocaleLowerCase().includes(wanted.toLocaleLowerCase()),
  );
  const search: Choice = {
    text: fill(words.paletteSearch, { text: wanted }),
    go: () => void navigate({ to: '/payments', search: { search: wanted } }),
  };
  const choices = wanted.length >= 3 && rights.includes('payments:read') ? [...matches, search] : matches;
  const chosen = Math.min(at, choices.length - 1);
  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    choice.go();
  };
  const onKey = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length > 0) {
      event.preventDefault();
      setAt((chosen + step + choices.length) % choices.length);
    }
    if (event.key === 'Enter') go(choices[chosen]);
  };
  return (
    <dialog ref={dialog} className="palette" aria-label={words.palette} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={choices.length === 0 ? undefined : `${listId}-${chosen}`}
        aria-label={words.palette}
        placeholder={words.paletteHint}
        value={text}
        maxLength={512}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id={listId} aria-label={words.palette}>
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the field above
          <div
            key={choice.text}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(choice)}
          >
            <bdi>{choice.text}</bdi>
            {choice.key !== undefined && <kbd dir="ltr">G {choice.key.toUpperCase()}</kbd>}
          </div>
        ))}
      </div>
      {choices.length === 0 && <p className="soft palette-empty">{words.paletteEmpty}</p>}
    </dialog>
  );
}
