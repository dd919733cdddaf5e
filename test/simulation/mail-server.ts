import type { Mailer, MailOutcome } from '../../src/mail/smtp.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** `failing` refuses for the moment, `stalling` is silent until the attempt is cut, `forgetful` accepts and loses its answer. */
export const MAIL_MOODS = ['failing', 'stalling', 'forgetful'] as const;

/** The mail server, with everything that it has accepted. */
export interface MailServer {
  /** The number of times that each mail was accepted. */
  readonly accepted: Map<string, number>;
  mood: 'well' | (typeof MAIL_MOODS)[number];
}

/** The gateway cuts an attempt after this time. */
const ATTEMPT_MS = 40_000;
const LATE_ANSWER = 0.1;

/** The way from a node to the mail server. */
export function wayToMailServer(input: {
  readonly by: Participant;
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly server: MailServer;
}): Mailer {
  const { by, scheduler, random, server } = input;
  return {
    async send({ id }): Promise<MailOutcome> {
      await scheduler.pass(by, `sends mail ${id}`);
      const { mood } = server;
      if (mood === 'stalling') {
        await scheduler.sleep(by, ATTEMPT_MS);
        return { is: 'failed', problem: 'it took too long' };
      }
      if (mood === 'failing') return { is: 'failed', problem: '451 try again later' };
      server.accepted.set(id, (server.accepted.get(id) ?? 0) + 1);
      if (random.chance(LATE_ANSWER)) await scheduler.pass(by, 'the mail server answers');
      return mood === 'well' ? { is: 'sent' } : { is: 'failed', problem: 'the connection broke' };
    },
  };
}
