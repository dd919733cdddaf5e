import { pruneAnswered } from '../../store/people/passkeys.ts';
import { pruneSessions } from '../../store/people/sessions.ts';
import { pruneLinks } from '../../store/people/sign-in-links.ts';
import { type CommandDeps, command } from '../command.ts';
import { onSteadyTime } from './steady-time.ts';

/** Rows are kept this long after their end. The clocks of nodes differ only by seconds, so by then a row has ended for every node. */
const RETENTION_MS = 24 * 3_600_000;
const AT_ONCE = 1_000;

/** Deletes ended sessions, links and challenges. Returns true if there are more. */
export function pruneSignIns(deps: CommandDeps): Promise<boolean> {
  return command(onSteadyTime(deps), async (tx, now) => {
    const old = { before: new Date(now.getTime() - RETENTION_MS), limit: AT_ONCE };
    const counts = [await pruneSessions(tx, old), await pruneLinks(tx, old), await pruneAnswered(tx, old)];
    return counts.includes(AT_ONCE);
  });
}
