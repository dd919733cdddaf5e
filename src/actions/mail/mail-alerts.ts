import type { World } from '../../runtime/world.ts';
import { countMailsTo } from '../../store/mail/mails.ts';
import { countUnmailed, type RaisedAlert, takeUnmailedAlerts, takeUnmailedEnds } from '../../store/plumbing/alerts.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { queueMail } from './queue-mail.ts';

export interface AlertMails {
  readonly recipients: readonly string[];
  /** The URL of the gateway that raised the alerts. */
  readonly publicUrl: string;
}

/** The maximum number of mails about alerts to one address within an hour. Further alerts wait for the next hour, and none is lost. */
export const ALERT_MAILS_PER_HOUR = 20;
const KINDS = ['alert_raised', 'alert_cleared'] as const;
const HOUR_MS = 3_600_000;

/**
 * Queues a mail when an alert is raised, and another when it is cleared. An alert that is cleared before its first mail was queued
 * gets no mail.
 */
export async function mailAlerts(deps: CommandDeps, { recipients, publicUrl }: AlertMails): Promise<boolean> {
  const [first] = recipients;
  if (first === undefined) return false;
  await command(deps, async (tx, now) => {
    // The lock lets all nodes share the limit of the hour.
    await lockName(tx, 'mails about alerts');
    const since = new Date(now.getTime() - HOUR_MS);
    const room = ALERT_MAILS_PER_HOUR - (await countMailsTo(tx, { recipient: first, kinds: KINDS, since }));
    if (room <= 0) return;
    const ends = await takeUnmailedEnds(tx, room);
    const alerts = [...ends, ...(ends.length < room ? await takeUnmailedAlerts(tx, room - ends.length) : [])];
    const waiting = alerts.length === room ? await countUnmailed(tx) : 0;
    for (const alert of alerts) {
      for (const recipient of recipients) await queueAlert(tx, deps, { alert, recipient, publicUrl, waiting, now });
    }
  });
  return false;
}

interface AlertMail {
  readonly alert: RaisedAlert;
  readonly recipient: string;
  readonly publicUrl: string;
  readonly waiting: number;
  readonly now: Date;
}

function queueAlert(tx: Tx, deps: { readonly world: World }, mail: AlertMail): Promise<boolean> {
  const { recipient, publicUrl: site, waiting, now } = mail;
  const { name, subject: about, message, since, until } = mail.alert;
  const kind = until === null ? 'alert_raised' : 'alert_cleared';
  return queueMail(tx, deps, {
    recipient,
    language: 'en',
    subject: name,
    key: `${kind} ${name} ${about} ${since.toISOString()} ${recipient}`,
    content: { kind, name, about, message, site, at: (until ?? since).toISOString(), waiting },
    now,
  });
}
