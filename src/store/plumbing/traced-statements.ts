import type { SpanAbout, Tracing } from '../../runtime/tracing.ts';
import type { Session } from './session.ts';
import { type Statement, textOf } from './statement.ts';

const SYSTEM = { 'db.system.name': 'postgresql' } as const;
/**
 * The longest text of a span. The first words of a statement are enough to recognize it. Its values are parameters, and not part of the
 * text.
 */
const MAX_TEXT = 400;

/** Records a span for each statement of the session. */
export function traceStatements(tracing: Tracing, session: Session): void {
  const { run } = session;
  const tracedRun: Session['run'] = (statement) =>
    tracing.span('statement', ABOUT_STATEMENT, (span) => {
      const text = shortText(statement);
      span.set('db.query.text', text);
      span.set('db.operation.name', /^\w+/.exec(text)?.[0].toLowerCase() ?? 'unknown');
      return run(statement);
    });
  Object.assign(session, { run: tracedRun });
}

const ABOUT_STATEMENT: SpanAbout = { kind: 'client', place: 'child', attributes: SYSTEM };
export const ABOUT_TRANSACTION: SpanAbout = { kind: 'internal', place: 'child', attributes: SYSTEM };

/** The text of a statement for its span. A text that may contain several statements is left out, because it may contain values. */
function shortText(statement: Statement<unknown>): string {
  if (!statement.isPreparable) return 'statements without parameters';
  return textOf(statement).text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}
