import { useWords } from '../words.ts';
import { Notice } from './parts.tsx';
import { problemText } from './problem-text.ts';

interface ListStateProps {
  readonly error: Error | null;
  /** Undefined: the list is not loaded yet. */
  readonly count: number | undefined;
  /** True if a later page may have rows: a page without rows is not the end. */
  readonly hasMore?: boolean;
  /** The sentence for a list without rows. */
  readonly empty: string;
}

/** A list that is not there: it loads, it failed, or it has no rows. */
export function ListState({ error, count, hasMore = false, empty }: ListStateProps) {
  const words = useWords();
  if (error !== null) return <Notice kind="bad">{problemText(words, error)}</Notice>;
  if (count === undefined) return <p className="empty">{words.loading}</p>;
  return count === 0 && !hasMore ? <p className="empty">{empty}</p> : null;
}

interface MoreProps {
  readonly list: { readonly hasNextPage: boolean; readonly fetchNextPage: () => Promise<unknown> };
}

export function More({ list }: MoreProps) {
  const words = useWords();
  if (!list.hasNextPage) return null;
  return (
    <button type="button" className="quiet" onClick={() => void list.fetchNextPage()}>
      {words.more}
    </button>
  );
}
