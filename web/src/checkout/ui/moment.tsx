import type { ReactNode } from 'react';

export type Tone = 'busy' | 'calm' | 'good' | 'bad';

interface MomentProps {
  readonly tone: Tone;
  /** What stands in the middle of the mark. */
  readonly mark: ReactNode;
  readonly title: ReactNode;
  readonly text?: ReactNode;
  readonly children?: ReactNode;
  /** There is no amount above it, so its title is the page's. */
  readonly isWholePage?: boolean;
}

/** One thing at a time, in the middle: a mark, what is happening, and what to do next. */
export function Moment({ tone, mark, title, text, children, isWholePage = false }: MomentProps) {
  return (
    <div className="moment">
      <div className={`mark mark-${tone}`}>{mark}</div>
      <StepTitle level={isWholePage ? 'h1' : 'h2'}>{title}</StepTitle>
      {text !== undefined && <p className="text">{text}</p>}
      {children}
    </div>
  );
}

/** Takes the focus when the step changes, so that keyboards and screen readers are where the page is. */
export function StepTitle({
  children,
  level: Level = 'h2',
}: {
  readonly children: ReactNode;
  readonly level?: 'h1' | 'h2';
}) {
  return (
    <Level className="title" id="step-title" tabIndex={-1}>
      {children}
    </Level>
  );
}
