import { Children, type ReactNode } from 'react';
import { fill } from '../../shared/text.ts';
import { useWords } from './words.ts';

interface FoldProps {
  readonly className: string;
  /**
   * The number of items shown at first. If there is exactly one more item, it is shown, too, because the button "show more" would
   * take as much room.
   */
  readonly shown: number;
  readonly children: ReactNode;
}

/** A list that shows its first items and can be unfolded, also without a script. */
export function Fold({ className, shown, children }: FoldProps) {
  const { strings } = useWords();
  const items = Children.toArray(children);
  if (items.length <= shown + 1) return <ul className={className}>{items}</ul>;
  const rest = items.slice(shown);
  return (
    <div className="fold">
      <ul className={className}>{items.slice(0, shown)}</ul>
      <details>
        <summary className="quiet">
          <span className="fold-more">{fill(strings.showMore, { count: String(rest.length) })}</span>
          <span className="fold-less">{strings.showLess}</span>
        </summary>
        <ul className={className}>{rest}</ul>
      </details>
    </div>
  );
}
