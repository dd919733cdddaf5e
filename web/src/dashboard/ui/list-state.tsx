import { useWords } from '../words.ts';
import { Notice } from './parts.tsx';
import { problemText } from './problem-text.ts';

interface ListStateProps {
  readonly error: Error | null;
  /** The number of rows. Undefined until the list or object is loaded. */
  readonly count?: number | undefined;
  /** True if a later page may have rows: an empty page is not always the last. */
  readonly hasMore?: boolean;
  readonly empty?: string;
}

/** The text in place of a list or object that is loading, has failed or is empty. */
export function ListState({ error, count, hasMore = false, empty }: ListStateProps) {
  const words = useWords();
  if (error !== null) return <Notice kind="bad">{problemText(words, error)}</Notice>;
  if (count === undefined) return <p className="empty">{words.loading}</p>;
  return count === 0 && !hasMore && empty !== undefined ? <p className="empty">{empty}</p> : null;
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
