import { appendAudit } from '../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from './command.ts';

export interface RecordedCommand {
  readonly actor: string;
  /** The action of the audit entries, for example `books.rebuild`. They append `.begun` and `.done` to it. */
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Records an operator's command that takes several database transactions: one audit entry before it begins, and one with its result. A
 * `.begun` entry without its `.done` belongs to a command that failed or was interrupted.
 */
export async function recordCommand<T extends object>(
  deps: CommandDeps,
  recorded: RecordedCommand,
  work: () => Promise<T>,
): Promise<T> {
  await record(deps, recorded, 'begun', recorded.detail);
  const result = await work();
  await record(deps, recorded, 'done', { ...recorded.detail, result });
  return result;
}

function record(
  deps: CommandDeps,
  { actor, action, subject }: RecordedCommand,
  step: 'begun' | 'done',
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  return command(deps, (tx, at) => appendAudit(tx, { at, actor, action: `${action}.${step}`, subject, detail }));
}
