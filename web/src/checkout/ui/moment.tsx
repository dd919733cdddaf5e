import type { ReactNode } from 'react';

export type Tone = 'busy' | 'calm' | 'good' | 'bad';

interface MomentProps {
  readonly tone: Tone;
  readonly mark: ReactNode;
  readonly title: ReactNode;
  readonly text?: ReactNode;
  readonly children?: ReactNode;
  /** True if the page shows nothing but this step. Then the title of the step is the heading of the page. */
  readonly isWholePage?: boolean;
}

/** A centred step with an icon (`mark`), a title, a text and the next action. */
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

/** The title of a step. It gets the focus when the step changes, so that keyboards and screen readers follow the page. */
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
