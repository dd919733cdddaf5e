import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { fill } from '../../shared/text.ts';
import { useSession } from '../queries.ts';
import { useWords } from '../words.ts';
import { PAGES } from './pages.ts';

interface Choice {
  readonly text: string;
  readonly go: () => void;
}

/** The keyboard's way to every page, and to a payment by its reference. */
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
  const pages: Choice[] = PAGES.filter(({ right }) => rights.includes(right))
    .map(({ to, word }) => ({ text: words[word], go: () => void navigate({ to }) }))
    .filter((choice) => choice.text.toLocaleLowerCase().includes(wanted.toLocaleLowerCase()));
  const search: Choice = {
    text: fill(words.paletteSearch, { text: wanted }),
    go: () => void navigate({ to: '/payments', search: { search: wanted } }),
  };
  const choices = wanted.length >= 3 && rights.includes('payments:read') ? [...pages, search] : pages;
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
        maxLength={35}
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
          </div>
        ))}
      </div>
      {choices.length === 0 && <p className="soft palette-empty">{words.paletteEmpty}</p>}
    </dialog>
  );
}
