import { MAIL_WAITS_MS } from '../../domain/mail.ts';
import { nextTryMs } from '../../domain/retry.ts';
import { letterOf } from '../../mail/letter.ts';
import { ATTEMPT_MS, type Mailer, type MailOutcome } from '../../mail/smtp.ts';
import { jitterOf } from '../../runtime/backoff.ts';
import { type Secrets, WrongSecretError } from '../../runtime/secrets.ts';
import type { Log } from '../../runtime/world.ts';
import { type ClaimedMail, claimMails, type MailResult, storeMailResult } from '../../store/mail/mails.ts';
import { type CommandDeps, commandOfOne } from '../command.ts';
import { storeWhileClaimed } from '../store-while-claimed.ts';
import { purposeOf } from './queue-mail.ts';

export interface SendDeps extends CommandDeps {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly mailer: Mailer;
}

/** The maximum number of mails that this node sends at the same time. */
const AT_ONCE = 4;
/** The duration of a claim. It is longer than an attempt including the storage of its result. */
const CLAIM_MS = ATTEMPT_MS + 20_000;

/** Claims due mails and attempts to send each of them once. Returns true if more mails may be due. */
export async function sendDueMails(deps: SendDeps, signal: AbortSignal): Promise<boolean> {
  const untilMs = deps.world.clock.nowMs() + CLAIM_MS;
  const claimed = await commandOfOne(deps, (now) => claimMails({ limit: AT_ONCE, now, until: new Date(untilMs) }));
  await Promise.all(claimed.map((mail) => sendOne(deps, mail, { signal, untilMs })));
  return claimed.length === AT_ONCE;
}

async function sendOne(
  deps: SendDeps,
  mail: ClaimedMail,
  { signal, untilMs }: { readonly signal: AbortSignal; readonly untilMs: number },
): Promise<void> {
  const outcome = await attempt(deps, mail, signal);
  if (outcome.is !== 'sent') {
    const { id, tries } = mail;
    deps.log.warn({ mail: id, tries: tries + 1, problem: outcome.problem }, 'a mail was not sent');
  } else deps.world.crashPoint?.('mail.sent');
  const result = resultOf(deps, mail, outcome);
  await storeWhileClaimed(deps.world, untilMs, () => commandOfOne(deps, (now) => storeMailResult(result, now)));
}

/** Attempts one mail. An error of the gateway is an outcome, too, because one bad row must not stop the other mails. */
async function attempt(deps: SendDeps, mail: ClaimedMail, signal: AbortSignal): Promise<MailOutcome> {
  const { id, recipient, content, language, wrappedLink } = mail;
  try {
    const link = wrappedLink === null ? undefined : deps.secrets.unwrap(purposeOf(mail), wrappedLink);
    const letter = letterOf({ content, language, link: link && Buffer.from(link).toString() });
    return await deps.mailer.send({ ...letter, id, recipient, at: new Date(deps.world.clock.nowMs()) }, signal);
  } catch (error) {
    const problem = error instanceof WrongSecretError ? 'Its link cannot be opened.' : 'It cannot be written.';
    deps.log.error({ mail: id, err: error }, 'a mail cannot be written');
    return { is: 'failed', problem };
  }
}

function resultOf(deps: SendDeps, { id, claim, tries, until }: ClaimedMail, outcome: MailOutcome): MailResult {
  const result = { id, claim, isRefused: outcome.is === 'refused', dueAt: null };
  if (outcome.is === 'sent') return { ...result, status: 'sent', problem: null };
  const { problem } = outcome;
  if (outcome.is === 'refused') return { ...result, status: 'failed', problem };
  const dueMs = nextTryMs({
    waitsMs: MAIL_WAITS_MS,
    tries: tries + 1,
    nowMs: deps.world.clock.nowMs(),
    untilMs: until.getTime(),
    jitter: jitterOf(deps.world),
  });
  if (dueMs === undefined) return { ...result, status: 'failed', problem };
  return { ...result, status: 'pending', dueAt: new Date(dueMs), problem };
}
