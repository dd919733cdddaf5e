import type { MailKind } from '../../domain/mail.ts';
import type { Log } from '../../runtime/world.ts';
import { countGivenUp, endLateMails, pruneMails } from '../../store/mail/mails.ts';
import { createAlarms } from '../alarms.ts';
import { type CommandDeps, command } from '../command.ts';

const DAY_MS = 86_400_000;
const BATCH = 500;
const WATCHED = [
  'invitation',
  'sign_in_link',
  'alert_raised',
  'alert_cleared',
  'receipt',
] as const satisfies MailKind[];

/** Ends mails that were not sent in time, and deletes old mails. Returns true if there may be more of either. */
export async function maintainMails(deps: CommandDeps, { keptDays }: { readonly keptDays: number }): Promise<boolean> {
  const counts = await command(deps, async (tx, now) => {
    const before = new Date(now.getTime() - keptDays * DAY_MS);
    return [await endLateMails(tx, { now, limit: BATCH }), await pruneMails(tx, { before, limit: BATCH })];
  });
  return counts.includes(BATCH);
}

/** Raises an alert for each kind of mail that was given up within the last day. */
export function createMailCheck(deps: CommandDeps & { log: Log }): () => Promise<boolean> {
  const alarms = createAlarms(deps, 'mails_given_up');
  return async () => {
    const givenUp = await countGivenUp(deps.db.sql, new Date(deps.world.clock.nowMs() - DAY_MS));
    for (const kind of WATCHED) {
      const found = givenUp.find((each) => each.kind === kind);
      const message =
        found && `Mails of the kind ${kind} that were given up within a day: ${found.mails}. ${found.problem}`;
      await alarms.set(kind, message);
    }
    return false;
  };
}
