import type { SpanAbout, Tracing } from '../../runtime/tracing.ts';
import type { Session } from './session.ts';
import { type Statement, textOf } from './statement.ts';

const SYSTEM = { 'db.system.name': 'postgresql' } as const;
/** The first words of a statement name it well enough, and its values are parameters, which are not part of the text. */
const MAX_TEXT = 400;

/** A span around each statement of the connection. */
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

/** Text that may contain several statements is our own, and may have values in it. */
function shortText(statement: Statement<unknown>): string {
  if (!statement.isPreparable) return 'statements without parameters';
  return textOf(statement).text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}
