import type { ReactNode } from 'react';
import type { Strings } from '../strings/en.ts';
import { useWords } from '../words.ts';
import { ListState, More } from './list-state.tsx';
import type { usePages } from './pages-list.ts';
import { PageHead, useTitle } from './parts.tsx';

interface StatusListProps<Status extends string> {
  readonly title: string;
  readonly text?: string;
  readonly empty: string;
  readonly status: string | undefined;
  /** The statuses to choose from. `statusWords` has the word and the badge of each. */
  readonly statuses: readonly Status[];
  readonly statusWords: Readonly<Record<Status, readonly [keyof Strings, string]>>;
  readonly onStatus: (search: { readonly status?: string }) => void;
  readonly list: Pick<ReturnType<typeof usePages>, 'error' | 'hasNextPage' | 'fetchNextPage'>;
  /** The rows of all loaded pages. Undefined until the first page is loaded. */
  readonly rows: readonly ReactNode[] | undefined;
}

/**
 * A page with a list whose rows have a status, and a choice of the status to show. Each page that uses it passes its own texts,
 * statuses and rows.
 */
export function StatusList<Status extends string>(props: StatusListProps<Status>) {
  const { title, text, empty, status = '', statuses, statusWords, onStatus, list, rows } = props;
  const words = useWords();
  useTitle(title);
  return (
    <>
      <PageHead title={title}>
        <select
          aria-label={words.status}
          value={status}
          onChange={({ target: { value } }) => onStatus(value === '' ? {} : { status: value })}
        >
          <option value="">{words.anyStatus}</option>
          {statuses.map((each) => (
            <option key={each} value={each}>
              {words[statusWords[each][0]]}
            </option>
          ))}
        </select>
      </PageHead>
      {text !== undefined && <p className="soft lead">{text}</p>}
      <ListState error={list.error} count={rows?.length} empty={empty} />
      <ul className="plain-list" aria-label={title}>
        {rows}
      </ul>
      <More list={list} />
    </>
  );
}
