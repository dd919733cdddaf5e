import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import { clamp, fill } from '../../shared/text.ts';
import type { ListedMerchant } from '../api-types.ts';
import { merchantSearchQuery, useMerchantNames } from '../queries.ts';
import { useWords } from '../words.ts';
import { problemText } from './problem-text.ts';

export interface MerchantBoxProps {
  /** The id of the control, for its label. */
  readonly id: string;
  /** The chosen merchant's id. Empty for the choice of all merchants. */
  readonly value: string;
  /** The text of the choice of all merchants. Undefined if one merchant must be chosen. */
  readonly all?: string;
  readonly onChange: (merchantId: string) => void;
}

type Match = Pick<ListedMerchant, 'id' | 'name'>;

/** A field that searches for a merchant by name or id, with the matches in a list below it. */
export function MerchantSearch({ id, value, all, onChange }: MerchantBoxProps) {
  const words = useWords();
  const listId = useId();
  const names = useMerchantNames(value === '' ? [] : [value]);
  // The match that was chosen last. Its name is known before it is read.
  const [last, setLast] = useState<Match>();
  const name = last?.id === value ? last.name : (names.get(value) ?? value);
  // The typed text. Undefined while the list is closed.
  const [text, setText] = useState<string>();
  const [at, setAt] = useState(0);
  const wanted = text?.trim() ?? '';
  const found = useQuery({ ...merchantSearchQuery(wanted), enabled: text !== undefined });
  const merchants = found.data?.merchants ?? [];
  const matches: readonly Match[] =
    all === undefined || wanted !== '' ? merchants : [{ id: '', name: all }, ...merchants];
  const choices = text === undefined ? [] : matches;
  const chosen = Math.min(at, choices.length - 1);
  const search = (typed: string | undefined) => {
    setText(typed);
    setAt(0);
  };
  const choose = (match: Match) => {
    search(undefined);
    setLast(match);
    onChange(match.id);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (text === undefined) search('');
      else if (choices.length > 0) setAt((chosen + step + choices.length) % choices.length);
    }
    if (text === undefined) return;
    // Escape would also close a dialog around the field.
    if (event.key === 'Escape') {
      event.preventDefault();
      search(undefined);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      const choice = choices[chosen];
      // The shown matches may be those of a shorter text.
      if (choice !== undefined && !found.isPlaceholderData) choose(choice);
    }
  };
  return (
    <div className="merchant-search">
      <input
        id={id}
        type="text"
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={choices.length > 0}
        aria-controls={choices.length > 0 ? listId : undefined}
        aria-activedescendant={choices.length > 0 ? `${listId}-${chosen}` : undefined}
        placeholder={words.merchantSearchHint}
        maxLength={256}
        value={text ?? clamp(value === '' ? (all ?? '') : name, 40)}
        onClick={() => text === undefined && search('')}
        onChange={(event) => search(event.target.value)}
        onKeyDown={onKey}
        onBlur={() => search(undefined)}
      />
      {text !== undefined && (
        // A press on the list must not take the focus from the field, because that would close the list.
        // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the field above
        <div className="merchant-matches" onMouseDown={(event) => event.preventDefault()}>
          {choices.length > 0 && (
            <div role="listbox" id={listId} aria-label={words.merchants}>
              {choices.map((choice, index) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the field above
                <div
                  key={choice.id}
                  id={`${listId}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === chosen}
                  ref={index === chosen ? showNearest : null}
                  onClick={() => choose(choice)}
                >
                  <bdi>{clamp(choice.name, 40)}</bdi>
                </div>
              ))}
            </div>
          )}
          <MatchesState found={found} shown={merchants.length} />
        </div>
      )}
    </div>
  );
}

function showNearest(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}

interface StateProps {
  readonly found: { readonly data: { readonly totalCount: number } | undefined; readonly error: Error | null };
  readonly shown: number;
}

/** The line below the matches: what is wrong, or how many more there are. */
function MatchesState({ found: { data, error }, shown }: StateProps) {
  const words = useWords();
  const stateOf = () => {
    if (error !== null) return problemText(words, error);
    if (data === undefined) return words.loading;
    if (data.totalCount === 0) return words.paletteEmpty;
    if (data.totalCount === shown) return '';
    return fill(words.merchantsShown, { shown: String(shown), count: String(data.totalCount) });
  };
  return (
    <p className="soft small" role="status">
      {stateOf()}
    </p>
  );
}
