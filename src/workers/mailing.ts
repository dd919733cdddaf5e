import { type AlertMails, mailAlerts } from '../actions/mail/mail-alerts.ts';
import { createMailCheck, maintainMails } from '../actions/mail/maintain-mails.ts';
import { sendDueMails } from '../actions/mail/send-mails.ts';
import type { Mailer } from '../mail/smtp.ts';
import { withJitter } from '../runtime/backoff.ts';
import type { Secrets } from '../runtime/secrets.ts';
import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import type { Job, WorkerDeps } from './loop.ts';

const POLL_MS = 2_000;
/** A stop closes the SMTP connections and waits this long for their results. */
const STOP_WAIT_MS = 2_000;

/**
 * Sends mails from this node. The returned function stops this work and closes connections; unfinished mails are sent again by any
 * node.
 */
export function startMailing(deps: WorkerDeps & { readonly secrets: Secrets; readonly mailer: Mailer }) {
  const stop = new AbortController();
  const steady = { ...deps, world: unshiftedWorld(deps.world) };
  const loop = sendForever(steady, stop.signal);
  return async () => {
    stop.abort();
    await Promise.race([loop, deps.world.timers.sleep(STOP_WAIT_MS)]);
  };
}

async function sendForever(deps: Parameters<typeof startMailing>[0], stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      while (!stop.aborted && (await sendDueMails(deps, stop)));
    } catch (error) {
      deps.log.warn({ err: error }, 'due mails could not be claimed, or a result could not be stored');
    }
    await deps.world.timers.sleep(withJitter(deps.world, POLL_MS), stop);
  }
}

/** Jobs for mails. They also run without a mail server, so that mails that cannot be sent end as failed. */
export function mailJobs(
  deps: WorkerDeps,
  { keptDays, alerts }: { readonly keptDays: number; readonly alerts: AlertMails },
): readonly Job[] {
  const steady = { ...deps, world: unshiftedWorld(deps.world) };
  return [
    { name: 'mail-alerts', everyMs: 5_000, run: () => mailAlerts(steady, alerts) },
    { name: 'tend-mails', everyMs: 60_000, run: () => maintainMails(steady, { keptDays }) },
    { name: 'check-mails', everyMs: 60_000, run: createMailCheck(steady) },
  ];
}
